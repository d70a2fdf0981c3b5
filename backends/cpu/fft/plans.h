// A cache of PocketFFT's plans, and the loop over lines. The folder pocketfft contains the header
// of NumPy 2.1.3, unchanged and therefore not split into files.
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
#include <bit>
#include <cstdint>

#include "backends/cpu/runtime/parallel.h"

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

/// Return the work of a complex line of n elements, for grain_for(): a butterfly has about ten
/// operations on two elements, in each of log2(n) passes.
inline int64_t work_of_line(int64_t n) {
  return n * (2 + 5 * std::bit_width(static_cast<uint64_t>(n)));
}

/// Transform `count` lines by lines.transform_lanes(first), and the last ones, too few for a
/// vector, by lines.transform_one(line). The result does not depend on the number of threads, since
/// the groups do not.
template <class T, class Lines>
void transform_lines(const Lines& lines, int64_t count, int64_t work_of_line) {
  constexpr int64_t kLanes = kLinesAtOnce<T>;
  const int64_t grain = grain_for(kLanes * work_of_line);
  parallel_for(ceil_div(count, kLanes), grain, [&](int64_t begin, int64_t end) {
    for (int64_t group = begin; group < end; ++group) {
      const int64_t line = group * kLanes, past = std::min(line + kLanes, count);
      if (past - line == kLanes) {
        lines.transform_lanes(line);
      } else {
        for (int64_t i = line; i < past; ++i) lines.transform_one(i);
      }
    }
  });
}

}  // namespace ambit::cpu
