// Operators: activations.
#include <ambit/error.h>
#include <ambit/nn/functional/aten.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>

#include <limits>

#include "operators.h"

namespace ambit::graph::onnx {
namespace {

// A limit of Clip: a tensor, a number, or none.
Tensor clipped(const Call& c) {
  Tensor x = c.tensor(0);
  for (const size_t i : {1u, 2u}) {
    if (!c.has(i)) continue;
    if (c.is_number(i)) {
      x = i == 1 ? clamp_min(x, c.scalar(i)) : clamp_max(x, c.scalar(i));
    } else {
      const Tensor limit = c.is_list(i) ? full({}, c.reals(i).at(0), x.options()) : c.tensor(i);
      expect_same_dtype(x, limit);
      x = i == 1 ? maximum(x, limit.reshape({})) : minimum(x, limit.reshape({}));
    }
  }
  return x;
}

Tensor hard_sigmoid(const Tensor& x, double alpha, double beta) {
  return clamp(x * alpha + beta, 0.0, 1.0);
}

// Return celu(x); NaN for alpha 0, by which its formula divides.
Tensor celu_of(const Tensor& x, double alpha) {
  if (alpha != 0) return nn::functional::celu(x, alpha);
  return full_like(x, std::numeric_limits<double>::quiet_NaN()) + x * 0;
}

// NaN fails both comparisons, so the result is 0.
Tensor shrunk(const Tensor& x, double bias, double lambd) {
  const Tensor zero = zeros_like(x);
  return where(x.lt(-lambd), x + bias, where(x.gt(lambd), x - bias, zero)).to(x.dtype());
}

Tensor sloped(const Call& c) {
  const Tensor &x = c.tensor(0), &slope = c.tensor(1);
  expect_same_dtype(x, slope);
  return where(x.lt(0), x * slope, x);
}

Tensor selu_of(const Tensor& x, double alpha, double gamma) {
  return where(x.gt(0), x, (exp(clamp_max(x, 0)) - 1) * alpha) * gamma;
}

Tensor gated(const Call& c) {
  const Tensor &a = c.tensor(0), &b = c.tensor(1);
  expect_same_dtype(a, b);
  return a * sigmoid(a * c.real(2)) * b;
}

constexpr Operator kRows[] = {
    // clang-format off
    {{"Relu", "X", unary(relu)}, 1},
    {{"Sigmoid", "X", unary(sigmoid)}, 1},
    {{"Tanh", "X", unary(tanh)}, 1},
    {{"Mish", "X", one([](Call& c) { return nn::functional::mish(c.tensor(0)); })}, 1},
    {{"Softsign", "X", one([](Call& c) { return c.tensor(0) / (c.tensor(0).abs() + 1); })}, 1},
    {{"Softplus", "X", one([](Call& c) {  // beyond 40, log(1 + e^x) is x in every dtype
       return nn::functional::softplus(c.tensor(0), 1, 40); })}, 1},
    {{"Gelu", "X approximate=none", one([](Call& c) { return gelu(c.tensor(0), c.text(1)); })}, 1},
    {{"LeakyRelu", "X alpha=0.01", one([](Call& c) {
       return nn::functional::leaky_relu(c.tensor(0), c.real(1)); })}, 1},
    {{"Elu", "X alpha=1.0", one([](Call& c) {
       return nn::functional::elu(c.tensor(0), c.real(1)); })}, 1},
    {{"Celu", "X alpha=1.0", one([](Call& c) { return celu_of(c.tensor(0), c.real(1)); })}, 1},
    {{"Selu", "X alpha=1.67326319217681884765625 gamma=1.05070102214813232421875",
      one([](Call& c) { return selu_of(c.tensor(0), c.real(1), c.real(2)); })}, 1},
    {{"HardSigmoid", "X alpha=0.2 beta=0.5", one([](Call& c) {
       return hard_sigmoid(c.tensor(0), c.real(1), c.real(2)); })}, 1},
    {{"HardSwish", "X", one([](Call& c) {
       return c.tensor(0) * hard_sigmoid(c.tensor(0), 1.0 / 6, 0.5); })}, 1},
    {{"Swish", "X alpha=1.0", one([](Call& c) {
       return c.tensor(0) * sigmoid(c.tensor(0) * c.real(1)); })}, 1},
    {{"SwiGLU", "A B alpha=1.0", one([](Call& c) { return gated(c); })}, 2},
    {{"ThresholdedRelu", "X alpha=1.0", one([](Call& c) {
       const Tensor& x = c.tensor(0);
       return where(x.gt(c.real(1)), x, zeros_like(x)); })}, 1},
    {{"Shrink", "X bias=0.0 lambd=0.5", one([](Call& c) {
       return shrunk(c.tensor(0), c.real(1), c.real(2)); })}, 1},
    {{"PRelu", "X slope", one([](Call& c) { return sloped(c); })}, 2},
    {{"Clip", "input min=None max=None", one([](Call& c) { return clipped(c); })}, 3, 0b110},
    // clang-format on
};

}  // namespace

constinit const std::span<const Operator> kActivationOperators = kRows;

}  // namespace ambit::graph::onnx
