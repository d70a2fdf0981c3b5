// A Python process that runs one variant of a workload; see pytorch.py.
#pragma once

#include <sys/types.h>

#include <string>

#include "../peer.h"

namespace bench::pytorch {

/// Return the interpreter: $AMBIT_PYTHON, else python3.
std::string interpreter();

class Python {
 public:
  /// Start the process. Errors of all functions: std::runtime_error with Python's message.
  explicit Python(int threads);
  ~Python();
  Python(const Python&) = delete;
  Python& operator=(const Python&) = delete;

  /// Create the work.
  void make(const Specification& specification, const std::string& way);
  /// Send a command and return the number in its answer.
  double ask(const std::string& command);

 private:
  void send(const void* data, size_t bytes);
  std::string read_line();
  /// `answer`: an unexpected answer.
  [[noreturn]] void fail(const std::string& answer = {}) const;

  int socket_ = -1, errors_ = -1;
  pid_t pid_ = -1;
  std::string unread_;
};

}  // namespace bench::pytorch
