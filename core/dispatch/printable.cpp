#include <ambit/detail/printable.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "core/files/utf8.h"

namespace ambit {
namespace {

bool is_control(unsigned char c) { return c < 0x20 || c == 0x7f; }
// U+0080 to U+009F, which terminals interpret like ESC sequences.
bool is_control_of_two_bytes(std::string_view text, size_t i) {
  return text[i] == '\xc2' && static_cast<unsigned char>(text[i + 1]) < 0xa0;
}
bool breaks_lines(char c) { return c == '\n' || c == '\t'; }

void append_escaped(std::string& to, unsigned char c) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  if (c == '\n' || c == '\t' || c == '\r') {
    to += {'\\', c == '\n' ? 'n' : c == '\t' ? 't' : 'r'};
  } else {
    to += {'\\', 'x', kDigits[c >> 4], kDigits[c & 15]};
  }
}

std::string escape(std::string_view text, bool keeps_lines) {
  std::string out;
  out.reserve(text.size() + 16);
  for (size_t i = 0; i < text.size();) {
    const size_t length = utf8_length(text, i);
    if (length == 0 || (is_control(static_cast<unsigned char>(text[i])) &&
                        !(keeps_lines && breaks_lines(text[i])))) {
      append_escaped(out, static_cast<unsigned char>(text[i]));
    } else if (length == 2 && is_control_of_two_bytes(text, i)) {
      std::string escaped;
      append_escaped(escaped, static_cast<unsigned char>(text[i + 1]));
      out += "\\u00" + escaped.substr(2);
    } else {
      out += text.substr(i, length);
    }
    i += std::max<size_t>(length, 1);
  }
  return out;
}

}  // namespace

std::string printable(std::string_view text) { return escape(text, false); }

// Most texts are plain and need no allocation; the message may be about lack of memory.
std::string printable_lines(std::string text) {
  const bool is_plain = std::all_of(
      text.begin(), text.end(), [](char c) { return (c >= ' ' && c < '\x7f') || breaks_lines(c); });
  return is_plain ? std::move(text) : escape(text, true);
}

std::string one_line(std::string_view text) {
  constexpr size_t kMost = 1000;  // bytes
  std::string line = printable(text.substr(0, kMost + 4));
  if (line.size() <= kMost) return line;
  size_t end = kMost;
  while (end > 0 && (line[end] & 0xc0) == 0x80) --end;  // not within a UTF-8 character
  return line.replace(end, line.npos, "...");
}

}  // namespace ambit
