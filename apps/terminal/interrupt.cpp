#include "terminal/interrupt.h"

#include <atomic>

namespace terminal {
namespace {

// Atomic, since any thread may receive the signal; relaxed, because it guards no other data.
std::atomic<bool> request_seen{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a lock is not safe in a signal handler");

extern "C" void take_request(int) { request_seen.store(true, std::memory_order_relaxed); }

}  // namespace

Interrupt::Interrupt() {
  request_seen.store(false, std::memory_order_relaxed);
  struct sigaction action {};
  action.sa_handler = take_request;
  // The handler runs once; after that SIGINT has its default effect. Reads are restarted.
  action.sa_flags = SA_RESETHAND | SA_RESTART;
  ::sigaction(SIGINT, nullptr, &before_);
  if (before_.sa_handler != SIG_IGN) ::sigaction(SIGINT, &action, nullptr);
}

Interrupt::~Interrupt() { ::sigaction(SIGINT, &before_, nullptr); }

bool Interrupt::requested() const { return request_seen.load(std::memory_order_relaxed); }

}  // namespace terminal
