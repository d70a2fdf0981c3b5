// Sanitising of foreign text (names, paths, messages of drivers and files) for messages and
// terminals.
#pragma once

#include <ambit/api.h>

#include <string>
#include <string_view>

namespace ambit {

/// Return the text on one line and safe for terminals: control characters and invalid UTF-8 become
/// escapes such as `\n`, `\x1b` and `\u009b`. Printable text is unchanged.
AMBIT_API std::string printable(std::string_view text);
/// As above, for text of several lines: line breaks and tabs are kept.
AMBIT_API std::string printable_lines(std::string text);
/// As printable(), truncated with "..." after 1000 bytes.
AMBIT_API std::string one_line(std::string_view text);

}  // namespace ambit
