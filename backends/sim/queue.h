// The work of a simulated device: run in order by its own thread, as late as possible, so that a
// missing wait gives stale data every time, not once in a thousand runs.
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

/// Thread-safe. The thread starts with the first work and never ends: it is leaked with the queue,
/// so that process exit does not wait for it.
class Queue {
 public:
  static constexpr size_t kLimit = 64;

  /// The position of an entry in the queue.
  using Ticket = uint64_t;

  /// `device` ("sim:0") is used in error messages.
  explicit Queue(const char* device) : device_(device) {}

  /// Append work of `op`, a name with static lifetime. If more entries than the limit wait, start
  /// work, and wait until the limit is kept. Errors: BackendError in a forked process.
  Ticket push(const char* op, std::function<void()> work);
  /// Wait for an entry and all before it. Errors are kept for throw_error(). Returns at once in a
  /// forked process, which has no thread.
  void wait(Ticket ticket);
  /// Wait for all entries.
  void wait();
  /// Throw the first error of the work done since the last call: an ambit::Error unchanged, any
  /// other as BackendError with the op's name. Errors: BackendError also in a forked process.
  void throw_error();
  /// As throw_error(), but keep the error.
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
  std::atomic<pid_t> process_{0};  // the process that has the thread; 0: none yet
  mutable std::mutex mutex_;       // guards the members below
  std::condition_variable wanted_more_, done_more_;
  std::deque<Entry> entries_;
  Ticket pushed_ = 0, wanted_ = 0, done_ = 0;  // last entry pushed, requested, done
  size_t limit_ = kLimit;
  std::exception_ptr error_;
};

}  // namespace ambit::sim
