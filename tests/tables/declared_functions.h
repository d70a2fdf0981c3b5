// The public functions declared in the headers, to find functions missing from a test's table.
#pragma once

#include <ambit/function_table.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>

namespace declared {

/// Add the names of the functions that a header declares, including by macros.
inline void read(const std::filesystem::path& header, std::set<std::string>& names) {
  static const std::regex function(R"(AMBIT_API [^=(]*?[ >&]([a-z_]\w*)\()");
  static const std::regex family(R"(^AMBIT_BINARY\((\w+)\))");
  std::ifstream in(header);
  for (std::string line; std::getline(in, line);) {
    std::smatch match;
    const bool in_macro = line.starts_with("#define") || line.ends_with('\\');
    if (std::regex_search(line, match, family)) {
      names.insert(match[1]);
      names.insert(match[1].str() + "_");
    } else if (!in_macro && line.find("name") == std::string::npos &&
               std::regex_search(line, match, function)) {
      names.insert(match[1]);
    }
  }
}

}  // namespace declared

/// Return the names of the functions declared in ops/*.h, including by macros, except those of
/// aliases.h (tested by aliases_test), foreach.h (foreach_test), and out.h (out_test).
inline std::set<std::string> declared_functions() {
  std::set<std::string> names;
#define AMBIT_NAMES(name, ...) names.insert({#name, #name "_"});
  AMBIT_UNARY_MAPS(AMBIT_NAMES)
#undef AMBIT_NAMES
  for (const auto& file : std::filesystem::directory_iterator(AMBIT_OPS_HEADERS)) {
    const std::string header = file.path().filename();
    if (header == "out.h" || header == "aliases.h" || header == "foreach.h") continue;
    declared::read(file.path(), names);
  }
  return names;
}

/// Return the names of the functions that only nn::functional has.
inline std::set<std::string> declared_functions_of_nn() {
  const std::filesystem::path nn =
      std::filesystem::path(AMBIT_OPS_HEADERS) / "../../../../nn/include/ambit/nn";
  std::set<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(nn / "functional")) {
    declared::read(file.path(), names);
  }
  for (const char* header : {"functional.h", "normalization.h"}) {
    declared::read(nn / header, names);
  }
  return names;
}
