#include "pickle_program.h"

#include <algorithm>
#include <bit>

#include "core/files/utf8.h"
#include "pickle.h"

namespace ambit::pickle {

std::string_view Program::take(uint64_t bytes) {
  if (bytes > rest_.size()) fail("expected a pickle that ends with STOP, got an end before");
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

int64_t Program::long_integer() {
  const size_t bytes = byte();
  if (bytes > 8) fail("expected ints of at most 64 bits, got one of {} bytes", bytes);
  if (bytes == 0) return 0;
  const size_t unused = 64 - 8 * bytes;  // bits, which the sign fills
  return static_cast<int64_t>(little_endian(bytes) << unused) >> unused;
}

double Program::real() {
  uint64_t bits = 0;
  for (const char c : take(8)) bits = bits << 8 | static_cast<unsigned char>(c);
  return std::bit_cast<double>(bits);
}

Value Program::string(uint64_t bytes) {
  const std::string_view text = take(bytes);
  if (!is_utf8(text)) fail("expected text in UTF-8, got another encoding");
  return std::string(text);
}

std::string Program::line() {
  std::string text(take(std::min(rest_.find('\n'), rest_.size())));
  take(1);
  return text;
}

}  // namespace ambit::pickle
