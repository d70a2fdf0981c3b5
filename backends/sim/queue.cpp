#include "queue.h"

#include <ambit/error.h>
#include <fmt/format.h>
#include <unistd.h>

#include <thread>
#include <utility>

namespace ambit::sim {

Queue::Ticket Queue::push(const char* op, std::function<void()> work) {
  check_process();
  std::unique_lock lock(mutex_);
  if (process_ == 0) {
    std::thread([this] { run(); }).detach();
    process_ = getpid();
  }
  entries_.push_back({op, std::move(work)});
  const Ticket ticket = ++pushed_;
  if (pushed_ - done_ > limit_) {
    start(ticket);
    done_more_.wait(lock, [&] { return done_ >= ticket || ticket - done_ <= limit_; });
  }
  return ticket;
}

bool Queue::is_forked() const {
  const pid_t process = process_;
  return process != 0 && process != getpid();
}

void Queue::check_process() const {
  if (!is_forked()) return;
  throw BackendError(fmt::format(
      "{}: expected the process that used it first, got a forked child, which has no such device",
      device_));
}

void Queue::start(Ticket ticket) {
  if (ticket <= wanted_) return;
  wanted_ = ticket;
  wanted_more_.notify_one();
}

void Queue::wait(Ticket ticket) {
  if (is_forked()) return;
  std::unique_lock lock(mutex_);
  start(ticket);
  done_more_.wait(lock, [&] { return done_ >= ticket; });
}

void Queue::wait() {
  if (is_forked()) return;
  std::unique_lock lock(mutex_);
  const Ticket last = pushed_;
  start(last);
  done_more_.wait(lock, [&] { return done_ >= last; });
}

void Queue::throw_error() {
  check_process();
  std::unique_lock lock(mutex_);
  const std::exception_ptr error = std::exchange(error_, nullptr);
  lock.unlock();
  if (error) std::rethrow_exception(error);
}

void Queue::check() const {
  std::unique_lock lock(mutex_);
  const std::exception_ptr error = error_;
  lock.unlock();
  if (error) std::rethrow_exception(error);
}

void Queue::set_limit(size_t entries) {
  const std::lock_guard lock(mutex_);
  limit_ = entries;
}

size_t Queue::size() const {
  const std::lock_guard lock(mutex_);
  return pushed_ - done_;
}

void Queue::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    wanted_more_.wait(lock, [&] { return done_ < wanted_; });
    Entry entry = std::move(entries_.front());
    entries_.pop_front();
    lock.unlock();
    std::exception_ptr error = run(entry);
    entry.work = nullptr;  // release its captures before reporting it as done
    lock.lock();
    if (!error_) error_ = std::move(error);
    ++done_;
    done_more_.notify_all();
  }
}

std::exception_ptr Queue::run(const Entry& entry) const {
  std::string reason;
  std::exception_ptr error;
  try {
    entry.work();
    return nullptr;
  } catch (const Error&) {
    error = std::current_exception();
  } catch (const std::exception& e) {
    reason = e.what();
  } catch (...) {
    reason = "an exception of an unknown type";
  }
  // Created in the return statement, so that this thread holds no other reference to it.
  return error ? error
               : std::make_exception_ptr(BackendError(fmt::format(
                     "{}: expected it to succeed on {}, got: {}", entry.op, device_, reason)));
}

}  // namespace ambit::sim
