// How options print in a module's line: as Python prints them.
#pragma once

#include <ambit/params.h>

#include <fmt/format.h>

#include <string>

namespace ambit::nn {

/// "(5, 3)"
inline std::string tuple(const Pair& p) { return fmt::format("({}, {})", p[0], p[1]); }
/// "5" where both are equal, else "(5, 3)".
inline std::string int_or_tuple(const Pair& p) {
  return p[0] == p[1] ? std::to_string(p[0]) : tuple(p);
}
/// "True" or "False"
inline const char* truth(bool b) { return b ? "True" : "False"; }

}  // namespace ambit::nn
