// The work of one simulated device: done in order by a thread of its own, and as late as possible,
// so that whoever forgets to wait sees old data every time, not once in a thousand runs.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>

namespace ambit::sim {

/// Thread-safe. Its thread starts with the first work and never ends: it is leaked with the queue,
/// so that the process ends without waiting for it.
class Queue {
 public:
  static constexpr size_t kLimit = 64;

  /// The place of an entry in the queue.
  using Ticket = uint64_t;

  /// `device` ("sim:0") is for error texts.
  explicit Queue(const char* device) : device_(device) {}

  /// Append work that belongs to `op`, a name that stays. When more than the limit wait, start
  /// them, and wait until no more than that are left. Errors: BackendError in a fork.
  Ticket push(const char* op, std::function<void()> work);
  /// Wait for an entry and all before it. Errors stay for throw_error(). In a fork of the process
  /// there is no thread to wait for: returns at once.
  void wait(Ticket ticket);
  /// Wait for all entries.
  void wait();
  /// Throw the first error of the work done since the last call: an ambit::Error as it was, any
  /// other as BackendError with the op's name. Errors: BackendError in a fork, too.
  void throw_error();
  /// Throw what throw_error() will throw, and keep it.
  void check() const;

  void set_limit(size_t entries);
  /// Return how many entries are not done.
  size_t size() const;

 private:
  struct Entry {
    const char* op;
    std::function<void()> work;
  };

  bool is_forked() const;
  void check_process() const;
  void start(Ticket ticket);  // requires mutex_
  void run();
  std::exception_ptr run(const Entry& entry) const;

  const char* const device_;
  std::atomic<pid_t> process_{0};  // that has the thread; 0: none yet
  mutable std::mutex mutex_;       // guards what follows
  std::condition_variable wanted_more_, done_more_;
  std::deque<Entry> entries_;
  Ticket pushed_ = 0, wanted_ = 0, done_ = 0;  // tickets of the last entry of each state
  size_t limit_ = kLimit;
  std::exception_ptr error_;
};

}  // namespace ambit::sim
