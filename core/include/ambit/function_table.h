// The functions of the kernels that are families: unary, binary, ternary, compare, reduce, scan and
// scatter_reduce. A function is one row here, which says its name, dtypes and cost; core, backends,
// tools and tests take those from the table, and never from the place of an enumerator. A row more
// makes a function more: the compiler or the linker then names every place that has to know what it
// computes.
#pragma once

#include <ambit/dtype.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace ambit {

// clang-format off
/// Maps with a public function of their name, one in place, and the two methods of Tensor;
/// row(name, dtypes, result, cost).
#define AMBIT_UNARY_MAPS(row)                                                                     \
  row(neg,          kNumbers,   same,    memory)   /* -x */                                       \
  row(abs,          kNumbers,   same,    memory)   /* |x| */                                      \
  row(sign,         kNumbers,   same,    memory)   /* -1, 0 or 1; of NaN 0 */                     \
  row(exp,          kFloating,  same,    maths)    /* e^x */                                      \
  row(exp2,         kFloating,  same,    maths)    /* 2^x */                                      \
  row(expm1,        kFloating,  same,    maths)    /* e^x - 1, exact near 0 */                    \
  row(log,          kFloating,  same,    maths)    /* to base e; of negative numbers NaN */      \
  row(log1p,        kFloating,  same,    maths)    /* log(1 + x), exact near 0 */                 \
  row(log2,         kFloating,  same,    maths)    /* logarithm to base 2 */                      \
  row(log10,        kFloating,  same,    maths)    /* logarithm to base 10 */                     \
  row(sqrt,         kFloating,  same,    maths)    /* square root; of negative numbers NaN */     \
  row(rsqrt,        kFloating,  same,    maths)    /* 1 / sqrt(x) */                              \
  row(reciprocal,   kFloating,  same,    maths)    /* 1 / x */                                    \
  row(square,       kNumbers,   same,    maths)    /* x * x; bool gives int64 */                  \
  row(sin,          kFloating,  same,    maths)    /* of radians */                               \
  row(cos,          kFloating,  same,    maths)    /* of radians */                               \
  row(tan,          kFloating,  same,    maths)    /* of radians */                               \
  row(asin,         kFloating,  same,    maths)    /* in radians; outside [-1, 1] NaN */          \
  row(acos,         kFloating,  same,    maths)    /* in radians; outside [-1, 1] NaN */          \
  row(atan,         kFloating,  same,    maths)    /* in radians, in (-pi/2, pi/2) */             \
  row(sinh,         kFloating,  same,    maths)    /* (e^x - e^-x) / 2 */                         \
  row(cosh,         kFloating,  same,    maths)    /* (e^x + e^-x) / 2 */                         \
  row(tanh,         kFloating,  same,    maths)    /* sinh(x) / cosh(x) */                        \
  row(sigmoid,      kFloating,  same,    maths)    /* 1 / (1 + e^-x) */                           \
  row(relu,         kNumbers,   same,    maths)    /* max(x, 0), NaN stays; gradient 0 at 0 */    \
  row(asinh,        kFloating,  same,    maths)    /* log(x + sqrt(x^2 + 1)) */                   \
  row(acosh,        kFloating,  same,    maths)    /* log(x + sqrt(x^2 - 1)); below 1 NaN */      \
  row(atanh,        kFloating,  same,    maths)    /* log((1 + x) / (1 - x)) / 2 */               \
  row(erf,          kFloating,  same,    maths)    /* 2 / sqrt(pi) int_0^x e^(-t^2) dt */        \
  row(erfc,         kFloating,  same,    maths)    /* 1 - erf(x), exact where that is small */    \
  row(erfinv,       kFloating,  same,    maths)    /* y with erf(y) = x; outside [-1, 1] NaN */   \
  row(lgamma,       kFloating,  same,    maths)    /* log |Gamma(x)|; inf at 0, -1, ... */        \
  row(digamma,      kFloating,  same,    maths)    /* d log Gamma(x) / dx; NaN at -1, -2, ... */  \
  row(i0,           kFloating,  same,    maths)    /* modified Bessel function of order 0 */      \
  row(sinc,         kFloating,  same,    maths)    /* sin(pi x) / (pi x); 1 at 0 */               \
  row(frac,         kFloating,  same,    memory)   /* x - trunc(x): the sign of x */              \
  row(floor,        kFloating,  same,    memory)   /* rounded down; integers as they are */       \
  row(ceil,         kFloating,  same,    memory)   /* rounded up; integers as they are */         \
  row(round,        kFloating,  same,    memory)   /* to nearest, halves to even; see floor */    \
  row(trunc,        kFloating,  same,    memory)   /* rounded to zero; integers as they are */    \
  row(bitwise_not,  kBits,      same,    memory)   /* ~x; of bool its contrary */                 \
  row(logical_not,  kAll,       truth,   memory)   /* x == 0 */

