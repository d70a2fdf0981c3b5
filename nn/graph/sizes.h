// Sizes that are expressions of symbols, such as the size of a batch. Private to nn/graph.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "program.h"

namespace ambit::graph {

/// Return a size for printing: "3", "s0", "2*s0", "?" for other expressions.
AMBIT_API std::string str(const Size& size);
/// Return "float32[s0, 3, 8, 8]", "number", or "tensor" if neither dtype nor sizes are known.
std::string str(const Value& value);

/// The symbols of one run.
class Symbols {
 public:
  /// If `size` is a symbol that has no value yet, set its value to `actual`.
  void bind(const Size& size, int64_t actual);
  /// Return the size; empty if it has a symbol without a value or an unknown function.
  std::optional<int64_t> evaluate(const Size& size) const;
  const std::map<std::string, int64_t>& all() const { return values_; }

 private:
  std::map<std::string, int64_t> values_;
};

}  // namespace ambit::graph
