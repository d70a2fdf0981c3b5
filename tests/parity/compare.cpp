// compare OURS THEIRS [KNOWN]: compares two outputs of the program (parity.h) line by line; numbers
// may differ by the tolerance in their line, and lines listed in the file KNOWN may differ: "CASE:
// WHAT", without the line's values. A listed line that does not differ is an error.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

std::vector<std::string> lines_of(const char* path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

// Remove the lines of cases that one side has skipped as host-only.
std::vector<std::string> without(const std::vector<std::string>& lines,
                                 const std::set<std::string>& left_out) {
  std::vector<std::string> rest;
  bool out = false;
  for (const std::string& line : lines) {
    if (line.rfind("== ", 0) == 0) out = left_out.count(line) > 0;
    if (!out) rest.push_back(line);
  }
  return rest;
}

std::set<std::string> cases_of_host(const std::vector<std::string>& lines) {
  std::set<std::string> cases;
  for (size_t i = 1; i < lines.size(); ++i) {
    if (lines[i] == "of the host") cases.insert(lines[i - 1]);
  }
  return cases;
}

struct Numbers {
  std::string head;  // the text up to "within", with the sizes
  double within = 0;
  std::vector<std::string> values;
};

// Return false if the line is not a list of numbers.
bool split(const std::string& line, Numbers& to) {
  const size_t at = line.find(" within ");
  if (at == std::string::npos || line.find(": text ") < at) return false;
  to.head = line.substr(0, at);
  std::istringstream rest(line.substr(at + 8));
  std::string colon, value;
  rest >> to.within >> colon;
  while (rest >> value) to.values.push_back(value);
  return true;
}

// Return the difference of two lines; empty if they are equal.
std::string difference(const std::string& ours, const std::string& theirs) {
  Numbers a, b;
  if (!split(ours, a) || !split(theirs, b)) return ours == theirs ? "" : "a different text";
  if (a.head != b.head) return "a different dtype or shape";
  if (a.values.size() != b.values.size()) return "a different number of values";
  const double within = std::max(a.within, b.within);
  for (size_t i = 0; i < a.values.size(); ++i) {
    if (a.values[i] == b.values[i]) continue;  // also infinities and NaN
    const double x = std::strtod(a.values[i].c_str(), nullptr);
    const double y = std::strtod(b.values[i].c_str(), nullptr);
    if (!(std::abs(x - y) <= within)) {
      std::ostringstream text;
      text << "value " << i << " is off by " << std::abs(x - y) << ", allowed " << within;
      return text.str();
    }
  }
  return "";
}

// Return the lines of a file without empty lines and without comments, which begin with #.
std::set<std::string> known_differences(const char* path) {
  std::set<std::string> known;
  for (const std::string& line : lines_of(path)) {
    if (!line.empty() && line[0] != '#') known.insert(line);
  }
  return known;
}

// Return "CASE: WHAT" for a line of a case.
std::string key_of(const std::string& current, const std::string& line) {
  return (current.empty() ? "" : current.substr(3)) + ": " + line.substr(0, line.find(": "));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) {
    std::cerr << "usage: compare OURS THEIRS [KNOWN]\n";
    return 2;
  }
  const auto known = argc == 4 ? known_differences(argv[3]) : std::set<std::string>();
  std::set<std::string> not_seen = known;
  const auto all = lines_of(argv[1]);
  const std::set<std::string> left_out = cases_of_host(all);
  const auto ours = without(all, left_out), theirs = without(lines_of(argv[2]), left_out);
  std::string current;
  size_t compared = 0, different = 0;
  for (size_t i = 0; i < std::max(ours.size(), theirs.size()); ++i) {
    const std::string a = i < ours.size() ? ours[i] : "(missing)";
    const std::string b = i < theirs.size() ? theirs[i] : "(missing)";
    if (a.rfind("== ", 0) == 0) current = a;
    std::string what = difference(a, b);
    if (what.empty() && a == "threw") what = "both threw";
    ++compared;
    if (what.empty()) continue;
    const std::string key = key_of(current, a);
    if (known.count(key) > 0) {
      not_seen.erase(key);
      continue;
    }
    if (++different <= 20) {
      std::cout << current << ": " << what << "\n  ambit    " << a << "\n  libtorch " << b << '\n';
    }
    if (a.rfind("== ", 0) != b.rfind("== ", 0)) break;  // the following lines do not correspond
  }
  for (const std::string& key : not_seen) {
    if (left_out.count("== " + key.substr(0, key.find(": "))) > 0) continue;
    std::cout << key << ": listed as a difference, but does not differ\n";
    ++different;
  }
  std::cout << compared << " lines compared, " << different << " different, " << known.size()
            << " known to differ\n";
  return different == 0 && compared > 0 ? 0 : 1;
}