/// Maps whose public functions are written by hand; row(name, dtypes, result, cost).
#define AMBIT_UNARY_FUNCTIONS(row)                                                                \
  AMBIT_UNARY_MAPS(row)                                                                           \
  row(gelu,         kFloating,  same,    maths)    /* x Phi(x), Phi the normal distribution */    \
  row(i1,           kFloating,  same,    maths)    /* modified Bessel function of order 1 */      \
  row(logit,        kFloating,  same,    maths)    /* log(x / (1 - x)) */                         \
  row(erfcx,        kFloating,  same,    maths)    /* e^(x^2) erfc(x), no small number for any x */ \
  row(i0e,          kFloating,  same,    maths)    /* e^-|x| times i0 */                          \
  row(i1e,          kFloating,  same,    maths)    /* e^-|x| times i1 */                          \
  row(ndtri,        kFloating,  same,    maths)    /* y with Phi(y) = x; outside [0, 1] NaN */    \
  row(signbit,      kAll,       truth,   memory)   /* x < 0; of -0. and -NaN true */              \
  row(isnan,        kAll,       truth,   memory)   /* of integers false */                        \
  row(isinf,        kAll,       truth,   memory)   /* of integers false */                        \
  row(isfinite,     kAll,       truth,   memory)   /* of integers true */                         \
  row(gelu_tanh,    kFloating,  same,    maths)    /* nearly gelu, by tanh: see gelu() */         \
  row(silu,         kFloating,  same,    maths)    /* x sigmoid(x) */                             \
  row(mish,         kFloating,  same,    maths)    /* x tanh(log(1 + e^x)) */                     \
  row(selu,         kFloating,  same,    maths)    /* 1.05... (x > 0 ? x : 1.67... (e^x - 1)) */  \
  row(logsigmoid,   kFloating,  same,    maths)    /* -log(1 + e^-x), exact for large |x| */      \
  row(hardsigmoid,  kFloating,  same,    memory)   /* (x + 3) / 6, limited to [0, 1] */           \
  row(hardswish,    kFloating,  same,    memory)   /* x hardsigmoid(x) */

