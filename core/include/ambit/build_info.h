// What this libambit is made of.
#pragma once

#include <ambit/api.h>

#include <string>
#include <utility>
#include <vector>

namespace ambit {

/// Return facts by name, in the order to show them: {"version", "0.1.0"}, {"build", ...}, {"file",
/// ...}, {"compiler", "g++ 12.2.0"}, then each library that libambit uses, {"fmt", "9.1.0
/// (libfmt.so.9)"}. Libraries of one backend alone are in its devices' properties.
AMBIT_API std::vector<std::pair<std::string, std::string>> build_info();

}  // namespace ambit
