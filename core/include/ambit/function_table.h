// The functions of the kernels that are families: unary, binary, ternary, compare, reduce, scan and
// scatter_reduce. Each function is one row here with its name, dtypes and cost. Core, backends,
// tools and tests read them from the table and never depend on an enumerator's value. To add a
// function, add a row; the compiler or linker then reports every place that must implement it.
#pragma once

#include <ambit/dtype.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace ambit {

// clang-format off
/// Maps with a public function of their name, an in-place variant, and both methods of Tensor;
/// row(name, dtypes, result, cost).
#define AMBIT_UNARY_MAPS(row)                                                                     \
  row(neg,          kNumbers,   same,    memory) /**< -x */                                       \
  row(abs,          kNumbers,   same,    memory) /**< |x| */                                      \
  row(sign,         kNumbers,   same,    memory) /**< -1, 0 or 1; 0 for NaN */                    \
  row(exp,          kFloating,  same,    maths)  /**< e^x */                                      \
  row(exp2,         kFloating,  same,    maths)  /**< 2^x */                                      \
  row(expm1,        kFloating,  same,    maths)  /**< e^x - 1, accurate near 0 */                 \
  row(log,          kFloating,  same,    maths)  /**< natural logarithm; NaN below 0 */           \
  row(log1p,        kFloating,  same,    maths)  /**< log(1 + x), accurate near 0 */              \
  row(log2,         kFloating,  same,    maths)  /**< logarithm to base 2 */                      \
  row(log10,        kFloating,  same,    maths)  /**< logarithm to base 10 */                     \
  row(sqrt,         kFloating,  same,    maths)  /**< square root; NaN below 0 */                 \
  row(rsqrt,        kFloating,  same,    maths)  /**< 1 / sqrt(x) */                              \
  row(reciprocal,   kFloating,  same,    maths)  /**< 1 / x */                                    \
  row(square,       kNumbers,   same,    maths)  /**< x * x; bool gives int64 */                  \
  row(sin,          kFloating,  same,    maths)  /**< x in radians */                             \
  row(cos,          kFloating,  same,    maths)  /**< x in radians */                             \
  row(tan,          kFloating,  same,    maths)  /**< x in radians */                             \
  row(asin,         kFloating,  same,    maths)  /**< in radians; NaN outside [-1, 1] */          \
  row(acos,         kFloating,  same,    maths)  /**< in radians; NaN outside [-1, 1] */          \
  row(atan,         kFloating,  same,    maths)  /**< in radians, in (-pi/2, pi/2) */             \
  row(sinh,         kFloating,  same,    maths)  /**< (e^x - e^-x) / 2 */                         \
  row(cosh,         kFloating,  same,    maths)  /**< (e^x + e^-x) / 2 */                         \
  row(tanh,         kFloating,  same,    maths)  /**< sinh(x) / cosh(x) */                        \
  row(sigmoid,      kFloating,  same,    maths)  /**< 1 / (1 + e^-x) */                           \
  row(relu,         kNumbers,   same,    maths)  /**< max(x, 0), keeps NaN; gradient 0 at 0 */    \
  row(asinh,        kFloating,  same,    maths)  /**< log(x + sqrt(x^2 + 1)) */                   \
  row(acosh,        kFloating,  same,    maths)  /**< log(x + sqrt(x^2 - 1)); NaN below 1 */      \
  row(atanh,        kFloating,  same,    maths)  /**< log((1 + x) / (1 - x)) / 2 */               \
  row(erf,          kFloating,  same,    maths)  /**< 2 / sqrt(pi) int_0^x e^(-t^2) dt */         \
  row(erfc,         kFloating,  same,    maths)  /**< 1 - erf(x), accurate for small results */   \
  row(erfinv,       kFloating,  same,    maths)  /**< y with erf(y) = x; NaN outside [-1, 1] */   \
  row(lgamma,       kFloating,  same,    maths)  /**< log |Gamma(x)|; inf at 0, -1, ... */        \
  row(digamma,      kFloating,  same,    maths)  /**< d log Gamma(x) / dx; NaN at -1, -2, ... */  \
  row(i0,           kFloating,  same,    maths)  /**< modified Bessel function of order 0 */      \
  row(sinc,         kFloating,  same,    maths)  /**< sin(pi x) / (pi x); 1 at 0 */               \
  row(frac,         kFloating,  same,    memory) /**< x - trunc(x), with the sign of x */         \
  row(floor,        kFloating,  same,    memory) /**< rounded down; integers unchanged */         \
  row(ceil,         kFloating,  same,    memory) /**< rounded up; integers unchanged */           \
  row(round,        kFloating,  same,    memory) /**< to nearest, ties to even; see floor */      \
  row(trunc,        kFloating,  same,    memory) /**< rounded to zero; integers unchanged */      \
  row(bitwise_not,  kBits,      same,    memory) /**< ~x; !x for bool */                          \
  row(logical_not,  kAll,       boolean, memory) /**< x == 0 */

