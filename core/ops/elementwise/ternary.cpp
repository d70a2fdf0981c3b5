#include <ambit/detail/ternary_grad.h>

#include <ambit/autograd.h>
#include <ambit/backend/activation_constants.h>
#include <ambit/ops/complex.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/shape.h>
#include <ambit/ops/special.h>

#include "core/ops/composite.h"
#include "core/ops/operands/allocate.h"
#include "core/ops/operands/broadcast.h"
#include "core/ops/operands/scalar_operand.h"
#include "where.h"

namespace ambit {
namespace {

// Return dy where `mine` was selected, half of it for ties, and 0 where `lost`.
Tensor share_of(const Tensor& dy, const Tensor& mine, const Tensor& other, const Tensor& lost) {
  return masked_fill(where(eq(mine, other), dy * 0.5, dy), lost, 0);
}

Tensor softplus_grad(const Tensor& dy, const Tensor& x, const Tensor& beta) {
  const Tensor z = x * beta;
  return where(z > arithmetic::kSoftplusThreshold, dy, dy * sigmoid(z));
}

// Return dy * side / (b^2 + c^2); at (0, 0) the result and its gradients are 0.
Tensor atan2_slope(const Tensor& dy, const Tensor& side, const Tensor& b, const Tensor& c) {
  const Tensor origin = logical_and(b == 0, c == 0);
  const Tensor length = hypot(masked_fill(b, origin, 1), c);
  return masked_fill(dy * (side / length / length), origin, 0);
}

Tensor lerp_formula(const Tensor& a, const Tensor& b, const Tensor& weight) {
  const Tensor half = sub(b * 0.5, a, 0.5), near_a = abs(weight) < 0.5;
  return add(where(near_a, a, b), where(near_a, weight, weight - 1) * half, 2);
}

// The formulas of function_table.h as differentiable ops. A branch that is not selected must be
// finite too: its gradient is multiplied by 0, and 0 * inf is NaN.
Tensor formula(TernaryOp op, const Tensor& a, const Tensor& b, const Tensor& c) {
  switch (op) {
    case TernaryOp::add_scaled:
      return a + b * c;
    case TernaryOp::lerp:
      return lerp_formula(a, b, c);
    case TernaryOp::elu_grad:
      return a * where(b <= 0, c * exp(b.clamp_max(0)), 1);
    case TernaryOp::celu_grad:
      return a * where(b <= 0, exp(b.clamp_max(0) / c), 1);
    case TernaryOp::leaky_relu_grad:
      return where(b > 0, a, a * c);
    case TernaryOp::softplus_grad:
      return softplus_grad(a, b, c);
    case TernaryOp::smooth_l1_grad:
      return a * clamp(b / c, -1, 1);
    case TernaryOp::huber_grad:
      return a * where(b <= neg(c), neg(c), where(b >= c, c, b));
    case TernaryOp::logit_loss_grad:
      return a * where(b < 0, sigmoid(b) - c, 1 - c - sigmoid(neg(b)));
    case TernaryOp::maximum_grad:
      return share_of(a, b, c, b < c);
    case TernaryOp::minimum_grad:
      return share_of(a, b, c, b > c);
    case TernaryOp::pow_base_grad:
      return masked_fill(a * (c * pow(b, c - 1)), c == 0, 0);
    case TernaryOp::pow_exponent_grad:
      return masked_fill(a * (pow(b, c) * log(b)), (b == 0) & (real(c) >= 0), 0);
    case TernaryOp::logaddexp_grad:
      return a / (exp(c - b) + 1);
    case TernaryOp::abs_grad:
      return a * (sign(b) * c);
    case TernaryOp::square_grad:
      return a * (b * c);
    case TernaryOp::reciprocal_grad:
      return a * (square(b) * c);
    case TernaryOp::rsqrt_grad:
      return a * (square(b) * b * c);
    case TernaryOp::sqrt_grad:
      return a / (b * c);
    case TernaryOp::expm1_grad:
      return a * (b + c);
    case TernaryOp::log1p_grad:
      return a / (b + c);
    case TernaryOp::tan_grad:
      return a * (square(b) + c);
    case TernaryOp::atan_grad:
      return a / (square(b) * c + 1);
    case TernaryOp::asin_grad:
      return a * (rsqrt((1 - b) * (b + 1)) * c);
    case TernaryOp::asinh_grad:
      return a * rsqrt(square(b) + c);
    case TernaryOp::sin_grad:
      return a * (cos(b) * c);
    case TernaryOp::cos_grad:
      return a * (sin(b) * c);
    case TernaryOp::sinh_grad:
      return a * (cosh(b) * c);
    case TernaryOp::cosh_grad:
      return a * (sinh(b) * c);
    case TernaryOp::erf_grad:
      return a * (exp(neg(square(b))) * c);
    case TernaryOp::erfinv_grad:
      return a * (exp(square(b)) * c);
    case TernaryOp::lgamma_grad:
      return a * (digamma(b) * c);
    case TernaryOp::i0_grad:
      return a * (special_i1(b) * c);
    case TernaryOp::softsign_grad:
      return a * (c / square(abs(b) + 1));
    case TernaryOp::div_grad:
      return neg(a) * (c / b / b);
    case TernaryOp::hypot_grad:
      return a * (b / hypot(b, c));
    case TernaryOp::atan2_grad:
      return atan2_slope(a, c, b, c);
    case TernaryOp::atan2_other_grad:
      return neg(atan2_slope(a, b, b, c));
    case TernaryOp::binary_cross_entropy_grad:
      return a * (b - c) / (b * (1 - b)).clamp_min(1e-12);
    case TernaryOp::glu_grad:
      return a * (b * (c * (1 - c)));
  }
  return {};
}

}  // namespace

Tensor ternary_grad(TernaryOp op, const Tensor& g, const Tensor& b, const Tensor& c) {
  const Device device = g.device();
  const DType dtype = g.dtype();
  if (GradMode::is_enabled()) {
    return formula(op, g, to(b, device, dtype), to(c, device, dtype));
  }
  const Dims sizes = g.sizes();
  Tensor out = allocate(name(op), sizes, dtype, device);
  kernels::ternary(out, g, operand(b, sizes, dtype, device), operand(c, sizes, dtype, device), {},
                   op);
  return out;
}

Tensor ternary_grad(TernaryOp op, const Tensor& g, const Tensor& b, double number) {
  const Device device = g.device();
  const DType dtype = g.dtype();
  if (GradMode::is_enabled()) {
    return formula(op, g, to(b, device, dtype), scalar_on(number, dtype, device));
  }
  const Dims sizes = g.sizes();
  Tensor out = allocate(name(op), sizes, dtype, device);
  kernels::ternary(out, g, operand(b, sizes, dtype, device), {}, number, op);
  return out;
}

void composite::ternary(Tensor& y, const Tensor& a, const Tensor& b, const Tensor& c,
                        const Scalar& number, const TernaryOp& op) {
  if (op != TernaryOp::add_scaled) {
    const Tensor third = c.defined() ? c : scalar_on(number, y.dtype(), y.device(), y.sizes());
    return kernels::copy(y, formula(op, a, b, third));
  }
  Tensor scaled = allocate("ternary", y.sizes(), y.dtype(), y.device());
  if (c.defined()) {
    kernels::binary(scaled, b, c, BinaryOp::mul);
  } else {
    kernels::binary_scalar(scaled, b, {number}, BinaryOp::mul);
  }
  kernels::binary(y, a, scaled, BinaryOp::add);
}

}  // namespace ambit
