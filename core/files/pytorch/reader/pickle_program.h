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

/// Errors of all functions that read: EndOfPickle at the end of the bytes.
class Program {
 public:
  explicit Program(std::string_view bytes) : rest_(bytes) {}

  /// Return the number of bytes not read yet.
  size_t rest() const { return rest_.size(); }
  unsigned char byte() { return static_cast<unsigned char>(take(1)[0]); }
  /// Read an unsigned number of up to 8 bytes.
  uint64_t little_endian(size_t bytes);
  /// Read an int of `bytes` bytes; one of more than 64 bits is opaque.
  Value long_integer(uint64_t bytes);
  double real();
  /// Read a string; surrogates are allowed. Errors: also SerializationError if it is not UTF-8.
  Value string(uint64_t bytes);
  /// Read a str of Python 2: a string if it is UTF-8, else opaque bytes.
  Value old_string(uint64_t bytes);
  /// Read Python's bytes, an opaque value.
  Value bytes(uint64_t bytes) { return bytes_value(take(bytes)); }
  /// Read up to the next line feed, and skip that.
  std::string line();

 private:
  std::string_view take(uint64_t bytes);
  static Value bytes_value(std::string_view bytes);

  std::string_view rest_;
};

}  // namespace ambit::pickle