/// Maps whose public functions are written out in the sources; row(name, dtypes, result, cost).
#define AMBIT_UNARY_FUNCTIONS(row)                                                                \
  AMBIT_UNARY_MAPS(row)                                                                           \
  row(gelu,         kFloating,  same,    maths)  /**< x Phi(x), Phi the normal distribution */    \
  row(i1,           kFloating,  same,    maths)  /**< modified Bessel function of order 1 */      \
  row(logit,        kFloating,  same,    maths)  /**< log(x / (1 - x)) */                         \
  row(erfcx,        kFloating,  same,    maths)  /**< e^(x^2) erfc(x), without underflow */       \
  row(i0e,          kFloating,  same,    maths)  /**< e^-|x| times i0 */                          \
  row(i1e,          kFloating,  same,    maths)  /**< e^-|x| times i1 */                          \
  row(ndtri,        kFloating,  same,    maths)  /**< y with Phi(y) = x; NaN outside [0, 1] */    \
  row(signbit,      kAll,       boolean, memory) /**< sign bit; true for -0. and -NaN */          \
  row(isnan,        kAll,       boolean, memory) /**< false for integers */                       \
  row(isinf,        kAll,       boolean, memory) /**< false for integers */                       \
  row(isfinite,     kAll,       boolean, memory) /**< true for integers */                        \
  row(gelu_tanh,    kFloating,  same,    maths)  /**< gelu approximated by tanh: see gelu() */    \
  row(silu,         kFloating,  same,    maths)  /**< x sigmoid(x) */                             \
  row(mish,         kFloating,  same,    maths)  /**< x tanh(log(1 + e^x)) */                     \
  row(selu,         kFloating,  same,    maths)  /**< 1.05... (x > 0 ? x : 1.67... (e^x - 1)) */  \
  row(logsigmoid,   kFloating,  same,    maths)  /**< -log(1 + e^-x), exact for large |x| */      \
  row(hardsigmoid,  kFloating,  same,    memory) /**< (x + 3) / 6, limited to [0, 1] */           \
  row(hardswish,    kFloating,  same,    memory) /**< x hardsigmoid(x) */

