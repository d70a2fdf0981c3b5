// Elementwise ops of two operands of one dtype, and the gradients of unary ops.
#include <ambit/backend/reference.h>
#include <ambit/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>

#include "activations.h"
#include "convert.h"
#include "runs.h"
#include "special_functions.h"
#include "strided_loop.h"

namespace ambit::reference {
namespace {

[[noreturn]] void throw_dtype(BinaryOp op, DType d) {
  throw DTypeError(
      fmt::format("{}: expected a dtype that it is defined for, got {}", name(op), name(d)));
}

// Remainder with the sign of b, as Python's %.
double remainder(double a, double b) {
  const double r = std::fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

// As Python's //: the floor of the exact quotient, from which the rounded a / b may differ. Source:
// div_floor_floating in PyTorch's aten/src/ATen/native/BinaryOps.h.
double floor_divide(double a, double b) {
  if (b == 0) return a / b;
  const double r = std::fmod(a, b);
  double quotient = (a - r) / b;  // an integer up to rounding
  if (r != 0 && (r < 0) != (b < 0)) quotient -= 1;
  if (quotient == 0) return std::copysign(0.0, a / b);
  const double floor = std::floor(quotient);
  return quotient - floor > 0.5 ? floor + 1 : floor;
}

// Computed in long double, so that scaling for logaddexp2 loses no digit of a double.
long double log_add_exp(long double a, long double b) {
  const long double more = std::max(a, b), less = std::min(a, b);
  if (std::isnan(a) || std::isnan(b)) return a + b;
  if (std::isinf(more)) return more;
  return more + std::log1p(std::exp(less - more));
}
constexpr long double kLn2 = 0.693147180559945309417232121458L;

// float32 is computed in float64 and rounded once, except where that would move a discontinuity.
template <class T>
double map_real(BinaryOp op, double a, double b) {
  // clang-format off
  switch (op) {
    case BinaryOp::add: return a + b;
    case BinaryOp::sub: return a - b;
    case BinaryOp::mul: return a * b;
    case BinaryOp::div: return a / b;
    case BinaryOp::floor_divide: return floor_divide(a, b);
    case BinaryOp::trunc_divide: return std::trunc(static_cast<T>(a / b));
    case BinaryOp::remainder: return remainder(a, b);
    case BinaryOp::fmod: return std::fmod(a, b);
    case BinaryOp::pow: return std::pow(a, b);
    case BinaryOp::maximum: return a >= b || std::isnan(a) ? a : b;
    case BinaryOp::minimum: return a <= b || std::isnan(a) ? a : b;
    case BinaryOp::atan2: return std::atan2(a, b);
    case BinaryOp::fmax: return std::fmax(a, b);
    case BinaryOp::fmin: return std::fmin(a, b);
    case BinaryOp::hypot: return std::hypot(a, b);
    case BinaryOp::copysign: return std::copysign(a, b);
    case BinaryOp::nextafter: return std::nextafter(static_cast<T>(a), static_cast<T>(b));
    case BinaryOp::xlogy: return std::isnan(b) ? b : a == 0 ? 0 : a * std::log(b);
    case BinaryOp::logaddexp: return static_cast<double>(log_add_exp(a, b));
    case BinaryOp::logaddexp2: return static_cast<double>(log_add_exp(a * kLn2, b * kLn2) / kLn2);
    case BinaryOp::heaviside: return a == 0 ? b : a > 0 ? 1 : 0;
    case BinaryOp::zeta: return zeta(a, b);
    case BinaryOp::relu_grad: return b <= 0 ? 0 : a;  // passes at NaN, as in PyTorch
    case BinaryOp::sigmoid_grad: return a * b * (1 - b);
    case BinaryOp::tanh_grad: return a * (1 - b * b);
    case BinaryOp::gelu_grad: return gelu_grad(a, b);
    case BinaryOp::gelu_tanh_grad: return gelu_tanh_grad(a, b);
    case BinaryOp::silu_grad: return silu_grad(a, b);
    case BinaryOp::mish_grad: return mish_grad(a, b);
    case BinaryOp::selu_grad: return selu_grad(a, b);
    case BinaryOp::logsigmoid_grad: return a * sigmoid(-b);
    case BinaryOp::hardsigmoid_grad: return b > -3 && b < 3 ? a / 6 : 0;
    case BinaryOp::hardswish_grad: return hardswish_grad(a, b);
    case BinaryOp::elu: return a <= 0 ? b * std::expm1(a) : a;
    case BinaryOp::celu: return a <= 0 ? b * std::expm1(a / b) : a;
    case BinaryOp::leaky_relu: return a > 0 ? a : b * a;
    case BinaryOp::softplus: return softplus(a, b);
    case BinaryOp::smooth_l1: return smooth_l1(a, b);
    case BinaryOp::huber: return huber(a, b);
    case BinaryOp::logit_loss: return logit_loss(a, b);
    default: throw_dtype(op, kFloat64);
  }
  // clang-format on
}

// Computed by repeated squaring. For negative exponents the result is 1 / a^-b rounded to 0, which
// is nonzero only for bases 1 and -1.
template <class T>
uint64_t power(T base, T exponent) {
  if (exponent < 0) {
    if (base == 1) return 1;
    if (base == static_cast<T>(-1)) return exponent % 2 ? static_cast<uint64_t>(-1) : 1;
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

// Division of integers converted to int64; b is not 0. The CPU traps if a / b overflows, also for a
// % b.
int64_t fmod(int64_t a, int64_t b) { return b == -1 ? 0 : a % b; }
int64_t remainder(int64_t a, int64_t b) {
  const int64_t r = fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
int64_t floor_divide(int64_t a, int64_t b) { return a / b - (fmod(a, b) != remainder(a, b)); }

uint64_t magnitude(int64_t x) { return x < 0 ? 0 - static_cast<uint64_t>(x) : x; }
uint64_t least_multiple(uint64_t a, uint64_t b) {
  return a == 0 || b == 0 ? 0 : a / std::gcd(a, b) * b;
}
// Return true if a shift by `places` shifts out all bits of a T.
template <class T>
bool shifts_all(int64_t places) {
  return places < 0 || places >= static_cast<int64_t>(8 * sizeof(T));
}

// Computed in uint64, which wraps; narrowing then gives the narrower type's wrap-around.
template <class T>
uint64_t map_integer(BinaryOp op, T a, T b) {
  const auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  const int64_t ia = a, ib = b;
  // clang-format off
  switch (op) {
    case BinaryOp::add: return ua + ub;
    case BinaryOp::sub: return ua - ub;
    case BinaryOp::mul: return ua * ub;
    case BinaryOp::floor_divide: return floor_divide(ia, ib);
    case BinaryOp::trunc_divide: return ia / ib;
    case BinaryOp::remainder: return remainder(ia, ib);
    case BinaryOp::fmod: return fmod(ia, ib);
    case BinaryOp::pow: return power(a, b);
    case BinaryOp::maximum: return a > b ? ua : ub;
    case BinaryOp::minimum: return a < b ? ua : ub;
    case BinaryOp::fmax: return a > b ? ua : ub;
    case BinaryOp::fmin: return a < b ? ua : ub;
    case BinaryOp::heaviside: return a == 0 ? ub : a > 0;
    case BinaryOp::gcd: return std::gcd(magnitude(ia), magnitude(ib));
    case BinaryOp::lcm: return least_multiple(magnitude(ia), magnitude(ib));
    case BinaryOp::left_shift: return shifts_all<T>(ib) ? 0 : ua << ib;
    case BinaryOp::right_shift: return static_cast<uint64_t>(ia >> (shifts_all<T>(ib) ? 63 : ib));
    case BinaryOp::bitwise_and: return ua & ub;
    case BinaryOp::bitwise_or: return ua | ub;
    case BinaryOp::bitwise_xor: return ua ^ ub;
    default: throw_dtype(op, dtype_of<T>);
  }
  // clang-format on
}

template <class T>
T map(BinaryOp op, T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(map_real<T>(op, a, b));
  } else if constexpr (std::is_same_v<T, bool>) {
    return map_integer<uint8_t>(op, a, b) != 0;  // so add is "or"
  } else {
    return static_cast<T>(map_integer(op, a, b));
  }
}

// Throw if the integer division of a by b is invalid.
template <class T>
void check_division(BinaryOp op, T a, T b) {
  if (b == 0) throw Error(fmt::format("{}: expected a divisor other than 0, got 0", name(op)));
  if constexpr (std::is_signed_v<T>) {
    constexpr T kLeast = std::numeric_limits<T>::min();
    const bool quotient = op == BinaryOp::floor_divide || op == BinaryOp::trunc_divide;
    if (quotient && a == kLeast && b == -1) {
      throw Error(fmt::format("{}: expected a quotient that fits {}, got {} / -1", name(op),
                              name(dtype_of<T>), kLeast));
    }
  }
}

bool divides(BinaryOp op) {
  return op == BinaryOp::floor_divide || op == BinaryOp::trunc_divide ||
         op == BinaryOp::remainder || op == BinaryOp::fmod;
}

// Call f(a, b, y) for all elements. Integer divisions are all checked first, so that nothing is
// written if one is invalid.
template <class T, class Loop>
void map_all(BinaryOp op, const Loop& loop) {
  if (!std::is_floating_point_v<T> && divides(op)) {
    loop([&](T a, T b, T&) { check_division(op, a, b); });
  }
  loop([&](T a, T b, T& y) { y = map(op, a, b); });
}

}  // namespace

void binary(Tensor& y, const Tensor& a, const Tensor& b, const BinaryOp& op) {
  count_run();
  visit(y.dtype(), [&]<class T>() {
    T* py = y.data_ptr<T>();
    const T* pa = a.data_ptr<T>();
    const T* pb = b.data_ptr<T>();
    map_all<T>(op, [&](auto f) {
      strided_loop(y.sizes(), {y.strides(), a.strides(), b.strides()},
                   [&](int64_t i, int64_t j, int64_t k) { f(pa[j], pb[k], py[i]); });
    });
  });
}

void binary_scalar(Tensor& y, const Tensor& x, const ScalarOperand& number, const BinaryOp& op) {
  count_run();
  visit(y.dtype(), [&]<class T>() {
    T* py = y.data_ptr<T>();
    const T* px = x.data_ptr<T>();
    const T v = element_of<T>(number.value);
    map_all<T>(op, [&](auto f) {
      strided_loop(y.sizes(), {y.strides(), x.strides()}, [&](int64_t i, int64_t j) {
        number.first ? f(v, px[j], py[i]) : f(px[j], v, py[i]);
      });
    });
  });
}

void clamp(Tensor& y, const Tensor& x, const std::optional<Scalar>& min,
           const std::optional<Scalar>& max) {
  count_run();
  visit(y.dtype(), [&]<class T>() {
    T* py = y.data_ptr<T>();
    const T* px = x.data_ptr<T>();
    strided_loop(y.sizes(), {y.strides(), x.strides()}, [&](int64_t i, int64_t j) {
      T v = px[j];
      if (min) v = map(BinaryOp::maximum, v, element_of<T>(*min));
      if (max) v = map(BinaryOp::minimum, v, element_of<T>(*max));
      py[i] = v;
    });
  });
}

void clamp_grad(Tensor& dx, const Tensor& dy, const Tensor& x, const std::optional<Scalar>& min,
                const std::optional<Scalar>& max, bool passes_nan) {
  count_run();
  visit<dtypes::kFloating>(dx.dtype(), [&]<class T>() {
    T* pdx = dx.data_ptr<T>();
    const T *pdy = dy.data_ptr<T>(), *px = x.data_ptr<T>();
    strided_loop(dx.sizes(), {dx.strides(), dy.strides(), x.strides()},
                 [&](int64_t i, int64_t j, int64_t k) {
                   const T v = px[k];
                   bool inside = true;
                   if (min) {
                     const T low = element_of<T>(*min);
                     inside = passes_nan ? !(v <= low) : v > low;
                   }
                   if (max && inside) {
                     const T high = element_of<T>(*max);
                     inside = passes_nan ? !(v >= high) : v < high;
                   }
                   pdx[i] = inside ? pdy[j] : T{0};
                 });
  });
}

}  // namespace ambit::reference
