#include "pickle_program.h"

#include <algorithm>
#include <bit>

#include "core/files/pytorch/pickle.h"
#include "core/files/utf8.h"

namespace ambit::pickle {

std::string_view Program::take(uint64_t bytes) {
  if (bytes > rest_.size()) throw EndOfPickle();
  const std::string_view taken = rest_.substr(0, bytes);
  rest_.remove_prefix(bytes);
  return taken;
}

uint64_t Program::little_endian(size_t bytes) {
  uint64_t n = 0;
  size_t shift = 0;
  for (const char c : take(bytes)) {
    n |= uint64_t{static_cast<unsigned char>(c)} << shift;
    shift += 8;
  }
  return n;
}

Value Program::long_integer(uint64_t bytes) {
  if (bytes > 8) {
    return Value::opaque({"int", std::string(kBigInt), {std::string(take(bytes))}});
  }
  if (bytes == 0) return 0;
  const size_t unused = 64 - 8 * bytes;  // bits, filled with the sign
  return static_cast<int64_t>(little_endian(bytes) << unused) >> unused;
}

double Program::real() {
  uint64_t bits = 0;
  for (const char c : take(8)) bits = bits << 8 | static_cast<unsigned char>(c);
  return std::bit_cast<double>(bits);
}

Value Program::string(uint64_t bytes) {
  const std::string_view text = take(bytes);
  if (!is_utf8(text, /*halves=*/true)) fail("expected text in UTF-8, got another encoding");
  return std::string(text);
}

Value Program::old_string(uint64_t bytes) {
  const std::string_view text = take(bytes);
  return is_utf8(text) ? Value(std::string(text)) : bytes_value(text);
}

Value Program::bytes_value(std::string_view bytes) {
  std::string latin1;  // as UTF-8
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80) latin1 += static_cast<char>(0xc0 | byte >> 6);
    latin1 += static_cast<char>(byte >= 0x80 ? 0x80 | (byte & 0x3f) : byte);
  }
  return Value::opaque({"bytes", std::string(kEncode), {std::move(latin1), "latin1"}});
}

std::string Program::line() {
  std::string text(take(std::min(rest_.find('\n'), rest_.size())));
  take(1);
  return text;
}

}  // namespace ambit::pickle
