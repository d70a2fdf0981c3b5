// Formatting of options in a module's line, as Python prints them.
#pragma once

#include <ambit/params.h>

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>

namespace ambit::nn {

/// "(5, 3)"
inline std::string tuple(const Pair& p) { return fmt::format("({}, {})", p[0], p[1]); }
/// "(5, 3)", "(5,)"
inline std::string tuple(IntArrayRef n) {
  return n.size() == 1 ? fmt::format("({},)", n[0]) : fmt::format("({})", fmt::join(n, ", "));
}
/// Return "5" if both are equal, else "(5, 3)".
inline std::string int_or_tuple(const Pair& p) {
  return p[0] == p[1] ? std::to_string(p[0]) : tuple(p);
}
/// Like int_or_tuple(Pair), for one number per spatial dim: "5", "(5, 3)", "(5, 3, 1)".
inline std::string int_or_tuple(const PerAxis& p) {
  const IntArrayRef n = p;
  if (std::adjacent_find(n.begin(), n.end(), std::not_equal_to<>()) == n.end()) {
    return std::to_string(n[0]);
  }
  return tuple(n);
}
/// "True" or "False"
inline const char* python_bool(bool b) { return b ? "True" : "False"; }

/// Format a float as Python does: "1.0" for 1, "0.25" for 0.25.
inline std::string number(double v) {
  const std::string text = fmt::format("{}", v);
  return text.find_first_of(".einf") == std::string::npos ? text + ".0" : text;
}
/// Return ", inplace=True" or "".
inline const char* inplace_text(bool inplace) { return inplace ? ", inplace=True" : ""; }

}  // namespace ambit::nn
