// Tables of calls: compares the values of each and the gradients of all its floating-point inputs,
// weighted by a wave so that permuted gradients are detected.
#pragma once

#include "parity.h"

#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace parity {

using torch::Tensor;
using List = std::vector<Tensor>;

/// Differentiable inputs are float64. For `roundings` see report(); gradients may differ by four
/// times as many.
struct Call {
  const char* name;
  std::function<Tensor(const List&)> function;
  List inputs;
  double roundings = 8;
};
void run(const Call& call);

// Inputs: numbers in [-1, 1], in [0.5, 2.5], integers in [-7, 7]; special values; no elements, no
// dims.
inline Tensor x(torch::IntArrayRef sizes = {2, 3}) { return wave(sizes, 0.7, torch::kDouble); }
inline Tensor y(torch::IntArrayRef sizes = {2, 3}) {
  return wave(sizes, 0.37, torch::kDouble) + 1.5;
}
inline Tensor integers(torch::IntArrayRef sizes = {2, 3}) {
  return (wave(sizes, 0.9, torch::kDouble) * 7).to(torch::kLong);
}
inline Tensor corners() {
  const double inf = HUGE_VAL;
  return torch::tensor({0.0, -0.0, 1.0, -1.5, 2.5, inf, -inf, std::nan(""), 1e300, 1e-300},
                       torch::kDouble);
}
inline Tensor empty_one() { return torch::zeros({0, 3}, torch::kDouble); }
inline Tensor no_dims() { return torch::tensor(0.6, torch::kDouble); }

}  // namespace parity

/// The function of a Call with inputs a[0], a[1], ...
#define OP(...)                                 \
  [](const parity::List& a) -> parity::Tensor { \
    static_cast<void>(a);                       \
    return __VA_ARGS__;                         \
  }
/// The name and function of a Call, whose text is the name: {CALL(F::relu(a[0])), {x()}}.
#define CALL(...) #__VA_ARGS__, OP(__VA_ARGS__)
