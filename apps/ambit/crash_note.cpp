// The handler uses only async-signal-safe calls: no allocation, no stdio, no locks.
#include "crash_note.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <utility>

namespace {

constexpr std::array kSignals{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

std::array<struct sigaction, kSignals.size()> before{};
const std::string* note = nullptr;

void restore() {
  for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &before[i], nullptr);
}

void print_note(int signal, siginfo_t* info, void*) {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, note->data(), note->size());
  restore();
  // A signal from the operating system's kernel recurs, with its address, when the handler returns;
  // a signal sent by a call does not recur.
  if (info->si_code <= 0) ::raise(signal);
}

}  // namespace

CrashNote::CrashNote(std::string text) : text_(std::move(text)) {
  note = &text_;
  struct sigaction action {};
  action.sa_sigaction = print_note;
  action.sa_flags = SA_SIGINFO;
  for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &action, &before[i]);
}

CrashNote::~CrashNote() {
  restore();
  note = nullptr;
}
