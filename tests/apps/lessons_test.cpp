// apps/lessons.md quotes the programs: what it quotes must be there.
#include <doctest/doctest.h>

#include <filesystem>
#include <regex>
#include <sstream>
#include <string>

#include "tests/temporary_folder.h"

namespace {

namespace fs = std::filesystem;

// Without the line breaks and indents that are clang-format's choice.
std::string on_one_line(const std::string& text) {
  return std::regex_replace(text, std::regex("\\s+"), " ");
}

// What a program is made of: its folder and the shared ones.
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

TEST_CASE("what lessons.md quotes of the programs is in them") {
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
  CHECK(quotes > 150);  // the tables were read
}