/// row(name, dtypes, cost, refuses).
#define AMBIT_BINARY_FUNCTIONS(row)                                                               \
  row(add,          kAll,       memory,  none)     /* a + b; of bool "or" */                      \
  row(sub,          kNumbers,   memory,  none)     /* a - b */                                    \
  row(mul,          kAll,       memory,  none)     /* a * b; of bool "and" */                     \
  row(div,          kFloating,  memory,  none)     /* a / b */                                    \
  row(floor_divide, kNumbers,   maths,   overflow) /* a / b rounded down */                       \
  row(trunc_divide, kNumbers,   maths,   overflow) /* a / b rounded to zero */                    \
  row(remainder,    kNumbers,   maths,   zero_divisor) /* a - b floor(a / b): the sign of b */    \
  row(fmod,         kNumbers,   maths,   zero_divisor) /* a - b trunc(a / b): the sign of a */    \
  row(pow,          kNumbers,   maths,   none)     /* a^b; integers wrap, 1 / a^-b truncated */   \
  row(maximum,      kAll,       memory,  none)     /* the larger; NaN wins */                     \
  row(minimum,      kAll,       memory,  none)     /* the smaller; NaN wins */                    \
  row(atan2,        kFloating,  maths,   none)     /* the angle of the point (b, a) in radians */ \
  row(fmax,         kAll,       memory,  none)     /* the larger; NaN loses */                    \
  row(fmin,         kAll,       memory,  none)     /* the smaller; NaN loses */                   \
  row(hypot,        kFloating,  maths,   none)     /* sqrt(a^2 + b^2) without overflow */         \
  row(copysign,     kFloating,  memory,  none)     /* |a| with the sign of b */                   \
  row(nextafter,    kFloating,  memory,  none)     /* the number after a on the way to b */       \
  row(xlogy,        kFloating,  maths,   none)     /* a log(b); 0 where a is 0, b no NaN */       \
  row(logaddexp,    kFloating,  maths,   none)     /* log(e^a + e^b) without overflow */          \
  row(logaddexp2,   kFloating,  maths,   none)     /* log2(2^a + 2^b) without overflow */         \
  row(heaviside,    kAll,       memory,  none)     /* a < 0: 0; a > 0: 1; a = 0: b; NaN 0 */      \
  row(zeta,         kFloating,  maths,   none)     /* Hurwitz: sum over k >= 0 of (k + b)^-a */   \
  row(gcd,          kIntegral,  maths,   none)     /* the greatest common divisor, >= 0 */        \
  row(lcm,          kIntegral,  maths,   none)     /* the least common multiple, >= 0 */          \
  row(left_shift,   kIntegral,  memory,  none)     /* a 2^b, wrapping; b < 0 or >= bits: 0 */     \
  row(right_shift,  kIntegral,  memory,  none)     /* a / 2^b, rounded down; b too large: sign */ \
  row(bitwise_and,  kBits,      memory,  none)                                                    \
  row(bitwise_or,   kBits,      memory,  none)                                                    \
  row(bitwise_xor,  kBits,      memory,  none)                                                    \
  /* gradients of unary maps from their output or input: a = dy, b = y or x */                    \
  row(relu_grad,    kFloating,  memory,  none)     /* b <= 0 ? 0 : a */                           \
  row(sigmoid_grad, kFloating,  memory,  none)     /* a (1 - b) b */                              \
  row(tanh_grad,    kFloating,  memory,  none)     /* a (1 - b^2) */                              \
  row(gelu_grad,    kFloating,  maths,   none)     /* a (Phi(b) + b phi(b)), phi its density */   \
  row(gelu_tanh_grad, kFloating, maths,  none)     /* a d gelu_tanh(b) / db */                    \
  row(silu_grad,    kFloating,  maths,   none)     /* a d silu(b) / db, and so on */              \
  row(mish_grad,    kFloating,  maths,   none)                                                    \
  row(selu_grad,    kFloating,  maths,   none)                                                    \
  row(logsigmoid_grad,  kFloating, maths,  none)                                                  \
  row(hardsigmoid_grad, kFloating, memory, none)   /* 0 at the limits */                          \
  row(hardswish_grad,   kFloating, memory, none)   /* at -3 it is 0, at 3 it is a */              \
  /* maps with a parameter b, and losses of single elements */                                    \
  row(elu,          kFloating,  maths,   none)     /* a > 0 ? a : b (e^a - 1) */                  \
  row(celu,         kFloating,  maths,   none)     /* a > 0 ? a : b (e^(a / b) - 1) */            \
  row(leaky_relu,   kFloating,  memory,  none)     /* a > 0 ? a : b a */                          \
  row(softplus,     kFloating,  maths,   none)     /* b a > 20 ? a : log(1 + e^(b a)) / b */      \
  row(smooth_l1,    kFloating,  memory,  none)     /* |a| < b ? a^2 / (2 b) : |a| - b / 2 */      \
  row(huber,        kFloating,  memory,  none)     /* |a| < b ? a^2 / 2 : b (|a| - b / 2) */      \
  row(logit_loss,   kFloating,  maths,   none)     /* (1 - b) a - logsigmoid(a) */

