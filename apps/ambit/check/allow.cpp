// The list of accepted places.
#include <ambit/error.h>
#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "findings.h"

namespace check {
namespace {

bool matches(const Accepted& accepted, const Finding& finding) {
  const std::string place = finding.place.text();
  return accepted.kind == finding.kind &&
         (place == accepted.place || place.ends_with('/' + accepted.place));
}

}  // namespace

std::vector<Accepted> read_accepted(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw ambit::Error("check: expected a readable list of places, got " + file);
  std::vector<Accepted> list;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    std::istringstream words(line.substr(0, line.find('#')));
    Accepted accepted{.file = file, .line = number, .kind = "", .place = ""};
    std::string rest;
    if (!(words >> accepted.kind)) continue;
    if (!(words >> accepted.place) || words >> rest) {
      throw ambit::Error(fmt::format("check: expected \"kind file:line\" in {}:{}, got \"{}\"",
                                     file, number, line));
    }
    list.push_back(accepted);
  }
  return list;
}

void allow(Report& report, const std::vector<Accepted>& list) {
  for (const Accepted& accepted : list) {
    const size_t removed =
        std::erase_if(report.faults, [&](const Finding& f) { return matches(accepted, f); });
    if (removed > 0) continue;
    report.faults.push_back(
        {.kind = "unused-allowance",
         .message =
             fmt::format("{} {} was not found; delete the line", accepted.kind, accepted.place),
         .place = {.file = accepted.file, .function = "", .line = accepted.line},
         .count = 1});
  }
}

}  // namespace check
