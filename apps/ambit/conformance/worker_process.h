// A worker as its parent sees it: lines of results, the last words on stderr, and its end.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>

#include "options.h"

namespace conformance {

/// This program once more, as a worker. Whatever is left of it dies with the object.
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
  /// Wait for its end until the deadline, then kill it. Return how it ended: "ended by SIGSEGV",
  /// "exited with code 3", "did not end"; empty for code 0.
  std::string wait(Deadline deadline);
  /// Return the last line that it wrote to stderr or stdout, empty if there was none.
  std::string last_words() const;

 private:
  bool read_some(Deadline deadline);

  pid_t pid_ = -1;
  int results_ = -1, errors_ = -1;  // read ends; -1 once closed
  std::string unread_, words_;
};

}  // namespace conformance