/// row(name, dtypes, cost, refuses).
#define AMBIT_BINARY_FUNCTIONS(row)                                                               \
  row(add,          kAll,       memory,  none)   /**< a + b; "or" for bool */                     \
  row(sub,          kNumbers,   memory,  none)   /**< a - b */                                    \
  row(mul,          kAll,       memory,  none)   /**< a * b; "and" for bool */                    \
  row(div,          kFloating,  memory,  none)   /**< a / b */                                    \
  row(floor_divide, kNumbers,   maths,   overflow) /**< a / b rounded down */                     \
  row(trunc_divide, kNumbers,   maths,   overflow) /**< a / b rounded to zero */                  \
  row(remainder,    kNumbers,   maths,   zero_divisor) /**< a - b floor(a / b), sign of b */      \
  row(fmod,         kNumbers,   maths,   zero_divisor) /**< a - b trunc(a / b), sign of a */      \
  row(pow,          kNumbers,   maths,   none)   /**< a^b; integers wrap, 1 / a^-b truncated */   \
  row(maximum,      kAll,       memory,  none)   /**< the larger; NaN if any is NaN */            \
  row(minimum,      kAll,       memory,  none)   /**< the smaller; NaN if any is NaN */           \
  row(atan2,        kFloating,  maths,   none)   /**< the angle of the point (b, a) in radians */ \
  row(fmax,         kAll,       memory,  none)   /**< the larger; ignores NaN */                  \
  row(fmin,         kAll,       memory,  none)   /**< the smaller; ignores NaN */                 \
  row(hypot,        kFloating,  maths,   none)   /**< sqrt(a^2 + b^2) without overflow */         \
  row(copysign,     kFloating,  memory,  none)   /**< |a| with the sign of b */                   \
  row(nextafter,    kFloating,  memory,  none)   /**< next number after a towards b */            \
  row(xlogy,        kFloating,  maths,   none)   /**< a log(b); 0 if a is 0 and b not NaN */      \
  row(logaddexp,    kFloating,  maths,   none)   /**< log(e^a + e^b) without overflow */          \
  row(logaddexp2,   kFloating,  maths,   none)   /**< log2(2^a + 2^b) without overflow */         \
  row(heaviside,    kAll,       memory,  none)   /**< a < 0: 0; a > 0: 1; a = 0: b; NaN 0 */      \
  row(zeta,         kFloating,  maths,   none)   /**< Hurwitz: sum over k >= 0 of (k + b)^-a */   \
  row(gcd,          kIntegral,  maths,   none)   /**< the greatest common divisor, >= 0 */        \
  row(lcm,          kIntegral,  maths,   none)   /**< the least common multiple, >= 0 */          \
  row(left_shift,   kIntegral,  memory,  none)   /**< a 2^b, wrapping; b < 0 or >= bits: 0 */     \
  row(right_shift,  kIntegral,  memory,  none)   /**< a / 2^b, rounded down; b too large: sign */ \
  row(bitwise_and,  kBits,      memory,  none)   /**< a & b; "and" for bool */                    \
  row(bitwise_or,   kBits,      memory,  none)   /**< a | b; "or" for bool */                     \
  row(bitwise_xor,  kBits,      memory,  none)   /**< a ^ b; "xor" for bool */                    \
  /* gradients of unary maps from their output or input: a = dy, b = y or x */                    \
  row(relu_grad,    kFloating,  memory,  none)   /**< b <= 0 ? 0 : a */                           \
  row(sigmoid_grad, kFloating,  memory,  none)   /**< a (1 - b) b */                              \
  row(tanh_grad,    kFloating,  memory,  none)   /**< a (1 - b^2) */                              \
  row(gelu_grad,    kFloating,  maths,   none)   /**< a (Phi(b) + b phi(b)), phi its density */   \
  row(gelu_tanh_grad, kFloating, maths,  none)   /**< a d gelu_tanh(b) / db */                    \
  row(silu_grad,    kFloating,  maths,   none)   /**< a d silu(b) / db */                         \
  row(mish_grad,    kFloating,  maths,   none)   /**< a d mish(b) / db */                         \
  row(selu_grad,    kFloating,  maths,   none)   /**< a d selu(b) / db */                         \
  row(logsigmoid_grad,  kFloating, maths,  none) /**< a d logsigmoid(b) / db */                   \
  row(hardsigmoid_grad, kFloating, memory, none) /**< 0 at the limits */                          \
  row(hardswish_grad,   kFloating, memory, none) /**< at -3 it is 0, at 3 it is a */              \
  /* maps with a parameter b, and losses of single elements */                                    \
  row(elu,          kFloating,  maths,   none)   /**< a > 0 ? a : b (e^a - 1) */                  \
  row(celu,         kFloating,  maths,   none)   /**< a > 0 ? a : b (e^(a / b) - 1) */            \
  row(leaky_relu,   kFloating,  memory,  none)   /**< a > 0 ? a : b a */                          \
  row(softplus,     kFloating,  maths,   none)   /**< b a > 20 ? a : log(1 + e^(b a)) / b */      \
  row(smooth_l1,    kFloating,  memory,  none)   /**< |a| < b ? a^2 / (2 b) : |a| - b / 2 */      \
  row(huber,        kFloating,  memory,  none)   /**< |a| < b ? a^2 / 2 : b (|a| - b / 2) */      \
  row(logit_loss,   kFloating,  maths,   none)   /**< (1 - b) a - logsigmoid(a) */

