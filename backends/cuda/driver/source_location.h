// A subset of std::source_location for error messages: clang 14 lacks it.
#pragma once

namespace ambit::cuda {

class SourceLocation {
 public:
  /// Return the location of the call, if used as a default argument.
  static constexpr SourceLocation current(const char* file = __builtin_FILE(),
                                          int line = __builtin_LINE()) {
    return {file, line};
  }
  constexpr const char* file_name() const { return file_; }
  constexpr int line() const { return line_; }

 private:
  constexpr SourceLocation(const char* file, int line) : file_(file), line_(line) {}

  const char* file_;
  int line_;
};

}  // namespace ambit::cuda
