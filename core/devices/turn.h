// One thread at a time, but not for ever. Private to core.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace ambit {

/// A recursive lock whose waiting ends: the thread that has it may itself wait for the one that
/// wants it. (std::recursive_timed_mutex would do, but ThreadSanitizer does not know it.)
class TurnLock {
 public:
  /// Wait for the turn at most so long. Return whether it came.
  bool acquire(double timeout_s) {
    std::unique_lock lock(mutex_);
    const auto mine = [&] { return depth_ == 0 || owner_ == std::this_thread::get_id(); };
    if (!free_.wait_for(lock, std::chrono::duration<double>(timeout_s), mine)) return false;
    owner_ = std::this_thread::get_id();
    ++depth_;
    return true;
  }
  void release() {
    const std::lock_guard lock(mutex_);
    if (--depth_ == 0) free_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable free_;
  std::thread::id owner_;
  int depth_ = 0;  // how often the owner has acquired it
};

}  // namespace ambit
