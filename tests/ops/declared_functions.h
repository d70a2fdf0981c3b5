// The public functions as the headers declare them, so that a test's table can be checked for gaps.
#pragma once

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>

/// Return the names of the functions that ops/*.h declare, with those of its macros.
inline std::set<std::string> declared_functions() {
  const std::regex function(R"(AMBIT_API [^=(]*?[ >&](\w+)\()");
  const std::regex family(R"(^AMBIT_(BINARY|UNARY)\((\w+)\))");
  std::set<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(AMBIT_OPS_HEADERS)) {
    std::ifstream in(file.path());
    for (std::string line; std::getline(in, line);) {
      std::smatch match;
      const bool in_macro = line.starts_with("#define") || line.ends_with('\\');
      if (std::regex_search(line, match, family)) {
        names.insert(match[2]);
        names.insert(match[2].str() + "_");
      } else if (!in_macro && line.find("name") == std::string::npos &&
                 std::regex_search(line, match, function)) {
        names.insert(match[1]);
      }
    }
  }
  return names;
}
