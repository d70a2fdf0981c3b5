// Every method of Tensor as a row of a table: compares its results for operands of many kinds, and
// first and second gradients where they exist. run.sh requires a row or a call for each name of
// surface/libtorch_names.txt without a reason in uncalled_names.txt.
#pragma once

#include "tests/parity/calls.h"

#include <tuple>
#include <vector>

namespace parity {

/// Operands of one shape, so that any two are compatible: [2, 3] unless the kind differs.
struct Operands {
  Tensor a, b;  // in [-1, 1]; integers in [-7, 7]
  Tensor p;     // positive; integers in [1, 7]
  Tensor n;     // int64, 0 or 1
  Tensor m;     // bool
};

/// The kinds of operands; each is a bit of Row::but, the kinds that a row excludes.
enum Kind : unsigned {
  kPlain = 1,        // float64
  kStrided = 2,      // float64, transposed
  kNoDims = 4,       // float64, []
  kNone = 8,         // float64, [0, 3]
  kCorners = 16,     // float64, [2, 5]: NaN, infinities, -0, huge and tiny; no gradients
  kSingle = 32,      // float32
  kIntegers = 64,    // int64
  kBytes = 128,      // uint8
  kBools = 256,      // bool
  kGradients = 512,  // all gradients: libtorch has none, or wrong ones
  kSecond = 1024,    // second gradients
  kNumbers = kPlain | kStrided | kNoDims | kNone | kCorners | kSingle,
  kWhole = kIntegers | kBytes | kBools,
};

struct Row {
  const char* name;
  List (*call)(const Operands& o);
  /// See report(). Gradients may differ by 4 times as many roundings, second gradients by 16 times.
  double roundings = 8;
  unsigned but = 0;
};
void run(const std::vector<Row>& rows);

inline List listed(const Tensor& t) { return {t}; }
inline List listed(List list) { return list; }
inline List listed(double number) { return {torch::tensor(number, torch::kDouble)}; }
template <class... T>
List listed(const std::tuple<T...>& results) {
  return std::apply([](const auto&... t) { return List{t...}; }, results);
}

}  // namespace parity

/// ROW has any expression of the operands o, METHOD the method `name` of o.a, and IN_PLACE a method
/// that writes a copy of o.a.
#define ROW(name, ...) #name, [](const parity::Operands& o) { return parity::listed(__VA_ARGS__); }
#define METHOD(name, ...) ROW(name, o.a.name(__VA_ARGS__))
#define IN_PLACE(name, ...) ROW(name, o.a.clone().name(__VA_ARGS__))
