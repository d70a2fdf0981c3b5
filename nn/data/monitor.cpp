#include <ambit/data/monitor.h>

#include <chrono>
#include <condition_variable>

namespace ambit::data {

struct Monitor::State {
  std::mutex mutex;
  std::condition_variable condition;
};

Monitor::Monitor() : state_(std::make_unique<State>()) {}
Monitor::~Monitor() = default;
void Monitor::notify_one() noexcept { state_->condition.notify_one(); }
void Monitor::notify_all() noexcept { state_->condition.notify_all(); }

Monitor::Lock::Lock(Monitor& monitor) : monitor_(monitor) { monitor.state_->mutex.lock(); }
Monitor::Lock::~Lock() {
  if (holds_) monitor_.state_->mutex.unlock();
}

void Monitor::Lock::unlock() {
  monitor_.state_->mutex.unlock();
  holds_ = false;
}

void Monitor::Lock::wait() {
  std::unique_lock lock(monitor_.state_->mutex, std::adopt_lock);
  monitor_.state_->condition.wait(lock);
  lock.release();
}

bool Monitor::Lock::wait_until(Time deadline) {
  std::unique_lock lock(monitor_.state_->mutex, std::adopt_lock);
  const auto status = monitor_.state_->condition.wait_until(lock, deadline);
  lock.release();
  return status == std::cv_status::no_timeout;
}

}  // namespace ambit::data
