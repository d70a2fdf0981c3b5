// c10::IValue is ambit's Value, printed in Python's format.
#pragma once

#include <ATen/core/Dict.h>
#include <ATen/core/List.h>
#include <ambit/value.h>
#include <torch/namespaces.h>

#include <cmath>
#include <concepts>
#include <cstdint>
#include <iomanip>
#include <limits>
#include <ostream>
#include <utility>

namespace ambit {

// A template, so that types that convert to Value are not printed as one.
template <std::same_as<Value> V>
std::ostream& operator<<(std::ostream& os, const V& v);

namespace detail {

inline void print_items(std::ostream& os, const Value& v, const char* open, const char* close) {
  os << open;
  bool first = true;
  for (const Value& item : v.items()) os << (std::exchange(first, false) ? "" : ", ") << item;
  os << close;
}

/// Print 2. and 0.10000000000000001: as many digits as are needed to read back the same number.
inline void print_real(std::ostream& os, double d) {
  if (std::trunc(d) == d && std::abs(d) < 0x1p63) {
    os << static_cast<int64_t>(d) << '.';
  } else {
    const auto before = os.precision(std::numeric_limits<double>::max_digits10);
    os << d << std::setprecision(static_cast<int>(before));
  }
}

}  // namespace detail

template <std::same_as<Value> V>
std::ostream& operator<<(std::ostream& os, const V& v) {
  switch (v.kind()) {
    case Value::Kind::none:
      return os << "None";
    case Value::Kind::boolean:
      return os << (v.to_bool() ? "True" : "False");
    case Value::Kind::integer:
      return os << v.to_int();
    case Value::Kind::real:
      detail::print_real(os, v.to_double());
      return os;
    case Value::Kind::string:
      return os << v.to_string();
    case Value::Kind::tensor:
      return os << v.to_tensor();
    case Value::Kind::list:
      detail::print_items(os, v, "[", "]");
      return os;
    case Value::Kind::tuple:
      detail::print_items(os, v, "(", v.items().size() == 1 ? ",)" : ")");
      return os;
    case Value::Kind::opaque:
      return os << '<' << v.to_opaque().type << '>';
    case Value::Kind::dict:
    case Value::Kind::ordered_dict:
      break;
  }
  os << '{';
  bool first = true;
  for (const auto& [key, value] : v.entries()) {
    os << (std::exchange(first, false) ? "" : ", ") << key << ": " << value;
  }
  return os << '}';
}

}  // namespace ambit

namespace c10 {
using IValue = ambit::Value;
}  // namespace c10

namespace ambit {

template <class V>
struct GenericContainers {
  static c10::List<V> list(const V& v) { return c10::List<V>(v.items()); }
  static c10::Dict<V, V> dict(const V& v) {
    c10::Dict<V, V> dict;
    for (const auto& [key, value] : v.entries()) dict.insert(key, value);
    return dict;
  }
};

}  // namespace ambit
