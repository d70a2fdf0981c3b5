// Operators: arithmetic, comparisons, logic and conversions.
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/shape.h>

#include <cmath>
#include <limits>

#include "operators.h"

namespace ambit::graph::onnx {
namespace {

using Binary = Tensor (*)(const Tensor&, const Tensor&);

Tensor alike(const Call& c, Binary f) {
  expect_same_dtype(c.tensor(0), c.tensor(1));
  return f(c.tensor(0), c.tensor(1));
}

// The result has the dtype of the operands, also for integers.
Tensor fold(const Call& c, Binary f) {
  const std::vector<Tensor> all = c.tensors(0);
  if (all.empty()) throw Error("expected one input or more, got none");
  Tensor out = all[0];
  for (size_t i = 1; i < all.size(); ++i) {
    expect_same_dtype(out, all[i]);
    out = f(out, all[i]);
  }
  return out;
}

Tensor divided(const Call& c) {
  const Tensor &a = c.tensor(0), &b = c.tensor(1);
  expect_same_dtype(a, b);
  return a.is_floating_point() ? div(a, b) : div(a, b, "trunc");
}

Tensor modulo(const Call& c) {
  const Tensor &a = c.tensor(0), &b = c.tensor(1);
  expect_same_dtype(a, b);
  return c.flag(2) ? fmod(a, b) : remainder(a, b);
}

// The result has the dtype of the base.
Tensor power(const Call& c) {
  const Tensor &a = c.tensor(0), &b = c.tensor(1);
  if (a.dtype() == b.dtype()) return pow(a, b);
  if (a.is_floating_point() && !b.is_floating_point()) return pow(a, b.to(a.dtype()));
  if (!a.is_floating_point() && !b.is_floating_point()) return pow(a, b.to(a.dtype()));
  const DType wide = b.dtype() == kFloat64 || !a.is_floating_point() ? kFloat64 : kFloat32;
  return pow(a.to(wide), b.to(wide)).to(a.dtype());
}

Tensor signs(const Call& c) {
  const Tensor& x = c.tensor(0);
  return x.is_floating_point() ? where(isnan(x), x, sign(x)) : sign(x);
}

Tensor shifted(const Call& c) {
  const Tensor &a = c.tensor(0), &b = c.tensor(1);
  expect_same_dtype(a, b);
  return c.text(2) == "LEFT" ? bitwise_left_shift(a, b) : bitwise_right_shift(a, b);
}

Tensor infinite(const Call& c) {
  const Tensor& x = c.tensor(0);
  const bool negative = c.flag(1), positive = c.flag(2);
  if (negative && positive) return isinf(x);
  if (negative) return isneginf(x);
  return positive ? isposinf(x) : zeros_like(x, TensorOptions(kBool));
}

Tensor bits(const Call& c) {
  const std::optional<DType> to = c.dtype(1);
  const Tensor x = c.tensor(0);
  if (!to || element_size(*to) != x.itemsize()) {
    throw DTypeError("expected a dtype with as many bits as the input's, got another");
  }
  return x.contiguous().view(*to);
}

Tensor mean_of(const Call& c) {
  return fold(c, [](const Tensor& a, const Tensor& b) { return add(a, b); }) /
         Scalar(std::ssize(c.tensors(0)));
}

Tensor added(const Tensor& a, const Tensor& b) { return add(a, b); }
Tensor subtracted(const Tensor& a, const Tensor& b) { return sub(a, b); }

#define ONNX_UNARY(name, function) {{name, "X", unary(function)}, 1},
#define ONNX_BINARY(name, function) \
  {{name, "A B", one([](Call& c) { return alike(c, function); })}, 2},

constexpr Operator kRows[] = {
    // clang-format off
    ONNX_UNARY("Abs", abs) ONNX_UNARY("Neg", neg) ONNX_UNARY("Exp", exp) ONNX_UNARY("Log", log)
    ONNX_UNARY("Sqrt", sqrt) ONNX_UNARY("Reciprocal", reciprocal) ONNX_UNARY("Sin", sin)
    ONNX_UNARY("Cos", cos) ONNX_UNARY("Tan", tan) ONNX_UNARY("Asin", asin) ONNX_UNARY("Acos", acos)
    ONNX_UNARY("Atan", atan) ONNX_UNARY("Sinh", sinh) ONNX_UNARY("Cosh", cosh)
    ONNX_UNARY("Asinh", asinh) ONNX_UNARY("Acosh", acosh) ONNX_UNARY("Atanh", atanh)
    ONNX_UNARY("Erf", erf) ONNX_UNARY("Floor", floor) ONNX_UNARY("Ceil", ceil)
    ONNX_UNARY("Round", round) ONNX_UNARY("Not", logical_not) ONNX_UNARY("BitwiseNot", bitwise_not)
    ONNX_UNARY("IsNaN", isnan)
    ONNX_BINARY("Add", added) ONNX_BINARY("Sub", subtracted) ONNX_BINARY("Mul", mul)
    ONNX_BINARY("And", logical_and) ONNX_BINARY("Or", logical_or) ONNX_BINARY("Xor", logical_xor)
    ONNX_BINARY("BitwiseAnd", bitwise_and) ONNX_BINARY("BitwiseOr", bitwise_or)
    ONNX_BINARY("BitwiseXor", bitwise_xor) ONNX_BINARY("Equal", eq) ONNX_BINARY("Greater", gt)
    ONNX_BINARY("Less", lt) ONNX_BINARY("GreaterOrEqual", ge) ONNX_BINARY("LessOrEqual", le)
    {{"Sign", "X", one([](Call& c) { return signs(c); })}, 1},
    {{"Identity", "X", one([](Call& c) { return c.tensor(0); })}, 1},
    {{"Div", "A B", one([](Call& c) { return divided(c); })}, 2},
    {{"Mod", "A B fmod=0", one([](Call& c) { return modulo(c); })}, 2},
    {{"Pow", "X Y", one([](Call& c) { return power(c); })}, 2},
    {{"BitShift", "X Y direction", one([](Call& c) { return shifted(c); })}, 2},
    {{"Sum", "inputs", one([](Call& c) { return fold(c, added); })}, Operator::kList},
    {{"Max", "inputs", one([](Call& c) { return fold(c, maximum); })}, Operator::kList},
    {{"Min", "inputs", one([](Call& c) { return fold(c, minimum); })}, Operator::kList},
    {{"Mean", "inputs", one([](Call& c) { return mean_of(c); })}, Operator::kList},
    {{"IsInf", "X detect_negative=1 detect_positive=1", one([](Call& c) { return infinite(c); })},
     1},
    {{"Where", "condition X Y", one([](Call& c) {
       expect_same_dtype(c.tensor(1), c.tensor(2));
       return where(c.tensor(0), c.tensor(1), c.tensor(2)); })}, 3},
    {{"Cast", "input to saturate=1 round_mode=up", one([](Call& c) {
       return c.tensor(0).to(*c.dtype(1)); })}, 1},
    {{"CastLike", "input target_type saturate=1 round_mode=up", one([](Call& c) {
       return c.tensor(0).to(c.tensor(1).dtype()); })}, 2},
    {{"BitCast", "input to", one([](Call& c) { return bits(c); })}, 1},
    // clang-format on
};

}  // namespace

constinit const std::span<const Operator> kMathOperators = kRows;

}  // namespace ambit::graph::onnx