/// row(name, dtypes, cost). Gradients of losses and of maps with a parameter: a = dy, b = x and c
/// the parameter or target. Gradients of binary functions: a = dy, b and c their operands.
#define AMBIT_TERNARY_LOOPS(row)                                                                  \
  row(add_scaled,   kAll,       memory)          /**< a + c b; "or" and "and" for bool */         \
  row(lerp,         kFloating,  memory)          /**< a + c (b - a), exact at c = 0 and 1 */      \
  row(elu_grad,     kFloating,  maths)           /**< a d elu(b, c) / db */                       \
  row(celu_grad,    kFloating,  maths)           /**< a d celu(b, c) / db */                      \
  row(leaky_relu_grad, kFloating, memory)        /**< b > 0 ? a : a c */                          \
  row(softplus_grad,   kFloating, maths)         /**< c b > 20 ? a : a sigmoid(c b) */            \
  row(smooth_l1_grad,  kFloating, memory)        /**< |b| < c ? a b / c : a sign(b) */            \
  row(huber_grad,      kFloating, memory)        /**< |b| < c ? a b : a c sign(b) */              \
  row(logit_loss_grad, kFloating, maths)         /**< a (sigmoid(b) - c) */                       \
  row(maximum_grad,    kFloating, memory)        /**< b < c ? 0 : b == c ? a / 2 : a */           \
  row(minimum_grad,    kFloating, memory)        /**< b > c ? 0 : b == c ? a / 2 : a */           \
  row(pow_base_grad,   kFloating, maths)         /**< c == 0 ? 0 : a c b^(c - 1) */               \
  row(pow_exponent_grad, kFloating, maths)       /**< b == 0, c >= 0 ? 0 : a b^c log(b) */        \
  row(logaddexp_grad,  kFloating, maths)         /**< a / (1 + e^(c - b)) */

/// Gradients that are used less often; as a single kernel they save launches. Gradients of maps
/// have a factor or summand c, so that one function serves several maps: sqrt_grad with c = 2 is
/// that of sqrt, with c = log(2) that of log2.
#define AMBIT_TERNARY_CHAINS(row)                                                                 \
  row(abs_grad,        kFloating, memory)        /**< a (c sign(b)) */                            \
  row(square_grad,     kFloating, memory)        /**< a (c b) */                                  \
  row(reciprocal_grad, kFloating, memory)        /**< a (c b^2) */                                \
  row(rsqrt_grad,      kFloating, memory)        /**< a (c b^3) */                                \
  row(sqrt_grad,       kFloating, memory)        /**< a / (c b) */                                \
  row(expm1_grad,      kFloating, memory)        /**< a (b + c) */                                \
  row(log1p_grad,      kFloating, memory)        /**< a / (b + c) */                              \
  row(tan_grad,        kFloating, memory)        /**< a (b^2 + c) */                              \
  row(atan_grad,       kFloating, memory)        /**< a / (1 + c b^2) */                          \
  row(asin_grad,       kFloating, maths)         /**< a c / sqrt(1 - b^2) */                      \
  row(asinh_grad,      kFloating, maths)         /**< a / sqrt(b^2 + c) */                        \
  row(sin_grad,        kFloating, maths)         /**< a (c cos(b)) */                             \
  row(cos_grad,        kFloating, maths)         /**< a (c sin(b)) */                             \
  row(sinh_grad,       kFloating, maths)         /**< a (c cosh(b)) */                            \
  row(cosh_grad,       kFloating, maths)         /**< a (c sinh(b)) */                            \
  row(erf_grad,        kFloating, maths)         /**< a (c e^(-b^2)) */                           \
  row(erfinv_grad,     kFloating, maths)         /**< a (c e^(b^2)) */                            \
  row(lgamma_grad,     kFloating, maths)         /**< a (c digamma(b)) */                         \
  row(i0_grad,         kFloating, maths)         /**< a (c i1(b)) */                              \
  row(softsign_grad,   kFloating, memory)        /**< a (c / (1 + |b|)^2) */                      \
  row(div_grad,        kFloating, memory)        /**< -a (c / b / b), of c / b wrt. b */          \
  row(hypot_grad,      kFloating, maths)         /**< a b / sqrt(b^2 + c^2) */                    \
  row(atan2_grad,      kFloating, maths)         /**< a c / (b^2 + c^2), 0 at (0, 0) */           \
  row(atan2_other_grad, kFloating, maths)        /**< -a b / (b^2 + c^2), 0 at (0, 0) */          \
  row(binary_cross_entropy_grad, kFloating, memory) /**< a (b - c) / max(b (1 - b), 1e-12) */     \
  row(glu_grad,        kFloating, memory)        /**< a b c (1 - c): c = sigmoid(gate) */