/// row(name, dtypes, cost). Those of losses and maps with a parameter: gradients from a = dy, b = x
/// and the parameter or target c; those of binary functions: a = dy, b and c their operands.
#define AMBIT_TERNARY_LOOPS(row)                                                                  \
  row(add_scaled,   kAll,       memory)            /* a + c b; of bool "or" and "and" */          \
  row(lerp,         kFloating,  memory)            /* a + c (b - a), exact at c = 0 and 1 */      \
  row(elu_grad,     kFloating,  maths)                                                            \
  row(celu_grad,    kFloating,  maths)                                                            \
  row(leaky_relu_grad, kFloating, memory)                                                         \
  row(softplus_grad,   kFloating, maths)                                                          \
  row(smooth_l1_grad,  kFloating, memory)                                                         \
  row(huber_grad,      kFloating, memory)                                                         \
  row(logit_loss_grad, kFloating, maths)           /* a (sigmoid(b) - c) */                       \
  row(maximum_grad,    kFloating, memory)          /* b < c ? 0 : b == c ? a / 2 : a */           \
  row(minimum_grad,    kFloating, memory)          /* b > c ? 0 : b == c ? a / 2 : a */           \
  row(pow_base_grad,   kFloating, maths)           /* c == 0 ? 0 : a c b^(c - 1) */               \
  row(pow_exponent_grad, kFloating, maths)         /* b == 0, c >= 0 ? 0 : a b^c log(b) */        \
  row(logaddexp_grad,  kFloating, maths)           /* a / (1 + e^(c - b)) */

/// The same of gradients that are seldom taken; that they are one kernel counts where a kernel is a
/// launch. Those of maps have a factor or a summand c, by which one serves several maps: sqrt_grad
/// by 2 is that of sqrt, and by log(2) that of log2.
#define AMBIT_TERNARY_CHAINS(row)                                                                 \
  row(abs_grad,        kFloating, memory)          /* a (c sign(b)) */                            \
  row(square_grad,     kFloating, memory)          /* a (c b) */                                  \
  row(reciprocal_grad, kFloating, memory)          /* a (c b^2) */                                \
  row(rsqrt_grad,      kFloating, memory)          /* a (c b^3) */                                \
  row(sqrt_grad,       kFloating, memory)          /* a / (c b) */                                \
  row(expm1_grad,      kFloating, memory)          /* a (b + c) */                                \
  row(log1p_grad,      kFloating, memory)          /* a / (b + c) */                              \
  row(tan_grad,        kFloating, memory)          /* a (b^2 + c) */                              \
  row(atan_grad,       kFloating, memory)          /* a / (1 + c b^2) */                          \
  row(asin_grad,       kFloating, maths)           /* a c / sqrt(1 - b^2) */                      \
  row(asinh_grad,      kFloating, maths)           /* a / sqrt(b^2 + c) */                        \
  row(sin_grad,        kFloating, maths)           /* a (c cos(b)) */                             \
  row(cos_grad,        kFloating, maths)           /* a (c sin(b)) */                             \
  row(sinh_grad,       kFloating, maths)           /* a (c cosh(b)) */                            \
  row(cosh_grad,       kFloating, maths)           /* a (c sinh(b)) */                            \
  row(erf_grad,        kFloating, maths)           /* a (c e^(-b^2)) */                           \
  row(erfinv_grad,     kFloating, maths)           /* a (c e^(b^2)) */                            \
  row(lgamma_grad,     kFloating, maths)           /* a (c digamma(b)) */                         \
  row(i0_grad,         kFloating, maths)           /* a (c i1(b)) */                              \
  row(softsign_grad,   kFloating, memory)          /* a (c / (1 + |b|)^2) */                      \
  row(div_grad,        kFloating, memory)          /* -a (c / b / b): of c / b by b */            \
  row(hypot_grad,      kFloating, maths)           /* a b / sqrt(b^2 + c^2) */                    \
  row(atan2_grad,      kFloating, maths)           /* a c / (b^2 + c^2), 0 at (0, 0) */           \
  row(atan2_other_grad, kFloating, maths)          /* -a b / (b^2 + c^2), 0 at (0, 0) */          \
  row(binary_cross_entropy_grad, kFloating, memory) /* a (b - c) / max(b (1 - b), 1e-12) */        \
  row(glu_grad,        kFloating, memory)          /* a b c (1 - c): c = sigmoid(gate) */

