// Version, compiler and libraries of this libambit.
#pragma once

#include <ambit/api.h>

#include <string>
#include <utility>
#include <vector>

namespace ambit {

/// Return facts by name, in display order: {"version", "0.2.0"}, {"build", ...}, {"file", ...},
/// {"compiler", "g++ 12.2.0"}, then each library that libambit uses, {"fmt", "9.1.0
/// (libfmt.so.9)"}. Libraries that only one backend uses are in the properties of its devices.
AMBIT_API std::vector<std::pair<std::string, std::string>> build_info();

}  // namespace ambit