/// All ternary functions.
#define AMBIT_TERNARY_FUNCTIONS(row) AMBIT_TERNARY_LOOPS(row) AMBIT_TERNARY_CHAINS(row)

/// row(name); any dtype, result bool.
#define AMBIT_COMPARE_FUNCTIONS(row)                                                              \
  row(eq)                                        /**< a == b; false if one is NaN */              \
  row(ne)                                        /**< a != b; true if one is NaN */               \
  row(lt)                                        /**< a < b, as eq for NaN */                     \
  row(le)                                        /**< a <= b */                                   \
  row(gt)                                        /**< a > b */                                    \
  row(ge)                                        /**< a >= b */                                   \
  row(logical_and)                               /**< a != 0 and b != 0 */                        \
  row(logical_or)                                /**< a != 0 or b != 0 */                         \
  row(logical_xor)                               /**< exactly one is not 0 */

/// row(name, dtypes, result).
#define AMBIT_REDUCE_FUNCTIONS(row)                                                               \
  row(sum,          kAll,       total)           /**< 0 if empty; integers wrap */                \
  row(prod,         kAll,       total)           /**< 1 if empty; integers wrap */                \
  row(mean,         kFloating,  same)            /**< NaN if empty */                             \
  row(max,          kAll,       same)            /**< error if empty; NaN if any is NaN */        \
  row(min,          kAll,       same)            /**< error if empty; NaN if any is NaN */        \
  row(any,          kAll,       boolean)         /**< false if empty */                           \
  row(all,          kAll,       boolean)         /**< true if empty */                            \
  row(nansum,       kFloating,  same)            /**< sum of all but NaN */                       \
  row(abs_sum,      kFloating,  same)            /**< sum of |x| */                               \
  row(norm,         kFloating,  same)            /**< sqrt of the sum of x^2 */                   \
  row(var,          kFloating,  same)            /**< mean squared deviation */                   \
  row(var_unbiased, kFloating,  same)            /**< sum / (n - 1); NaN for one element */       \
  row(std,          kFloating,  same)            /**< sqrt of var */                              \
  row(std_unbiased, kFloating,  same)            /**< sqrt of var_unbiased */

/// row(name, dtypes).
#define AMBIT_SCAN_FUNCTIONS(row)                                                                 \
  row(sum,          kNumbers)                    /**< integers wrap */                            \
  row(prod,         kNumbers)                    /**< integers wrap */                            \
  row(logsumexp,    kFloating)                   /**< log of the sum of e^x, no overflow */

/// row(name, dtypes).
#define AMBIT_SCATTER_FUNCTIONS(row)                                                              \
  row(prod,         kAll)                        /**< integers wrap; "and" for bool */            \
  row(max,          kAll)                        /**< NaN if any is NaN */                        \
  row(min,          kAll)                        /**< NaN if any is NaN */
// clang-format on

