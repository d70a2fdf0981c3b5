// Monitor: a lock, and what threads wait for under it. The condition is out of line, since
// <condition_variable> costs every program a thirtieth of the time in which it compiles.
#pragma once

#include <ambit/api.h>

#include <memory>
#include <mutex>  // clocks: see data_loader_options.h

namespace ambit::data {

/// A mutex with one condition. Idea: Hoare 1974.
class AMBIT_API Monitor {
 public:
  /// A point in time, of the clock that no one sets.
  using Time = std::chrono::steady_clock::time_point;

  Monitor();
  ~Monitor();
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;

  /// Hold the lock for a scope, or until unlock().
  class AMBIT_API Lock {
   public:
    explicit Lock(Monitor& monitor);
    ~Lock();
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

    void unlock();
    /// Give the lock to others until `is_true()`, which is asked whenever somebody notifies.
    template <class Condition>
    void wait(const Condition& is_true) {
      while (!is_true()) wait();
    }
    /// The same, but return whether it is, at `deadline` at the latest.
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

  void notify_one() noexcept;
  void notify_all() noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ambit::data
