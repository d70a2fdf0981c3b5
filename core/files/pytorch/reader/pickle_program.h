// The bytes of a pickle, read from front to back. Private to core.
#pragma once

#include <ambit/error.h>
#include <ambit/value.h>

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "core/files/fail.h"

namespace ambit::pickle {

template <class... T>
[[noreturn]] void fail(fmt::format_string<T...> text, T&&... args) {
  fail_about_file(fmt::format(text, std::forward<T>(args)...));
}

/// Errors of all that read: EndOfPickle at the end of the bytes.
class Program {
 public:
  explicit Program(std::string_view bytes) : rest_(bytes) {}

  /// How many bytes have not been read yet.
  size_t rest() const { return rest_.size(); }
  unsigned char byte() { return static_cast<unsigned char>(take(1)[0]); }
  /// An unsigned number of up to 8 bytes.
  uint64_t little_endian(size_t bytes);
  /// An int of so many bytes; one beyond 64 bits is opaque.
  Value long_integer(uint64_t bytes);
  double real();
  /// Halves of UTF-16's pairs may be in it. Errors: for text that is not UTF-8 too.
  Value string(uint64_t bytes);
  /// Python 2's str: text where it is UTF-8, else bytes.
  Value old_string(uint64_t bytes);
  /// Python's bytes, which are opaque.
  Value bytes(uint64_t bytes) { return bytes_value(take(bytes)); }
  /// What is before the next line feed, which is skipped.
  std::string line();

 private:
  std::string_view take(uint64_t bytes);
  static Value bytes_value(std::string_view bytes);

  std::string_view rest_;
};

}  // namespace ambit::pickle
