// A worker process, from the parent's view: lines of results, the last line of stderr, and its
// exit.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>

#include "options.h"

namespace conformance {

/// Runs this program as a worker. The destructor kills it.
class WorkerProcess {
 public:
  /// Errors: std::system_error.
  explicit WorkerProcess(const Options& options);
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  using Deadline = std::chrono::steady_clock::time_point;
  enum class Event { line, end, timeout };
  /// Wait for the next line of results.
  Event read_line(std::string& line, Deadline deadline);

  void kill();
  /// Wait until the deadline for it to exit, then kill it. Return how it ended: "ended by SIGSEGV",
  /// "exited with code 3", "did not end"; empty for code 0.
  std::string wait(Deadline deadline);
  /// Return the last line of its stderr and stdout, empty if there was none.
  std::string last_words() const;

 private:
  bool read_some(Deadline deadline);

  pid_t pid_ = -1;
  int results_ = -1, errors_ = -1;  // read ends; -1 once closed
  std::string unread_, words_;
};

}  // namespace conformance
