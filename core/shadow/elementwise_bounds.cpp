// Bounds of the functions of single elements.
#include <ambit/function_table.h>

#include <functional>
#include <limits>

#include "bound.h"

namespace ambit::shadow {
namespace {

using std::abs;
using std::max;

using Numbers = std::vector<double>;

// Return f(a[i], b[i], c[i]) * epsilon for each element; missing operands are 0.
Numbers by_element(const Operand& y, const Numbers& a, const Numbers& b, const Numbers& c,
                   const std::function<double(double, double, double)>& f) {
  Numbers each(static_cast<size_t>(y.numel()));
  const auto at = [](const Numbers& x, size_t i) { return i < x.size() ? x[i] : 0; };
  for (size_t i = 0; i < each.size(); ++i) {
    const double error = f(at(a, i), at(b, i), at(c, i)) * epsilon(y.dtype());
    each[i] = std::isfinite(error) ? error : std::numeric_limits<double>::max();
  }
  return each;
}

// Return the smallest denormal of the dtype in which floats are computed.
double denormal(DType dtype) {
  return dtype == kFloat64 ? std::numeric_limits<double>::denorm_min()
                           : static_cast<double>(std::numeric_limits<float>::denorm_min());
}

// Operands are read only for functions whose bound depends on them.
using Values = std::function<Numbers()>;

Bound bound_of_function(BinaryOp op, const Operand& y, const Values& a, const Values& b) {
  const auto each = [&](double ulps, const auto& f) {
    return Bound{ulps, 0,
                 by_element(y, a(), b(), {}, [&](double u, double v, double) { return f(u, v); })};
  };
  switch (op) {
    case BinaryOp::pow:
      // A product of the exponent and a logarithm, rounded, is an exponent.
      return each(5, [](double u, double v) {
        const double power = std::pow(u, v);
        return power == 0 || u == 0 ? 0 : abs(power * v * std::log(abs(u)));
      });
    case BinaryOp::atan2:
    case BinaryOp::hypot:
    case BinaryOp::xlogy:
      return {5};
    case BinaryOp::logaddexp:
    case BinaryOp::logaddexp2:
      return each(5, [](double u, double v) { return 2 * max({1., abs(u), abs(v)}); });
    case BinaryOp::zeta:
      return {64, 64 * epsilon(y.dtype())};
    case BinaryOp::relu_grad:
      return {};
    case BinaryOp::sigmoid_grad:
    case BinaryOp::tanh_grad:
      // 1 - b may cancel.
      return each(4, [](double u, double v) { return 2 * abs(u) * (1 + v * v); });
    case BinaryOp::gelu_grad:
      return each(5, [](double u, double v) { return 4 * abs(u) * max(1., abs(v)); });
    case BinaryOp::gelu_tanh_grad:
    case BinaryOp::silu_grad:
    case BinaryOp::mish_grad:
      return each(8, [](double u, double v) { return 8 * abs(u) * max(1., abs(v)); });
    case BinaryOp::logit_loss:
      return each(8, [](double u, double v) { return 4 * max(1., abs(u)) * max(1., abs(v)); });
    case BinaryOp::hardswish_grad:
      return each(2, [](double u, double v) { return abs(u) * max(1., abs(v)); });
    case BinaryOp::selu_grad:
    case BinaryOp::logsigmoid_grad:
    case BinaryOp::elu:
      return {8};
    case BinaryOp::celu:
    case BinaryOp::softplus:
      // The exponent is rounded.
      return each(24, [](double u, double) { return abs(u) * std::exp(-abs(u)); });
    case BinaryOp::smooth_l1:
    case BinaryOp::huber:
      return {3};
    default:
      return {1};
  }
}

}  // namespace

Bound unary_bound(const Call& call, const Operand& y) {
  const DType dtype = y.dtype();
  const double eps = epsilon(dtype);
  if (eps == 0) return {};
  switch (call.parameter<UnaryOp>(0)) {
    case UnaryOp::neg:
    case UnaryOp::abs:
    case UnaryOp::sign:
    case UnaryOp::relu:
    case UnaryOp::floor:
    case UnaryOp::ceil:
    case UnaryOp::round:
    case UnaryOp::trunc:
    case UnaryOp::frac:
      return {};
    case UnaryOp::gelu:
      // x / 2 * (1 + erf(x / sqrt 2)): erf near -1 is exact to half an ulp of 1.
      return {5, 0,
              by_element(y, call.operand(1).values_before(), {}, {},
                         [](double x, double, double) { return abs(x); })};
    case UnaryOp::gelu_tanh:
      return {8, eps};
    case UnaryOp::lgamma:
    case UnaryOp::digamma:
      return {8, 16 * eps};
    case UnaryOp::i1:
    case UnaryOp::i1e:
      return {16};
    case UnaryOp::erfcx:
      return {12};
    case UnaryOp::ndtri:
      return {12, eps};
    case UnaryOp::sinc:
      return {5, 2 * eps};
    case UnaryOp::logit:
    case UnaryOp::sin:
    case UnaryOp::cos:
      return {5, eps};
    case UnaryOp::sigmoid:
      return {5, std::numeric_limits<double>::min()};
    case UnaryOp::hardsigmoid:
    case UnaryOp::hardswish:
      return {3};
    case UnaryOp::silu:
    case UnaryOp::mish:
      return {10, 1000 * denormal(dtype)};
    case UnaryOp::selu:
    case UnaryOp::logsigmoid:
      return {10, denormal(dtype)};
    default:
      return {5};
  }
}

Bound binary_bound(const Call& call, const Operand& y) {
  if (epsilon(y.dtype()) == 0) return {};
  return bound_of_function(
      call.parameter<BinaryOp>(0), y, [&] { return call.operand(1).values_before(); },
      [&] { return call.operand(2).values_before(); });
}

Bound binary_scalar_bound(const Call& call, const Operand& y) {
  if (epsilon(y.dtype()) == 0) return {};
  const auto& number = call.parameter<ScalarOperand>(0);
  const Values x = [&] { return call.operand(1).values_before(); };
  const Values all = [&] {
    return Numbers(static_cast<size_t>(y.numel()), number.value.toDouble());
  };
  return bound_of_function(call.parameter<BinaryOp>(1), y, number.first ? all : x,
                           number.first ? x : all);
}

Bound ternary_bound(const Call& call, const Operand& y) {
  if (epsilon(y.dtype()) == 0) return {};
  const auto each = [&](double ulps, const auto& f) {
    const Operand& third = call.operand(3);
    const Numbers a = call.operand(1).values_before();
    const Numbers c = third.is_defined() ? third.values_before()
                                         : Numbers(a.size(), call.parameter<Scalar>(0).toDouble());
    return Bound{ulps, 0, by_element(y, a, call.operand(2).values_before(), c, f)};
  };
  switch (call.parameter<TernaryOp>(1)) {
    case TernaryOp::add_scaled:
      return each(1, [](double, double b, double c) { return abs(b * c); });
    case TernaryOp::lerp:
      return each(8, [](double a, double b, double c) {
        return 2 * max(abs(a), abs(b)) * max(1., abs(c));
      });
    case TernaryOp::maximum_grad:
    case TernaryOp::minimum_grad:
      return {};
    case TernaryOp::leaky_relu_grad:
    case TernaryOp::smooth_l1_grad:
    case TernaryOp::huber_grad:
      return {2};
    case TernaryOp::logit_loss_grad:
      return each(8, [](double a, double, double c) { return 8 * abs(a) * max(1., abs(c)); });
    case TernaryOp::pow_base_grad:
    case TernaryOp::pow_exponent_grad:
      return each(24, [](double a, double b, double c) {
        if (b == 0) return 0.;
        const double log = max(1., abs(c)) * max(1., abs(std::log(abs(b))));
        return abs(a * std::pow(abs(b), c)) * log * log;
      });
    case TernaryOp::tan_grad:
      return each(3, [](double a, double b, double c) { return abs(a) * (b * b + abs(c)); });
    case TernaryOp::sin_grad:
    case TernaryOp::cos_grad:
      return each(8, [](double a, double, double c) { return abs(a * c); });
    case TernaryOp::asin_grad:
      // 1 - b^2 cancels near 1.
      return each(16, [](double a, double b, double c) {
        const double rest = abs(1 - b * b);
        return 2 * abs(a * c) * b * b / (rest * std::sqrt(rest));
      });
    case TernaryOp::lgamma_grad:
      return each(10, [](double a, double, double c) { return 16 * abs(a * c); });
    case TernaryOp::expm1_grad:
    case TernaryOp::log1p_grad:
    case TernaryOp::asinh_grad:
      return {16};
    case TernaryOp::binary_cross_entropy_grad:
      return {8};
    case TernaryOp::erf_grad:
    case TernaryOp::erfinv_grad: {
      // The exponent is rounded.
      const double sign = call.parameter<TernaryOp>(1) == TernaryOp::erf_grad ? -1 : 1;
      return each(16, [sign](double a, double b, double c) {
        return abs(a * c) * b * b * std::exp(sign * b * b);
      });
    }
    case TernaryOp::i0_grad:
      return {18};
    default:
      return {16};
  }
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
