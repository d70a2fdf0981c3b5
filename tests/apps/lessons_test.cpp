// apps/lessons.md quotes the programs: each quotation must be in the sources.
#include <doctest/doctest.h>

#include <filesystem>
#include <regex>
#include <sstream>
#include <string>

#include "tests/temporary_folder.h"

namespace {

namespace fs = std::filesystem;

// Remove line breaks and indents, which clang-format chooses.
std::string on_one_line(const std::string& text) {
  return std::regex_replace(text, std::regex("\\s+"), " ");
}

// Return the sources of a program: its folder and the shared ones.
std::string sources_of(const std::string& app) {
  std::string all;
  for (const std::string& folder : {app, std::string("images"), std::string("training")}) {
    for (const auto& entry : fs::directory_iterator(fs::path(AMBIT_APPS_SOURCES) / folder)) {
      all += read_bytes(entry.path());
    }
  }
  return on_one_line(all);
}

}  // namespace

TEST_CASE("the code that lessons.md quotes is in the programs") {
  std::istringstream lines(read_bytes(AMBIT_APPS_SOURCES "/lessons.md"));
  const std::regex heading("^## .*: `(\\w+)`$"), row("^\\| (.*) \\| (.*) \\|$"), quote("`([^`]+)`");
  std::string line, sources;
  size_t quotes = 0;
  while (std::getline(lines, line)) {
    std::smatch match;
    if (std::regex_match(line, match, heading)) sources = sources_of(match[1]);
    if (!std::regex_match(line, match, row)) continue;
    const std::string ours = match[2];
    for (std::sregex_iterator it(ours.begin(), ours.end(), quote), end; it != end; ++it) {
      const std::string code = (*it)[1];
      CHECK_MESSAGE(sources.find(on_one_line(code)) != std::string::npos, code);
      ++quotes;
    }
  }
  CHECK(quotes > 150);  // lines of the tables were found
}
