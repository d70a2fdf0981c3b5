// Elementwise ops of one operand: one function for floats, one for integers, one for ops with bool
// results.
#include <ambit/backend/reference.h>
#include <ambit/error.h>
#include <fmt/format.h>

#include <cmath>
#include <type_traits>

#include "activations.h"
#include "runs.h"
#include "special_functions.h"
#include "strided_loop.h"

namespace ambit::reference {
namespace {

[[noreturn]] void throw_dtype(UnaryOp op, DType d) {
  throw DTypeError(
      fmt::format("{}: expected a dtype that it is defined for, got {}", name(op), name(d)));
}

// float32 is computed in float64 and rounded once.
double map_real(UnaryOp op, double x) {
  // clang-format off
  switch (op) {
    case UnaryOp::neg: return -x;
    case UnaryOp::abs: return std::fabs(x);
    case UnaryOp::sign: return (0 < x) - (x < 0);  // 0 for NaN, as in PyTorch
    case UnaryOp::exp: return std::exp(x);
    case UnaryOp::exp2: return std::exp2(x);
    case UnaryOp::expm1: return std::expm1(x);
    case UnaryOp::log: return std::log(x);
    case UnaryOp::log1p: return std::log1p(x);
    case UnaryOp::log2: return std::log2(x);
    case UnaryOp::log10: return std::log10(x);
    case UnaryOp::sqrt: return std::sqrt(x);
    case UnaryOp::rsqrt: return 1 / std::sqrt(x);
    case UnaryOp::reciprocal: return 1 / x;
    case UnaryOp::square: return x * x;
    case UnaryOp::sin: return std::sin(x);
    case UnaryOp::cos: return std::cos(x);
    case UnaryOp::tan: return std::tan(x);
    case UnaryOp::asin: return std::asin(x);
    case UnaryOp::acos: return std::acos(x);
    case UnaryOp::atan: return std::atan(x);
    case UnaryOp::sinh: return std::sinh(x);
    case UnaryOp::cosh: return std::cosh(x);
    case UnaryOp::tanh: return std::tanh(x);
    case UnaryOp::sigmoid: return sigmoid(x);
    case UnaryOp::relu: return x < 0 ? 0 : x;  // keeps NaN
    case UnaryOp::gelu: return gelu(x);
    case UnaryOp::gelu_tanh: return gelu_tanh(x);
    case UnaryOp::silu: return silu(x);
    case UnaryOp::mish: return x * std::tanh(std::log1p(std::exp(x)));
    case UnaryOp::selu: return selu(x);
    case UnaryOp::logsigmoid: return log_sigmoid(x);
    case UnaryOp::hardsigmoid: return hard_sigmoid(x);
    case UnaryOp::hardswish: return x * hard_sigmoid(x);
    case UnaryOp::asinh: return std::asinh(x);
    case UnaryOp::acosh: return std::acosh(x);
    case UnaryOp::atanh: return std::atanh(x);
    case UnaryOp::erf: return std::erf(x);
    case UnaryOp::erfc: return std::erfc(x);
    case UnaryOp::erfinv: return inverse_erf(x);
    case UnaryOp::lgamma: return static_cast<double>(std::lgamma(static_cast<long double>(x)));
    case UnaryOp::digamma: return digamma(x);
    case UnaryOp::i0: return bessel_i(0, x);
    case UnaryOp::i1: return bessel_i(1, x);
    case UnaryOp::sinc: return sinc(x);
    case UnaryOp::logit: return logit(x);
    case UnaryOp::erfcx: return scaled_erfc(x);
    case UnaryOp::i0e: return scaled_bessel_i(0, x);
    case UnaryOp::i1e: return scaled_bessel_i(1, x);
    case UnaryOp::ndtri: return inverse_normal_cdf(x);
    case UnaryOp::frac: return x - std::trunc(x);
    case UnaryOp::floor: return std::floor(x);
    case UnaryOp::ceil: return std::ceil(x);
    case UnaryOp::round: return std::nearbyint(x);  // half to even
    case UnaryOp::trunc: return std::trunc(x);
    default: throw_dtype(op, kFloat64);
  }
  // clang-format on
}

// Computed in uint64, which wraps; narrowing then gives the narrower type's wrap-around.
template <class T>
T map_integer(UnaryOp op, T x) {
  const auto u = static_cast<uint64_t>(x);
  // clang-format off
  switch (op) {
    case UnaryOp::neg: return static_cast<T>(0 - u);
    case UnaryOp::abs: return static_cast<T>(x < 0 ? 0 - u : u);
    case UnaryOp::sign: return static_cast<T>((x > 0) - (x < 0));
    case UnaryOp::square: return static_cast<T>(u * u);
    case UnaryOp::relu: return x < 0 ? T{0} : x;
    case UnaryOp::bitwise_not: return static_cast<T>(~u);
    default: throw_dtype(op, dtype_of<T>);
  }
  // clang-format on
}

template <class T>
T map(UnaryOp op, T x) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(map_real(op, x));
  } else if constexpr (std::is_same_v<T, bool>) {
    if (op != UnaryOp::bitwise_not) throw_dtype(op, kBool);
    return !x;
  } else {
    return map_integer(op, x);
  }
}

bool is_question(UnaryOp op) { return row_of(op).result == FunctionRow::Result::boolean; }

template <class T>
bool answer(UnaryOp op, T x) {
  if (op == UnaryOp::logical_not) return x == T{0};
  if (op == UnaryOp::signbit) return std::signbit(static_cast<double>(x));
  if constexpr (std::is_floating_point_v<T>) {
    if (op == UnaryOp::isnan) return std::isnan(x);
    return op == UnaryOp::isinf ? std::isinf(x) : std::isfinite(x);
  } else {
    return op == UnaryOp::isfinite;
  }
}

}  // namespace

void unary(Tensor& y, const Tensor& x, const UnaryOp& op) {
  count_run();
  visit(x.dtype(), [&]<class T>() {
    const T* px = x.data_ptr<T>();
    if (is_question(op)) {
      bool* py = y.data_ptr<bool>();
      strided_loop(y.sizes(), {y.strides(), x.strides()},
                   [&](int64_t i, int64_t j) { py[i] = answer(op, px[j]); });
    } else {
      T* py = y.data_ptr<T>();
      strided_loop(y.sizes(), {y.strides(), x.strides()},
                   [&](int64_t i, int64_t j) { py[i] = map(op, px[j]); });
    }
  });
}

}  // namespace ambit::reference
