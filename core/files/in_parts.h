// Processes large parts of files on several threads: one thread copies from the page cache more
// slowly than memory allows. Private to core.
#pragma once

#include <ambit/parallel.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

namespace ambit {

/// Call part(i, begin, end) concurrently for `count` consecutive pieces that cover [0, bytes), and
/// wait for all. Errors: rethrows the first error in the order of the pieces.
template <class Part>
void in_parts(size_t count, uint64_t bytes, const Part& part) {
  if (count == 1) return part(size_t{0}, uint64_t{0}, bytes);
  std::vector<std::exception_ptr> errors(count);
  const auto run = [&](size_t i) {
    try {
      part(i, bytes / count * i, i + 1 == count ? bytes : bytes / count * (i + 1));
    } catch (...) {
      errors[i] = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(count);
  size_t next = 1;  // piece 0 runs on this thread
  try {
    for (; next < count; ++next) threads.emplace_back(run, next);
  } catch (const std::system_error&) {  // no more threads: this one runs the rest
  }
  run(0);
  for (; next < count; ++next) run(next);
  for (std::thread& t : threads) t.join();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

/// Return the number of parts for which threads pay off.
inline size_t parts_of(uint64_t bytes) {
  constexpr uint64_t kLeastBytes = uint64_t{1} << 20;  // copied while ten threads start
  const auto threads = static_cast<uint64_t>(get_num_threads());
  return static_cast<size_t>(
      std::clamp<uint64_t>(bytes / kLeastBytes, 1, std::min<uint64_t>(threads, 8)));
}

}  // namespace ambit
