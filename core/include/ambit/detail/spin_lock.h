// A lock for what takes a few instructions: to take it is one atomic exchange and to give it back a
// plain store, half of what std::mutex costs. Who finds it taken lends its core to others.
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
