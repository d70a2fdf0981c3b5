// Removes the figures from the output of a training, so that the text can be compared, or reads
// them.
#pragma once

#include <regex>
#include <string>
#include <vector>

inline const std::regex& figure_pattern() {
  static const std::regex pattern(R"(\d+\.\d+(e[-+]\d+)?)");
  return pattern;
}

inline std::string without_figures(const std::string& text) {
  return std::regex_replace(text, figure_pattern(), "<figure>");
}

/// Return the figures in order, except elapsed times, which are alone in their line.
inline std::vector<double> figures(const std::string& text) {
  static const std::regex time(R"((^|\n)\d+\.\d+(?=\n))");
  const std::string timeless = std::regex_replace(text, time, "$1");
  std::vector<double> result;
  const std::sregex_iterator end;
  for (std::sregex_iterator it(timeless.begin(), timeless.end(), figure_pattern()); it != end;
       ++it) {
    result.push_back(std::stod(it->str()));
  }
  return result;
}
