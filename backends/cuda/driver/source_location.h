// std::source_location with the two members that error texts need: clang 14 has none.
#pragma once

namespace ambit::cuda {

class SourceLocation {
 public:
  /// As a default argument: the place of the call.
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
