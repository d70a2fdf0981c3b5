// A lock for critical sections of a few instructions: locking is one atomic exchange and unlocking
// a plain store, half the cost of std::mutex. Waiting threads yield.
#pragma once

#include <atomic>
#include <thread>

namespace ambit {

class SpinLock {
 public:
  void lock() noexcept {
    while (taken_.exchange(true, std::memory_order_acquire)) {
      while (taken_.load(std::memory_order_relaxed)) std::this_thread::yield();
    }
  }
  void unlock() noexcept { taken_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> taken_{false};
};

}  // namespace ambit
