// Bounds of the functions of single elements: those of <ambit/backend/bounds.h>.
#include <ambit/backend/bounds.h>

#include <functional>
#include <limits>

#include "bound.h"

namespace ambit::shadow {
namespace {

using Numbers = std::vector<double>;
// Operands are read only for functions whose bound depends on them.
using Values = std::function<Numbers()>;

Bound with_operands(const ErrorBound& of_function, const Operand& y, const Values& first,
                    const Values& second = {}, const Values& third = {}) {
  Bound bound{of_function.ulps, of_function.absolute};
  if (!of_function.each) return bound;
  const auto read = [](const Values& values) { return values ? values() : Numbers(); };
  const Numbers a = read(first), b = read(second), c = read(third);
  const auto at = [](const Numbers& x, size_t i) { return i < x.size() ? x[i] : 0; };
  bound.each.resize(static_cast<size_t>(y.numel()));
  for (size_t i = 0; i < bound.each.size(); ++i) {
    const double error = of_function.each(at(a, i), at(b, i), at(c, i)) * epsilon(y.dtype());
    bound.each[i] = std::isfinite(error) ? error : std::numeric_limits<double>::max();
  }
  return bound;
}

Values values_of(const Operand& o) {
  return [&o] { return o.values_before(); };
}

Values repeated(double number, const Operand& y) {
  return [number, n = static_cast<size_t>(y.numel())] { return Numbers(n, number); };
}

}  // namespace

Bound unary_bound(const Call& call, const Operand& y) {
  return with_operands(error_bound(call.parameter<UnaryOp>(0), y.dtype()), y,
                       values_of(call.operand(1)));
}

Bound binary_bound(const Call& call, const Operand& y) {
  return with_operands(error_bound(call.parameter<BinaryOp>(0), y.dtype()), y,
                       values_of(call.operand(1)), values_of(call.operand(2)));
}

Bound binary_scalar_bound(const Call& call, const Operand& y) {
  const auto& number = call.parameter<ScalarOperand>(0);
  const Values x = values_of(call.operand(1)), all = repeated(number.value.toDouble(), y);
  return with_operands(error_bound(call.parameter<BinaryOp>(1), y.dtype()), y,
                       number.first ? all : x, number.first ? x : all);
}

Bound ternary_bound(const Call& call, const Operand& y) {
  const Operand& third = call.operand(3);
  return with_operands(
      error_bound(call.parameter<TernaryOp>(1), y.dtype()), y, values_of(call.operand(1)),
      values_of(call.operand(2)),
      third.is_defined() ? values_of(third) : repeated(call.parameter<Scalar>(0).toDouble(), y));
}

Bound activation_bound(UnaryOp op, const Bound& sums, double largest, DType dtype) {
  if (op == UnaryOp::relu) return sums;
  // Slopes of at most 1.13; the sum may be rounded to its dtype before the activation.
  Bound bound = sums;
  bound.ulps = 6;
  const double rounded = is_reduced_floating(dtype) ? finfo(dtype).eps : epsilon(dtype);
  bound.absolute = 1.13 * sums.absolute + largest * (rounded + epsilon(dtype));
  for (double& error : bound.each) error *= 1.13;
  return bound;
}

}  // namespace ambit::shadow
