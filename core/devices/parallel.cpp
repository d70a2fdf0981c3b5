// The number of threads is kept here and not in OpenMP, whose setting belongs to each thread alone:
// data loaders and concurrent backward passes shall see what the main thread set.
#include <ambit/error.h>
#include <ambit/parallel.h>

#include <fmt/format.h>
#include <omp.h>

#include <atomic>
#include <utility>

namespace ambit {
namespace {

std::atomic<int>& threads() {
  static std::atomic<int> count{omp_get_max_threads()};
  return count;
}

thread_local bool single_thread = false;

}  // namespace

void set_num_threads(int n) {
  if (n < 1) throw Error(fmt::format("set_num_threads: expected at least 1, got {}", n));
  threads().store(n, std::memory_order_relaxed);
}

int get_num_threads() { return single_thread ? 1 : threads().load(std::memory_order_relaxed); }

SingleThreadGuard::SingleThreadGuard() : before_(std::exchange(single_thread, true)) {}

SingleThreadGuard::~SingleThreadGuard() { single_thread = before_; }

}  // namespace ambit