#define AMBIT_ENUMERATOR(name, ...) name,
/// The functions of one family of kernels, in the order of their rows. Do not store the values: a
/// new row changes them.
/// @{
enum class UnaryOp : uint8_t { AMBIT_UNARY_FUNCTIONS(AMBIT_ENUMERATOR) };
enum class BinaryOp : uint8_t { AMBIT_BINARY_FUNCTIONS(AMBIT_ENUMERATOR) };
enum class TernaryOp : uint8_t { AMBIT_TERNARY_FUNCTIONS(AMBIT_ENUMERATOR) };
enum class CompareOp : uint8_t { AMBIT_COMPARE_FUNCTIONS(AMBIT_ENUMERATOR) };
enum class ReduceOp : uint8_t { AMBIT_REDUCE_FUNCTIONS(AMBIT_ENUMERATOR) };
enum class ScanOp : uint8_t { AMBIT_SCAN_FUNCTIONS(AMBIT_ENUMERATOR) };
enum class ScatterOp : uint8_t { AMBIT_SCATTER_FUNCTIONS(AMBIT_ENUMERATOR) };
/// @}
#undef AMBIT_ENUMERATOR

/// A row of the table.
struct FunctionRow {
  /// The dtype of the result.
  enum class Result : uint8_t {
    same,     ///< the dtype of the operands
    boolean,  ///< bool
    total,    ///< bool: int64; integers: int64 or the operand's dtype; floats: the operand's dtype
  };
  /// Cost of an element besides memory traffic: `maths` lowers the number of elements from which
  /// loops use threads.
  enum class Cost : uint8_t {
    memory,  ///< memory traffic dominates
    maths,   ///< arithmetic dominates if few threads share the memory
  };
  /// Integer operands for which the function throws.
  enum class Refuses : uint8_t {
    none,          ///< it never throws for values
    zero_divisor,  ///< b == 0
    overflow,      ///< b == 0, and the smallest integer divided by -1
  };

  const char* name;                 ///< the enumerator's name, as errors and profiles show it
  DTypeSet dtypes;                  ///< dtypes of the operands
  Result result = Result::same;     ///< the dtype of the result
  Cost cost = Cost::memory;         ///< the cost of an element
  Refuses refuses = Refuses::none;  ///< the values for which it throws

  /// Return true if operands may have `dtype`, including reduced floating-point types where float32
  /// is supported.
  constexpr bool supports(DType dtype) const {
    return dtypes::with_reduced_floating(dtypes).contains(dtype);
  }
  /// Return true if some values of `dtype` make the function throw, so that operands must be
  /// checked before any result is written.
  constexpr bool refuses_some(DType dtype) const {
    return refuses != Refuses::none && is_integral(dtype);
  }
  /// Return the dtype of the result for operands of `dtype`.
  constexpr DType result_dtype(DType dtype) const {
    if (result == Result::boolean) return kBool;
    return result == Result::total && dtype == kBool ? kInt64 : dtype;
  }
};

/// The rows of one family, in the order of its enumerators: function_table<UnaryOp>.
template <class Op>
inline constexpr std::array<FunctionRow, 0> function_table{};
/// @cond
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
#define AMBIT_ROW(name) FunctionRow{#name, dtypes::kAll, FunctionRow::Result::boolean},
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
/// @endcond

/// Return the row of a function.
template <class Op>
constexpr const FunctionRow& row_of(Op op) {
  return function_table<Op>[static_cast<size_t>(op)];
}
/// Return the name of a function: "exp" of UnaryOp::exp.
/// @{
constexpr const char* name(UnaryOp op) { return row_of(op).name; }
constexpr const char* name(BinaryOp op) { return row_of(op).name; }
constexpr const char* name(TernaryOp op) { return row_of(op).name; }
constexpr const char* name(CompareOp op) { return row_of(op).name; }
constexpr const char* name(ReduceOp op) { return row_of(op).name; }
constexpr const char* name(ScanOp op) { return row_of(op).name; }
constexpr const char* name(ScatterOp op) { return row_of(op).name; }
/// @}

/// The UnaryOp functions that linear_map and convolution_map can apply.
inline constexpr std::array kActivations{UnaryOp::relu, UnaryOp::gelu, UnaryOp::gelu_tanh};

/// Return every function of a family: for (UnaryOp op : functions<UnaryOp>()).
template <class Op>
constexpr auto functions() {
  std::array<Op, function_table<Op>.size()> all{};
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Op>(i);
  return all;
}

}  // namespace ambit
