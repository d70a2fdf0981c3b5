#include "library_use.h"

#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <thread>

namespace ambit::cpu {
namespace {

/// A counter of uses, shared by a few threads. The total is the sum of all counters. A load of 0
/// acquires the release of the last end(), so the library's objects are destroyed after its use.
struct alignas(64) Count {
  std::atomic<int> uses{0};
};
constinit std::array<Count, 64> counts;
constinit std::atomic<bool> has_exit_begun{false};

struct OfThread {
  Count* count = nullptr;
  int uses = 0;
};
[[gnu::tls_model("initial-exec")]] constinit thread_local OfThread mine;

int uses_of_others() {
  int uses = -mine.uses;  // exclude own uses: a signal handler may call exit() within a use
  for (const Count& count : counts) uses += count.uses.load();
  return uses;
}

void at_exit() {
  constexpr auto kLimit = std::chrono::seconds(10);
  if (has_exit_begun.exchange(true)) return;
  const auto begin = std::chrono::steady_clock::now();
  while (uses_of_others() > 0 && std::chrono::steady_clock::now() - begin < kLimit) {
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

// Reset the counters: the child process has only the thread that forked.
void at_fork() {
  for (Count& count : counts) count.uses.store(0);
  if (mine.count) mine.count->uses.store(mine.uses);
}
[[maybe_unused]] const int fork_handler = pthread_atfork(nullptr, nullptr, at_fork);

}  // namespace

// atexit() handlers cannot be removed, so do not register one for every primitive. Late primitives
// rarely create objects of a new kind.
void LibraryUse::precede_at_exit() {
  constexpr unsigned kFirst = 256;
  static constinit std::atomic<unsigned> calls{0};  // relaxed: the numbers need only be distinct
  const unsigned n = calls.fetch_add(1, std::memory_order_relaxed);
  if (n < kFirst || std::has_single_bit(n)) std::atexit(at_exit);
}

void LibraryUse::begin() {
  if (!mine.count) {
    static constinit std::atomic<unsigned> threads{0};
    mine.count = &counts[threads.fetch_add(1, std::memory_order_relaxed) % counts.size()];
    precede_at_exit();
  }
  // Both operations are sequentially consistent, as in at_exit(): at least one side sees the other.
  mine.count->uses.fetch_add(1);
  ++mine.uses;
  is_allowed_ = !has_exit_begun.load() || mine.uses > 1;
  if (!is_allowed_) end();
}

void LibraryUse::end() {
  --mine.uses;
  mine.count->uses.fetch_sub(1);
}

}  // namespace ambit::cpu
