// Monitor: a mutex with a condition variable. It is defined out of line because including
// <condition_variable> would add a thirtieth to every program's compile time.
#pragma once

#include <ambit/api.h>

#include <memory>
#include <mutex>  // for clocks; see data_loader_options.h

namespace ambit::data {

/// A mutex with one condition variable. Idea: Hoare 1974.
class AMBIT_API Monitor {
 public:
  /// A time point of the monotonic clock.
  using Time = std::chrono::steady_clock::time_point;

  Monitor();
  ~Monitor();
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;

  /// Holds the lock for a scope, or until unlock().
  class AMBIT_API Lock {
   public:
    /// Wait for the lock.
    explicit Lock(Monitor& monitor);
    ~Lock();
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

    /// Release the lock before the end of the scope.
    void unlock();
    /// Release the lock until `is_true()`, which is evaluated after every notification.
    template <class Condition>
    void wait(const Condition& is_true) {
      while (!is_true()) wait();
    }
    /// As wait(), but until `deadline` at the latest; return the value of `is_true()`.
    template <class Condition>
    bool wait_until(Time deadline, const Condition& is_true) {
      while (!is_true()) {
        if (!wait_until(deadline)) return is_true();
      }
      return true;
    }

   private:
    void wait();
    bool wait_until(Time deadline);

    Monitor& monitor_;
    bool holds_ = true;
  };

  /// Wake one thread that waits.
  void notify_one() noexcept;
  /// Wake all threads that wait.
  void notify_all() noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ambit::data
