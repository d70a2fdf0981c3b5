// Text from files in messages. Private to core.
#pragma once

#include <algorithm>
#include <string>

namespace ambit {

/// Return the text as a message may hold it, whoever wrote it: control characters, which a terminal
/// would obey, become '?', and the end of a long text "...".
inline std::string one_line(std::string text) {
  constexpr size_t kMost = 1000;  // bytes
  if (text.size() > kMost) {
    size_t end = kMost;
    while (end > 0 && (text[end] & 0xc0) == 0x80) --end;  // not within a character of UTF-8
    text.replace(end, text.npos, "...");
  }
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 32 || c == 127; }, '?');
  return text;
}

}  // namespace ambit
