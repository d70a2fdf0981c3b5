// Reads the parameters of functions, with their defaults, from their text.
#include <algorithm>
#include <charconv>

#include "call.h"

namespace ambit::graph {

using Kind = Argument::Kind;

namespace {

// Call `visit` with the name and the default ("" if none) of each parameter.
template <class Visit>
void each_parameter(const Function& function, Visit visit) {
  std::string_view left = function.parameters;
  while (!left.empty()) {
    const std::string_view one = left.substr(0, left.find(' '));
    left.remove_prefix(std::min(one.size() + 1, left.size()));
    if (one == "...") return;
    const size_t equals = one.find('=');
    visit(one.substr(0, equals), equals == one.npos ? "" : one.substr(equals + 1));
  }
}

Argument default_of(std::string_view text) {
  if (text == "None" || text.empty()) return {};
  if (text == "True" || text == "False") return Argument::of(Kind::flag, text == "True");
  Argument a;
  if (text[0] == '[') {
    a.kind = Kind::list;
    text = text.substr(1, text.size() - 2);
    while (!text.empty()) {
      const std::string_view one = text.substr(0, text.find(','));
      text.remove_prefix(std::min(one.size() + 1, text.size()));
      a.items.push_back(default_of(one));
    }
    return a;
  }
  const char *begin = text.data(), *end = begin + text.size();
  if (std::from_chars(begin, end, a.integer).ptr == end) {
    a.kind = Kind::integer;
  } else if (std::from_chars(begin, end, a.real).ptr == end) {
    a.kind = Kind::real;
  } else {
    a.kind = Kind::text;
    a.text = text;
  }
  return a;
}

}  // namespace

int parameter_index(const Function& function, std::string_view name) {
  int index = 0, found = -1;
  each_parameter(function, [&](std::string_view parameter, std::string_view) {
    if (parameter == name) found = index;
    ++index;
  });
  return found;
}

std::vector<Argument> default_arguments(const Function& function, std::vector<bool>& is_required) {
  std::vector<Argument> arguments;
  is_required.clear();
  each_parameter(function, [&](std::string_view, std::string_view value) {
    is_required.push_back(value.empty());
    arguments.push_back(default_of(value));
  });
  return arguments;
}

}  // namespace ambit::graph
