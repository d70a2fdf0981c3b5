// Processes large parts of files on several threads: one thread copies from the page cache more
// slowly than memory allows. Private to core.
#pragma once

#include <ambit/parallel.h>

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

namespace ambit {

/// Move a new thread off the calling thread's core, without limiting where it runs later.
/// Schedulers sometimes start a thread on that core, and keep both threads on it for milliseconds
/// although other cores are idle: 2.1 ms on an idle virtual machine, where a moved thread ran after
/// 0.15 ms.
inline void move_off_core(std::thread& thread) {
  const int core = sched_getcpu();
  cpu_set_t all, others;
  if (core < 0 || pthread_getaffinity_np(thread.native_handle(), sizeof all, &all) != 0) return;
  others = all;
  CPU_CLR(static_cast<size_t>(core), &others);
  if (CPU_COUNT(&others) == 0) return;
  if (pthread_setaffinity_np(thread.native_handle(), sizeof others, &others) != 0) return;
  pthread_setaffinity_np(thread.native_handle(), sizeof all, &all);
}

/// Call part(i, begin, end) concurrently for `count` consecutive parts that cover [0, bytes), and
/// wait for all. Errors: rethrows the first error in the order of the parts.
template <class Part>
void in_parts(size_t count, uint64_t bytes, const Part& part) {
  if (count == 1) return part(size_t{0}, uint64_t{0}, bytes);
  std::vector<std::exception_ptr> errors(count);
  std::atomic<size_t> next{0};  // relaxed suffices: join() orders the results
  const auto run = [&] {
    for (size_t i = next++; i < count; i = next++) {
      try {
        part(i, bytes / count * i, i + 1 == count ? bytes : bytes / count * (i + 1));
      } catch (...) {
        errors[i] = std::current_exception();
      }
    }
  };
  constexpr size_t kMostThreads = 8;  // enough to copy as fast as memory allows
  const size_t wanted = std::min({static_cast<size_t>(get_num_threads()), count, kMostThreads});
  std::vector<std::thread> threads;
  threads.reserve(wanted);
  try {
    while (threads.size() + 1 < wanted) move_off_core(threads.emplace_back(run));
  } catch (const std::system_error&) {  // no more threads: the running ones process all parts
  }
  run();
  for (std::thread& t : threads) t.join();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

/// Return the number of parts for which threads pay off, with several for each thread: a thread
/// that starts late runs fewer.
inline size_t parts_of(uint64_t bytes) {
  constexpr uint64_t kLeastBytes = uint64_t{1} << 20;  // copied while ten threads start
  constexpr uint64_t kMostParts = 32;
  if (get_num_threads() == 1) return 1;
  return static_cast<size_t>(std::clamp<uint64_t>(bytes / kLeastBytes, 1, kMostParts));
}

}  // namespace ambit
