// Handles Ctrl-C as a request, so that training can stop between two steps and save its state.
#pragma once

#include <csignal>

namespace terminal {

/// Exit code of a program ended by Ctrl-C, by the shells' convention: 128 + SIGINT.
inline constexpr int kInterrupted = 128 + SIGINT;

/// During its lifetime, the first SIGINT only sets a flag; the second one ends the program as by
/// default. If the parent set SIGINT to be ignored (nohup, a background job), it stays ignored.
/// Only one instance may exist at a time.
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
