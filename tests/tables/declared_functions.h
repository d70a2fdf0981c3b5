// The public functions as the headers declare them, so that a test's table can be checked for gaps.
#pragma once

#include <ambit/function_table.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>

/// Return the names of the functions that ops/*.h declare, with those of its macros; but aliases of
/// aliases.h (aliases_test calls each) and out.h's, which are others with an output (out_test).
inline std::set<std::string> declared_functions() {
  const std::regex function(R"(AMBIT_API [^=(]*?[ >&](\w+)\()");
  const std::regex family(R"(^AMBIT_BINARY\((\w+)\))");
  std::set<std::string> names;
#define AMBIT_NAMES(name, ...) names.insert({#name, #name "_"});
  AMBIT_UNARY_MAPS(AMBIT_NAMES)
#undef AMBIT_NAMES
  for (const auto& file : std::filesystem::directory_iterator(AMBIT_OPS_HEADERS)) {
    if (file.path().filename() == "out.h" || file.path().filename() == "aliases.h") continue;
    std::ifstream in(file.path());
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
  return names;
}
