// What every elementwise op does to one element, for the device and, in tests, the host. As in
// `reference`, but that floats are computed in their own precision.
#pragma once

#include <ambit/dtype.h>
#include <ambit/params.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "backends/cuda/runtime/fault.h"

namespace ambit::cuda {

inline constexpr double kSqrtHalf = 0.70710678118654752440, kTwoOverSqrtPi = 1.12837916709551257390;

/// y = op(x) of a float. Each op is a kernel of its own: only what it needs takes registers.
template <UnaryOp op, class T>
AMBIT_HOST_DEVICE T map_real(T x) {
  using enum UnaryOp;
  // clang-format off
  if constexpr (op == neg) return -x;
  else if constexpr (op == UnaryOp::abs) return std::fabs(x);
  else if constexpr (op == sign) return static_cast<T>((0 < x) - (x < 0));  // of NaN: 0
  else if constexpr (op == UnaryOp::exp) return std::exp(x);
  else if constexpr (op == UnaryOp::expm1) return std::expm1(x);
  else if constexpr (op == UnaryOp::log) return std::log(x);
  else if constexpr (op == UnaryOp::log1p) return std::log1p(x);
  else if constexpr (op == UnaryOp::log2) return std::log2(x);
  else if constexpr (op == UnaryOp::log10) return std::log10(x);
  else if constexpr (op == UnaryOp::sqrt) return std::sqrt(x);
  else if constexpr (op == rsqrt) return 1 / std::sqrt(x);
  else if constexpr (op == reciprocal) return 1 / x;
  else if constexpr (op == square) return x * x;
  else if constexpr (op == UnaryOp::sin) return std::sin(x);
  else if constexpr (op == UnaryOp::cos) return std::cos(x);
  else if constexpr (op == UnaryOp::tan) return std::tan(x);
  else if constexpr (op == UnaryOp::asin) return std::asin(x);
  else if constexpr (op == UnaryOp::acos) return std::acos(x);
  else if constexpr (op == UnaryOp::atan) return std::atan(x);
  else if constexpr (op == UnaryOp::sinh) return std::sinh(x);
  else if constexpr (op == UnaryOp::cosh) return std::cosh(x);
  else if constexpr (op == UnaryOp::tanh) return std::tanh(x);
  else if constexpr (op == sigmoid) return 1 / (1 + std::exp(-x));
  else if constexpr (op == relu) return x < 0 ? 0 : x;  // NaN stays
  else if constexpr (op == gelu) return x * T(0.5) * std::erfc(-x * T(kSqrtHalf));
  else if constexpr (op == UnaryOp::erf) return std::erf(x);
  else if constexpr (op == UnaryOp::floor) return std::floor(x);
  else if constexpr (op == UnaryOp::ceil) return std::ceil(x);
  else if constexpr (op == UnaryOp::round) return std::nearbyint(x);  // halves to even
  else return std::trunc(x);
  // clang-format on
}

/// y = op(x) of an integer or bool. Unsigned 64 bits wrap, and narrow to the type's own
/// wrap-around.
template <class T>
AMBIT_HOST_DEVICE T map_integer(UnaryOp op, T x) {
  const int64_t i = x;
  const auto u = static_cast<uint64_t>(i);
  // clang-format off
  switch (op) {
    case UnaryOp::neg: return static_cast<T>(0 - u);
    case UnaryOp::abs: return static_cast<T>(i < 0 ? 0 - u : u);
    case UnaryOp::sign: return static_cast<T>((i > 0) - (i < 0));
    case UnaryOp::square: return static_cast<T>(u * u);
    case UnaryOp::relu: return i < 0 ? T{0} : x;
    default: break;
  }
  // clang-format on
  if constexpr (std::is_same_v<T, bool>) {
    return !x;
  } else {
    return static_cast<T>(~u);
  }
}

/// The ops that ask a question.
template <class T>
AMBIT_HOST_DEVICE bool answer(UnaryOp op, T x) {
  if (op == UnaryOp::logical_not) return x == T{0};
  if constexpr (std::is_floating_point_v<T>) {
    if (op == UnaryOp::isnan) return std::isnan(x);
    return op == UnaryOp::isinf ? std::isinf(x) : std::isfinite(x);
  } else {
    return op == UnaryOp::isfinite;
  }
}

/// The sign of b, as Python's %.
template <class T>
AMBIT_HOST_DEVICE T remainder_real(T a, T b) {
  const T r = std::fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

/// As Python's //: the floor of the exact quotient, which the rounded a / b may miss.
/// Source: div_floor_floating in PyTorch's aten/src/ATen/native/BinaryOps.h.
AMBIT_HOST_DEVICE inline double floor_divide_real(double a, double b) {
  if (b == 0) return a / b;
  const double r = std::fmod(a, b);
  double quotient = (a - r) / b;  // whole but for rounding
  if (r != 0 && (r < 0) != (b < 0)) quotient -= 1;
  if (quotient == 0) return std::copysign(0.0, a / b);
  const double floor = std::floor(quotient);
  return quotient - floor > 0.5 ? floor + 1 : floor;
}

/// y = op(a, b) of floats.
template <BinaryOp op, class T>
AMBIT_HOST_DEVICE T map_real(T a, T b) {
  using enum BinaryOp;
  // clang-format off
  if constexpr (op == add) return a + b;
  else if constexpr (op == sub) return a - b;
  else if constexpr (op == mul) return a * b;
  else if constexpr (op == BinaryOp::div) return a / b;
  else if constexpr (op == floor_divide) return static_cast<T>(floor_divide_real(a, b));
  else if constexpr (op == trunc_divide) return std::trunc(a / b);
  else if constexpr (op == BinaryOp::remainder) return remainder_real(a, b);
  else if constexpr (op == BinaryOp::fmod) return std::fmod(a, b);
  else if constexpr (op == BinaryOp::pow) return std::pow(a, b);
  else if constexpr (op == maximum) return a > b || std::isnan(a) ? a : b;
  else if constexpr (op == minimum) return a < b || std::isnan(a) ? a : b;
  else if constexpr (op == BinaryOp::atan2) return std::atan2(a, b);
  else if constexpr (op == relu_grad) return b <= 0 ? 0 : a;  // passes where b is NaN
  else if constexpr (op == sigmoid_grad) return a * b * (1 - b);
  else if constexpr (op == tanh_grad) return a * (1 - b * b);
  else {  // gelu_grad: a d(b Phi(b))/db, with Phi and phi the normal distribution and density
    const T cdf = T(0.5) * std::erfc(-b * T(kSqrtHalf));
    const T density = std::exp(T(-0.5) * b * b) * T(0.5 * kSqrtHalf * kTwoOverSqrtPi);
    return a * (cdf + b * density);
  }
  // clang-format on
}

/// By squaring. Negative exponents: 1 / a^-b rounded to 0, which leaves only bases of 1 and -1.
AMBIT_HOST_DEVICE inline uint64_t power(int64_t base, int64_t exponent) {
  if (exponent < 0) {
    if (base == 1) return 1;
    if (base == -1) return exponent % 2 ? static_cast<uint64_t>(-1) : 1;
    return 0;
  }
  uint64_t result = 1;
  auto square = static_cast<uint64_t>(base);
  for (auto e = static_cast<uint64_t>(exponent); e > 0; e /= 2) {
    if (e % 2) result *= square;
    square *= square;
  }
  return result;
}

/// Divisions of widened integers; b is not 0. a / b may overflow for b = -1, and a % b with it.
AMBIT_HOST_DEVICE inline int64_t fmod_integer(int64_t a, int64_t b) { return b == -1 ? 0 : a % b; }
AMBIT_HOST_DEVICE inline int64_t remainder_integer(int64_t a, int64_t b) {
  const int64_t r = fmod_integer(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
AMBIT_HOST_DEVICE inline int64_t floor_divide_integer(int64_t a, int64_t b) {
  return a / b - (fmod_integer(a, b) != remainder_integer(a, b));
}

/// Whether integers divided by 0 are an error of the op.
AMBIT_HOST_DEVICE constexpr bool divides(BinaryOp op) {
  return op == BinaryOp::floor_divide || op == BinaryOp::trunc_divide ||
         op == BinaryOp::remainder || op == BinaryOp::fmod;
}

/// y = op(a, b) of integers, but where that is undefined: then it is reported, and y is 0.
template <class T>
AMBIT_HOST_DEVICE uint64_t map_integer(BinaryOp op, T a, T b, const FaultSink& faults) {
  const auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  const int64_t ia = a, ib = b;
  if (divides(op)) {
    if (b == 0) {
      faults.report(FaultKind::divisor, 0, 0);
      return 0;
    }
    if constexpr (std::is_signed_v<T>) {
      const bool quotient = op == BinaryOp::floor_divide || op == BinaryOp::trunc_divide;
      if (quotient && b == -1 && a == std::numeric_limits<T>::min()) {
        faults.report(FaultKind::quotient, a, static_cast<int64_t>(dtype_of<T>));
        return 0;
      }
    }
  }
  // clang-format off
  switch (op) {
    case BinaryOp::add: return ua + ub;
    case BinaryOp::sub: return ua - ub;
    case BinaryOp::mul: return ua * ub;
    case BinaryOp::floor_divide: return static_cast<uint64_t>(floor_divide_integer(ia, ib));
    case BinaryOp::trunc_divide: return static_cast<uint64_t>(ia / ib);
    case BinaryOp::remainder: return static_cast<uint64_t>(remainder_integer(ia, ib));
    case BinaryOp::fmod: return static_cast<uint64_t>(fmod_integer(ia, ib));
    case BinaryOp::pow: return power(ia, ib);
    case BinaryOp::maximum: return a > b ? ua : ub;
    case BinaryOp::minimum: return a < b ? ua : ub;
    case BinaryOp::bitwise_and: return ua & ub;
    case BinaryOp::bitwise_or: return ua | ub;
    default: return ua ^ ub;
  }
  // clang-format on
}

/// A comparison as a table: bit 0 is a < b, bit 1 a == b, bit 2 a > b, bit 3 none of them (NaN).
/// Logic of two truths likewise: bit 0 neither, bit 1 b alone, bit 2 a alone, bit 3 both.
struct Relation {
  explicit Relation(CompareOp op) {
    // clang-format off
    switch (op) {
      case CompareOp::lt: table = 0b0001; break;
      case CompareOp::eq: table = 0b0010; break;
      case CompareOp::gt: table = 0b0100; break;
      case CompareOp::le: table = 0b0011; break;
      case CompareOp::ge: table = 0b0110; break;
      case CompareOp::ne: table = 0b1101; break;
      case CompareOp::logical_and: table = 0b1000; logical = true; break;
      case CompareOp::logical_or: table = 0b1110; logical = true; break;
      case CompareOp::logical_xor: table = 0b0110; logical = true; break;
    }
    // clang-format on
  }
  template <class T>
  AMBIT_HOST_DEVICE bool operator()(T a, T b) const {
    const int row = logical  ? 2 * (a != T{0}) + (b != T{0})
                    : a < b  ? 0
                    : a == b ? 1
                    : a > b  ? 2
                             : 3;
    return (table >> row) & 1;
  }

  unsigned table = 0;
  bool logical = false;
};

/// static_cast, but defined for every value: a float goes to an integer by way of int64, which
/// wraps; NaN and what int64 cannot hold give the least int64, as x86 does.
template <class To, class From>
AMBIT_HOST_DEVICE To convert(From x) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> &&
                !std::is_same_v<To, bool>) {
    const bool fits = x >= From(-0x1p63) && x < From(0x1p63);
    return static_cast<To>(fits ? static_cast<int64_t>(x) : INT64_MIN);
  } else {
    return static_cast<To>(x);
  }
}

}  // namespace ambit::cuda
