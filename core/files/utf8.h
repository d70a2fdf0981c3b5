// Validation of UTF-8. Private to core.
#pragma once

#include <cstddef>
#include <string_view>

namespace ambit {

/// Return the length in bytes of the UTF-8 character that begins at text[i], 0 if none does. As in
/// Python: no overlong forms, nothing above U+10FFFF, surrogates only with `halves` (Python's
/// "surrogatepass"). Source: RFC 3629, section 4.
inline size_t utf8_length(std::string_view text, size_t i, bool halves = false) {
  const auto in = [&](size_t at, unsigned char least, unsigned char most) {
    const auto byte = at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
    return least <= byte && byte <= most;
  };
  const auto first = static_cast<unsigned char>(text[i]);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return in(i + 1, 0x80, 0xbf) ? 2 : 0;
  if ((first & 0xf0) == 0xe0) {
    const unsigned char least = first == 0xe0 ? 0xa0 : 0x80,
                        most = first == 0xed && !halves ? 0x9f : 0xbf;
    return in(i + 1, least, most) && in(i + 2, 0x80, 0xbf) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const unsigned char least = first == 0xf0 ? 0x90 : 0x80, most = first == 0xf4 ? 0x8f : 0xbf;
    return in(i + 1, least, most) && in(i + 2, 0x80, 0xbf) && in(i + 3, 0x80, 0xbf) ? 4 : 0;
  }
  return 0;
}

/// Return true if the bytes are UTF-8; `halves` permits surrogates.
inline bool is_utf8(std::string_view text, bool halves = false) {
  for (size_t i = 0; i < text.size();) {
    const size_t length = utf8_length(text, i, halves);
    if (length == 0) return false;
    i += length;
  }
  return true;
}

}  // namespace ambit
