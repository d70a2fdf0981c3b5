// A lock with a timeout. Private to core.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace ambit {

/// A recursive lock with a timeout: the owner may itself wait for the thread that wants the lock.
/// (Not std::recursive_timed_mutex, which ThreadSanitizer does not support.)
class TimedRecursiveLock {
 public:
  /// Lock, waiting at most timeout_s seconds. Return true if locked.
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
  int depth_ = 0;  // how often the owner has locked it
};

}  // namespace ambit
