// Errors of the readers of programs. Private to nn/graph.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace ambit::graph {

/// Throw SerializationError.
[[noreturn]] void fail_formatted(fmt::string_view text, fmt::format_args args);
template <class... T>
[[noreturn]] void fail(fmt::format_string<T...> text, T&&... args) {
  fail_formatted(text, fmt::make_format_args(args...));
}

/// Everything that a file needs and ambit lacks; an error lists it all at once.
class Lacking {
 public:
  void add(std::string what);
  void add_dtype(const char* name, std::string_view of);
  /// Errors: NotImplementedError if anything was added.
  void check(const std::string& path) const;

 private:
  std::set<std::string> items_;
};

}  // namespace ambit::graph
