// Errors of the readers and writers of programs. Private to nn/graph.
#pragma once

#include <ambit/api.h>
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace ambit::graph {

/// Throw SerializationError.
[[noreturn]] AMBIT_API void fail_formatted(fmt::string_view text, fmt::format_args args);
template <class... T>
[[noreturn]] void fail(fmt::format_string<T...> text, T&&... args) {
  fail_formatted(text, fmt::make_format_args(args...));
}

/// Collects what ambit lacks to read a file, or what a format lacks to represent a program; one
/// error lists all of it.
class AMBIT_API Lacking {
 public:
  /// For graph::load(). A hostile file may have millions of items, so only the first are kept.
  Lacking();
  /// `expected` begins the error.
  explicit Lacking(const char* expected) : expected_(expected) {}

  void add(std::string what);
  void add_dtype(const char* name, std::string_view of);
  size_t count() const { return items_.size(); }
  /// Errors: NotImplementedError if anything was added.
  void check(const std::string& path) const;

 private:
  const char* expected_;
  size_t most_kept_ = SIZE_MAX;
  std::set<std::string> items_;
};

}  // namespace ambit::graph