/// All of both.
#define AMBIT_TERNARY_FUNCTIONS(row) AMBIT_TERNARY_LOOPS(row) AMBIT_TERNARY_CHAINS(row)

/// row(name); any dtype, the result bool.
#define AMBIT_COMPARE_FUNCTIONS(row) \
  row(eq) row(ne) row(lt) row(le) row(gt) row(ge) row(logical_and) row(logical_or) row(logical_xor)

/// row(name, dtypes, result).
#define AMBIT_REDUCE_FUNCTIONS(row)                                                               \
  row(sum,          kAll,       total)             /* of nothing 0; integers wrap */              \
  row(prod,         kAll,       total)             /* of nothing 1; integers wrap */              \
  row(mean,         kFloating,  same)              /* of nothing NaN */                           \
  row(max,          kAll,       same)              /* not of nothing; NaN wins */                 \
  row(min,          kAll,       same)              /* not of nothing; NaN wins */                 \
  row(any,          kAll,       truth)             /* of nothing false */                         \
  row(all,          kAll,       truth)             /* of nothing true */                          \
  row(nansum,       kFloating,  same)              /* sum of what is not NaN */                   \
  row(abs_sum,      kFloating,  same)              /* sum of |x| */                               \
  row(norm,         kFloating,  same)              /* root of the sum of x^2 */                   \
  row(var,          kFloating,  same)              /* mean of the squared deviations */           \
  row(var_unbiased, kFloating,  same)              /* their sum / (n - 1); of one element NaN */  \
  row(std,          kFloating,  same)              /* root of var */                              \
  row(std_unbiased, kFloating,  same)              /* root of var_unbiased */

/// row(name, dtypes).
#define AMBIT_SCAN_FUNCTIONS(row)                                                                 \
  row(sum,          kNumbers)                      /* integers wrap */                            \
  row(prod,         kNumbers)                      /* integers wrap */                            \
  row(logsumexp,    kFloating)                     /* log of the sum of e^x, safe from overflow */

/// row(name, dtypes).
#define AMBIT_SCATTER_FUNCTIONS(row)                                                              \
  row(prod,         kAll)                          /* integers wrap; of bool "and" */             \
  row(max,          kAll)                          /* NaN wins */                                 \
  row(min,          kAll)                          /* NaN wins */
// clang-format on

#define AMBIT_ENUMERATOR(name, ...) name,
enum class UnaryOp : uint8_t { AMBIT_UNARY_FUNCTIONS(AMBIT_ENUMERATOR) };
enum class BinaryOp : uint8_t { AMBIT_BINARY_FUNCTIONS(AMBIT_ENUMERATOR) };
enum class TernaryOp : uint8_t { AMBIT_TERNARY_FUNCTIONS(AMBIT_ENUMERATOR) };
enum class CompareOp : uint8_t { AMBIT_COMPARE_FUNCTIONS(AMBIT_ENUMERATOR) };
enum class ReduceOp : uint8_t { AMBIT_REDUCE_FUNCTIONS(AMBIT_ENUMERATOR) };
enum class ScanOp : uint8_t { AMBIT_SCAN_FUNCTIONS(AMBIT_ENUMERATOR) };
enum class ScatterOp : uint8_t { AMBIT_SCATTER_FUNCTIONS(AMBIT_ENUMERATOR) };
#undef AMBIT_ENUMERATOR

/// A row of the table.
struct FunctionRow {
  /// The dtype of the result.
  enum class Result : uint8_t {
    same,   ///< that of the operands
    truth,  ///< bool
    total,  ///< of integers and bool int64, or for integers their own; of floats the same
  };
  /// What an element costs beside the traffic of its operands: loops are worth threads from fewer
  /// elements on where that is maths.
  enum class Cost : uint8_t { memory, maths };
  /// The integers that the function refuses.
  enum class Refuses : uint8_t {
    none,
    zero_divisor,  ///< b == 0
    overflow,      ///< b == 0, and the least integer by -1
  };

  const char* name;
  DTypeSet dtypes;  ///< of the operands
  Result result = Result::same;
  Cost cost = Cost::memory;
  Refuses refuses = Refuses::none;

