// The number of threads is process-wide: data loaders and concurrent backward passes use the main
// thread's setting.
#include <ambit/detail/cores.h>
#include <ambit/detail/memory_errors.h>
#include <ambit/error.h>
#include <ambit/parallel.h>

#include <fmt/format.h>

#include <atomic>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace ambit {
namespace {

// Return the first number of OMP_NUM_THREADS; 0 if there is none.
int threads_of_environment() {
  const char* text = std::getenv("OMP_NUM_THREADS");
  if (!text) return 0;
  int threads = 0;
  std::from_chars(text, text + std::strlen(text), threads);
  return threads;
}

// Relaxed, like the settings in settings.cpp: it guards no other data.
std::atomic<int>& threads() {
  static std::atomic<int> count{[] {
    const int asked = threads_of_environment();
    return asked > 0 ? asked
                     : typed_memory_errors("get_num_threads", [] { return available_cores(); });
  }()};
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
