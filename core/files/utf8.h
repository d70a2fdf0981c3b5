// Which bytes are text. Private to core.
#pragma once

#include <string_view>

namespace ambit {

/// Return whether bytes are UTF-8 as Python decodes it: each character in its shortest form, no
/// halves of UTF-16's pairs, none beyond U+10FFFF. Source: RFC 3629, section 4.
inline bool is_utf8(std::string_view text) {
  const auto in = [&](size_t i, unsigned char least, unsigned char most) {
    const auto byte = i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
    return least <= byte && byte <= most;
  };
  for (size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    if (first < 0x80) {
      i += 1;
    } else if (first >= 0xc2 && first <= 0xdf) {
      if (!in(i + 1, 0x80, 0xbf)) return false;
      i += 2;
    } else if ((first & 0xf0) == 0xe0) {
      const unsigned char least = first == 0xe0 ? 0xa0 : 0x80, most = first == 0xed ? 0x9f : 0xbf;
      if (!in(i + 1, least, most) || !in(i + 2, 0x80, 0xbf)) return false;
      i += 3;
    } else if (first >= 0xf0 && first <= 0xf4) {
      const unsigned char least = first == 0xf0 ? 0x90 : 0x80, most = first == 0xf4 ? 0x8f : 0xbf;
      if (!in(i + 1, least, most) || !in(i + 2, 0x80, 0xbf) || !in(i + 3, 0x80, 0xbf)) return false;
      i += 4;
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace ambit
