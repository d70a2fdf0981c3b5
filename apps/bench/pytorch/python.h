// A Python process that runs one work in one way; see pytorch.py.
#pragma once

#include <sys/types.h>

#include <string>

#include "../peer.h"

namespace bench::pytorch {

/// Return the interpreter: $AMBIT_PYTHON, else python3.
std::string interpreter();

class Python {
 public:
  /// Start the process. Errors of all: std::runtime_error with what Python has said.
  explicit Python(int threads);
  ~Python();
  Python(const Python&) = delete;
  Python& operator=(const Python&) = delete;

  /// Make the work.
  void make(const Specification& specification, const std::string& way);
  /// Send a command and return the number that answers it.
  double ask(const std::string& command);

 private:
  void send(const void* data, size_t bytes);
  std::string read_line();
  /// `answer`: what came instead of what was asked for.
  [[noreturn]] void fail(const std::string& answer = {}) const;

  int socket_ = -1, errors_ = -1;
  pid_t pid_ = -1;
  std::string unread_;
};

}  // namespace bench::pytorch
