// A cache of PocketFFT's plans. The folder pocketfft contains the header of NumPy 2.1.3, unchanged
// and therefore not split into files.
#pragma once

#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#define POCKETFFT_NO_MULTITHREADING
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wshadow"
#include "pocketfft/pocketfft_hdronly.h"
#pragma GCC diagnostic pop

#include <algorithm>

namespace ambit::cpu {

/// Return the plan for lines of n elements; the cache keeps the 16 plans used last. Plan:
/// pocketfft_c<T> for complex lines, pocketfft_r<T> for real ones.
template <class Plan>
std::shared_ptr<const Plan> plan_of(size_t n) {
  constexpr size_t kMost = 16;
  using Plans = std::vector<std::shared_ptr<const Plan>>;
  static auto* const mutex = new std::mutex;  // leaked: used until exit
  static auto* const plans = new Plans;       // guarded by mutex; the last used one first
  const auto find = [&] {
    const auto found =
        std::find_if(plans->begin(), plans->end(), [=](const auto& p) { return p->length() == n; });
    if (found == plans->end()) return false;
    std::rotate(plans->begin(), found, found + 1);
    return true;
  };
  {
    const std::lock_guard lock(*mutex);
    if (find()) return plans->front();
  }
  auto made = std::make_shared<const Plan>(n);
  const std::lock_guard lock(*mutex);
  if (find()) return plans->front();
  if (plans->size() == kMost) plans->pop_back();
  plans->insert(plans->begin(), made);
  return made;
}

/// Lines that a vector transforms at once.
template <class T>
inline constexpr int64_t kLinesAtOnce =
#ifndef POCKETFFT_NO_VECTORS
    pocketfft::detail::VLEN<T>::val;
#else
    1;
#endif

}  // namespace ambit::cpu
