// Elementwise ops of three operands of one dtype, or of two and a number: a scaled sum, and
// gradients of ops with a parameter, of losses and of binary ops.
#include <ambit/backend/reference.h>
#include <ambit/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "activations.h"
#include "convert.h"
#include "runs.h"
#include "special_functions.h"
#include "strided_loop.h"

namespace ambit::reference {
namespace {

// The derivative of softplus is the sigmoid; 1 above the threshold, where softplus is the identity.
double softplus_grad(double dy, double x, double beta) {
  return x * beta > arithmetic::kSoftplusThreshold ? dy : dy * sigmoid(x * beta);
}

// Gradient of a loss that is quadratic for |d| < limit and linear beyond.
double limited(double dy, double d, double limit, double slope) {
  if (d <= -limit) return -dy * slope * limit;
  return d >= limit ? dy * slope * limit : dy * slope * d;
}

double pow_base_grad(double dy, double x, double e) {
  return e == 0 ? 0 : dy * e * std::pow(x, e - 1);
}
double pow_exponent_grad(double dy, double x, double e) {
  return x == 0 && e >= 0 ? 0 : dy * std::pow(x, e) * std::log(x);
}

// Return a / (a^2 + b^2), 0 at (0, 0).
double angle_slope(double a, double b) {
  const double length = std::hypot(a, b);
  return length == 0 ? 0 : a / length / length;
}
// Computed from the nearer end, so that it is exact at both ends and no difference overflows.
double lerp(double a, double b, double weight) {
  const double half = b / 2 - a / 2;
  return std::fabs(weight) < 0.5 ? a + weight * half * 2 : b - (1 - weight) * half * 2;
}

// float32 is computed in float64 and rounded once.
double map_real(TernaryOp op, double a, double b, double c) {
  // clang-format off
  switch (op) {
    case TernaryOp::add_scaled: return a + c * b;
    case TernaryOp::lerp: return lerp(a, b, c);
    case TernaryOp::elu_grad: return b <= 0 ? a * c * std::exp(b) : a;
    case TernaryOp::celu_grad: return b <= 0 ? a * std::exp(b / c) : a;
    case TernaryOp::leaky_relu_grad: return b > 0 ? a : a * c;
    case TernaryOp::softplus_grad: return softplus_grad(a, b, c);
    case TernaryOp::smooth_l1_grad: return limited(a, b, c, 1 / c);
    case TernaryOp::huber_grad: return limited(a, b, c, 1);
    case TernaryOp::logit_loss_grad: return a * (b < 0 ? sigmoid(b) - c : 1 - c - sigmoid(-b));
    case TernaryOp::maximum_grad: return b < c ? 0 : b == c ? a / 2 : a;
    case TernaryOp::minimum_grad: return b > c ? 0 : b == c ? a / 2 : a;
    case TernaryOp::pow_base_grad: return pow_base_grad(a, b, c);
    case TernaryOp::pow_exponent_grad: return pow_exponent_grad(a, b, c);
    case TernaryOp::logaddexp_grad: return a / (1 + std::exp(c - b));
    case TernaryOp::abs_grad: return a * c * ((b > 0) - (b < 0));
    case TernaryOp::square_grad: return a * c * b;
    case TernaryOp::reciprocal_grad: return a * c * b * b;
    case TernaryOp::rsqrt_grad: return a * c * b * b * b;
    case TernaryOp::sqrt_grad: return a / (c * b);
    case TernaryOp::expm1_grad: return a * (b + c);
    case TernaryOp::log1p_grad: return a / (b + c);
    case TernaryOp::tan_grad: return a * (b * b + c);
    case TernaryOp::atan_grad: return a / (1 + c * b * b);
    case TernaryOp::asin_grad: return a * c / std::sqrt((1 - b) * (1 + b));
    case TernaryOp::asinh_grad: return a / std::sqrt(b * b + c);
    case TernaryOp::sin_grad: return a * c * std::cos(b);
    case TernaryOp::cos_grad: return a * c * std::sin(b);
    case TernaryOp::sinh_grad: return a * c * std::cosh(b);
    case TernaryOp::cosh_grad: return a * c * std::sinh(b);
    case TernaryOp::erf_grad: return a * c * std::exp(-b * b);
    case TernaryOp::erfinv_grad: return a * c * std::exp(b * b);
    case TernaryOp::lgamma_grad: return a * c * digamma(b);
    case TernaryOp::i0_grad: return a * c * bessel_i(1, b);
    case TernaryOp::softsign_grad: return a * c / ((1 + std::fabs(b)) * (1 + std::fabs(b)));
    case TernaryOp::div_grad: return -a * (c / b / b);
    case TernaryOp::hypot_grad: return a * (b / std::hypot(b, c));
    case TernaryOp::atan2_grad: return a * angle_slope(c, b);
    case TernaryOp::atan2_other_grad: return -a * angle_slope(b, c);
    case TernaryOp::binary_cross_entropy_grad: return a * (b - c) / std::max(b * (1 - b), 1e-12);
    case TernaryOp::glu_grad: return a * b * c * (1 - c);
  }
  // clang-format on
  return NAN;
}

// Integers wrap in uint64; a bool sum is true if any term is.
template <class T>
T map(TernaryOp op, T a, T b, T c) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(map_real(op, a, b, c));
  } else {
    if (op != TernaryOp::add_scaled) {
      throw DTypeError(fmt::format("{}: expected floats, got {}", name(op), name(dtype_of<T>)));
    }
    return static_cast<T>(static_cast<uint64_t>(a) +
                          static_cast<uint64_t>(c) * static_cast<uint64_t>(b));
  }
}

}  // namespace

void ternary(Tensor& y, const Tensor& a, const Tensor& b, const Tensor& c, const Scalar& number,
             const TernaryOp& op) {
  count_run();
  visit(y.dtype(), [&]<class T>() {
    T* py = y.data_ptr<T>();
    const T *pa = a.data_ptr<T>(), *pb = b.data_ptr<T>();
    // A number is a broadcast scalar.
    const T third = c.defined() ? T{} : element_of<T>(number);
    const T* pc = c.defined() ? c.data_ptr<T>() : &third;
    const Dims nowhere(y.sizes().size(), 0);
    const IntArrayRef steps = c.defined() ? IntArrayRef(c.strides()) : IntArrayRef(nowhere);
    strided_loop(
        y.sizes(), {y.strides(), a.strides(), b.strides(), steps},
        [&](int64_t i, int64_t j, int64_t k, int64_t l) { py[i] = map(op, pa[j], pb[k], pc[l]); });
  });
}

}  // namespace ambit::reference
