// c10::str(a, b, ...): concatenate the output of `<<` for each.
#pragma once

#include <torch/namespaces.h>

#include <sstream>
#include <string>
#include <utility>

namespace c10 {

using std::stod;
using std::stoi;
using std::stoll;
using std::stoull;
using std::to_string;
namespace guts {
using std::to_string;
}  // namespace guts

template <class... Args>
std::string str(const Args&... args) {
  std::ostringstream text;
  static_cast<void>((text << ... << args));
  return text.str();
}

/// Return the elements joined by `delimiter`.
template <class Container>
std::string Join(const std::string& delimiter, const Container& list) {
  std::ostringstream text;
  bool first = true;
  for (const auto& item : list) {
    if (!std::exchange(first, false)) text << delimiter;
    text << item;
  }
  return text.str();
}

}  // namespace c10
