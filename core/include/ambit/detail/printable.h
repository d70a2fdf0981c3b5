// Text that others wrote (names, paths, messages of drivers and files) in messages and on
// terminals.
#pragma once

#include <ambit/api.h>

#include <string>
#include <string_view>

namespace ambit {

/// Return the text on one line and without effect on a terminal: control characters and bytes that
/// are not UTF-8 become escapes such as "\n", "\x1b" and "\u009b". Printable text stays as it is.
AMBIT_API std::string printable(std::string_view text);
/// The same for text of several lines: line breaks and tabs stay.
AMBIT_API std::string printable_lines(std::string text);
/// The same as printable() for text that may be long: the end becomes "..." after 1000 bytes.
AMBIT_API std::string one_line(std::string_view text);

}  // namespace ambit
