// Processes one byte at a time with a table: about 400 MB/s, more than event files need. Debian and
// Ubuntu have no common package that provides a C++ implementation.
#include "crc32c.h"

#include <array>

namespace ambit::tensorboard {
namespace {

constexpr uint32_t kPolynomial = 0x82f63b78;  // bits reversed: the lowest comes first

constexpr std::array<uint32_t, 256> make_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? kPolynomial : 0);
    table[byte] = crc;
  }
  return table;
}

constexpr std::array<uint32_t, 256> kTable = make_table();

}  // namespace

uint32_t crc32c(std::string_view bytes) {
  uint32_t crc = ~uint32_t{0};
  for (const char c : bytes) crc = (crc >> 8) ^ kTable[(crc ^ static_cast<uint8_t>(c)) & 0xff];
  return ~crc;
}

}  // namespace ambit::tensorboard