  /// Return whether operands may be of `dtype`: what of 16 bits is computed with as float32 too.
  constexpr bool takes(DType dtype) const { return dtypes::widened(dtypes).contains(dtype); }
  /// Return whether it refuses some elements of `dtype`: operands have to be looked through before
  /// any result is written.
  constexpr bool refuses_some(DType dtype) const {
    return refuses != Refuses::none && is_integral(dtype);
  }
  /// Return the dtype of the result for operands of `dtype`.
  constexpr DType result_dtype(DType dtype) const {
    if (result == Result::truth) return kBool;
    return result == Result::total && dtype == kBool ? kInt64 : dtype;
  }
};

/// The rows of one family, in the order of its enumerators: function_table<UnaryOp>.
template <class Op>
inline constexpr std::array<FunctionRow, 0> function_table{};
#define AMBIT_ROW(name, set, gives, costs) \
  FunctionRow{#name, dtypes::set, FunctionRow::Result::gives, FunctionRow::Cost::costs},
template <>
inline constexpr std::array function_table<UnaryOp>{AMBIT_UNARY_FUNCTIONS(AMBIT_ROW)};
#undef AMBIT_ROW
#define AMBIT_ROW(name, set, costs, what)                                              \
  FunctionRow{#name, dtypes::set, FunctionRow::Result::same, FunctionRow::Cost::costs, \
              FunctionRow::Refuses::what},
template <>
inline constexpr std::array function_table<BinaryOp>{AMBIT_BINARY_FUNCTIONS(AMBIT_ROW)};
#undef AMBIT_ROW
#define AMBIT_ROW(name, set, costs) \
  FunctionRow{#name, dtypes::set, FunctionRow::Result::same, FunctionRow::Cost::costs},
template <>
inline constexpr std::array function_table<TernaryOp>{AMBIT_TERNARY_FUNCTIONS(AMBIT_ROW)};
#undef AMBIT_ROW
#define AMBIT_ROW(name) FunctionRow{#name, dtypes::kAll, FunctionRow::Result::truth},
template <>
inline constexpr std::array function_table<CompareOp>{AMBIT_COMPARE_FUNCTIONS(AMBIT_ROW)};
#undef AMBIT_ROW
#define AMBIT_ROW(name, set, gives) FunctionRow{#name, dtypes::set, FunctionRow::Result::gives},
template <>
inline constexpr std::array function_table<ReduceOp>{AMBIT_REDUCE_FUNCTIONS(AMBIT_ROW)};
#undef AMBIT_ROW
#define AMBIT_ROW(name, set) FunctionRow{#name, dtypes::set},
template <>
inline constexpr std::array function_table<ScanOp>{AMBIT_SCAN_FUNCTIONS(AMBIT_ROW)};
template <>
inline constexpr std::array function_table<ScatterOp>{AMBIT_SCATTER_FUNCTIONS(AMBIT_ROW)};
#undef AMBIT_ROW

/// Return the row of a function.
template <class Op>
constexpr const FunctionRow& row_of(Op op) {
  return function_table<Op>[static_cast<size_t>(op)];
}
constexpr const char* name(UnaryOp op) { return row_of(op).name; }
constexpr const char* name(BinaryOp op) { return row_of(op).name; }
constexpr const char* name(TernaryOp op) { return row_of(op).name; }
constexpr const char* name(CompareOp op) { return row_of(op).name; }
constexpr const char* name(ReduceOp op) { return row_of(op).name; }
constexpr const char* name(ScanOp op) { return row_of(op).name; }
constexpr const char* name(ScatterOp op) { return row_of(op).name; }

/// The functions of UnaryOp that linear_map and convolution_map apply.
inline constexpr std::array kActivations{UnaryOp::relu, UnaryOp::gelu, UnaryOp::gelu_tanh};

/// Return every function of a family: for (UnaryOp op : functions<UnaryOp>()).
template <class Op>
constexpr auto functions() {
  std::array<Op, function_table<Op>.size()> all{};
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Op>(i);
  return all;
}

}  // namespace ambit
