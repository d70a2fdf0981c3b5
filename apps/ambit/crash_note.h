// Last words of a process that a kernel is about to end.
#pragma once

#include <string>

/// While it lives, a signal by which a crash ends the process (SIGSEGV and its like) first prints
/// the text on stderr; then it does what it did before. One at a time.
class CrashNote {
 public:
  explicit CrashNote(std::string text);
  ~CrashNote();
  CrashNote(const CrashNote&) = delete;
  CrashNote& operator=(const CrashNote&) = delete;

 private:
  std::string text_;
};
