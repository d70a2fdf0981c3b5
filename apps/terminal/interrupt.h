// Ctrl-C as a request, so that a training can end between two steps and save what it has.
#pragma once

#include <csignal>

namespace terminal {

/// The exit code of a program that Ctrl-C ended, by the shells' rule: 128 + SIGINT.
inline constexpr int kInterrupted = 128 + SIGINT;

/// While it lives, the first SIGINT only asks; the second ends the program as if there were none.
/// Where the parent made the program ignore SIGINT (nohup, a background job), it stays ignored.
/// One at a time.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  bool requested() const;

 private:
  struct sigaction before_ {};
};

}  // namespace terminal
