// A message printed if a kernel crashes the process.
#pragma once

#include <string>

/// During its lifetime, a signal of a crash (SIGSEGV etc.) first prints the text on stderr, then
/// has its previous effect. Only one instance at a time.
class CrashNote {
 public:
  explicit CrashNote(std::string text);
  ~CrashNote();
  CrashNote(const CrashNote&) = delete;
  CrashNote& operator=(const CrashNote&) = delete;

 private:
  std::string text_;
};
