// Coloured output on terminals.
#pragma once

#include <fmt/color.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

/// Return the text in red if stdout is a terminal and $NO_COLOR is not set, else unchanged.
inline std::string red(const std::string& text) {
  const char* no_color = std::getenv("NO_COLOR");
  if (isatty(STDOUT_FILENO) == 0 || (no_color && *no_color)) return text;
  return fmt::format(fmt::fg(fmt::terminal_color::red), "{}", text);
}
