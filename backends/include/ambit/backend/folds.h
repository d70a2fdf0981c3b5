// The functions of the family reduce, for kernels of any backend, on host or device.
// Fold<ReduceOp::sum, float> defines the accumulator type, its initial value, and how two
// accumulators are merged, in any order; finished() converts the accumulator to the result.
#pragma once

#include <ambit/backend/arithmetic.h>
#include <ambit/function_table.h>

#include <cmath>
#include <concepts>
#include <cstdint>
#include <type_traits>

namespace ambit::arithmetic {

/// Accumulator of sums and products: float64 for floats, so that a result is rounded once; int64
/// for integers, which wraps consistently with narrower types.
template <class T>
using Total = std::conditional_t<std::floating_point<T>, double, int64_t>;

/// One function of the family reduce on elements of type T. Members: Value, the type of the
/// accumulator; kNothing, its initial value; element(x), the accumulator of one element; and
/// merge(a, b), the accumulator of both.
template <ReduceOp op, class T>
struct Fold;

/// @cond
#define AMBIT_FOLD(name, Kept, nothing, counted, merged)                      \
  template <class T>                                                          \
  struct Fold<ReduceOp::name, T> {                                            \
    using Value = Kept;                                                       \
    static constexpr Value kNothing = nothing;                                \
    AMBIT_HOST_DEVICE static Value element(T e) {                             \
      const auto x = static_cast<Value>(e);                                   \
      return counted;                                                         \
    }                                                                         \
    AMBIT_HOST_DEVICE static Value merge(Value a, Value b) { return merged; } \
  };
// clang-format off
AMBIT_FOLD(sum,     Total<T>, 0,               x,              wrap_add(a, b))
AMBIT_FOLD(mean,    Total<T>, 0,               x,              a + b)
AMBIT_FOLD(prod,    Total<T>, 1,               x,              wrap_mul(a, b))
AMBIT_FOLD(max,     T,        worst<T>(true),  x,              maximum(a, b))
AMBIT_FOLD(min,     T,        worst<T>(false), x,              minimum(a, b))
AMBIT_FOLD(any,     bool,     false,           x,              a | b)
AMBIT_FOLD(all,     bool,     true,            x,              a & b)
AMBIT_FOLD(nansum,  Total<T>, 0,               x != x ? 0 : x, a + b)
AMBIT_FOLD(abs_sum, Total<T>, 0,               magnitude(x),   a + b)
AMBIT_FOLD(norm,    Total<T>, 0,               x * x,          a + b)
// clang-format on
#undef AMBIT_FOLD
/// @endcond

/// Return the op that merges partial results: op itself, or sum where the partial results are sums.
constexpr ReduceOp merging(ReduceOp op) {
  const bool adds = op == ReduceOp::mean || op == ReduceOp::nansum || op == ReduceOp::abs_sum ||
                    op == ReduceOp::norm;
  return adds ? ReduceOp::sum : op;
}

/// The moments of a set of elements.
struct Moments {
  double count;    ///< number of elements
  double mean;     ///< their mean
  double squares;  ///< sum of (x - mean)^2
};

/// Merge the moments of two sets. Source: Chan, Golub & LeVeque 1983, "Algorithms for computing the
/// sample variance", eq. 2.1.
AMBIT_HOST_DEVICE inline Moments merged(const Moments& a, const Moments& b) {
  if (a.count == 0) return b;
  if (b.count == 0) return a;
  const double count = a.count + b.count, share = b.count / count, apart = b.mean - a.mean;
  return {count, a.mean + apart * share, a.squares + b.squares + apart * apart * (a.count * share)};
}

/// The Fold of variances and standard deviations.
template <class T>
struct FoldMoments {
  using Value = Moments;                     ///< the accumulator
  static constexpr Value kNothing{0, 0, 0};  ///< no elements
  /// Return the moments of one element. x - x is 0, or NaN for infinities and NaN.
  AMBIT_HOST_DEVICE static Value element(T e) {
    const auto x = static_cast<double>(e);
    return {1, x, x - x};
  }
  /// Return the moments of both sets.
  AMBIT_HOST_DEVICE static Value merge(const Value& a, const Value& b) { return merged(a, b); }
};
/// @cond
template <class T>
struct Fold<ReduceOp::var, T> : FoldMoments<T> {};
template <class T>
struct Fold<ReduceOp::var_unbiased, T> : FoldMoments<T> {};
template <class T>
struct Fold<ReduceOp::std, T> : FoldMoments<T> {};
template <class T>
struct Fold<ReduceOp::std_unbiased, T> : FoldMoments<T> {};
/// @endcond

/// Return the result for `count` elements that were merged into v.
template <ReduceOp op, class Value>
AMBIT_HOST_DEVICE auto finished(const Value& v, [[maybe_unused]] int64_t count) {
  if constexpr (std::same_as<Value, Moments>) {
    constexpr bool kUnbiased = op == ReduceOp::var_unbiased || op == ReduceOp::std_unbiased;
    const int64_t freedom = kUnbiased && count > 0 ? count - 1 : count;  // 0 / 0 is NaN
    const double variance = v.squares / static_cast<double>(freedom);
    constexpr bool kRoot = op == ReduceOp::std || op == ReduceOp::std_unbiased;
    return kRoot ? std::sqrt(variance) : variance;
  } else if constexpr (op == ReduceOp::mean) {
    return v / static_cast<Value>(count);
  } else if constexpr (op == ReduceOp::norm) {
    return std::sqrt(v);
  } else {
    return v;
  }
}

/// The return type of finished().
template <ReduceOp op, class T>
using Folded = decltype(finished<op>(typename Fold<op, T>::Value{}, 0));

}  // namespace ambit::arithmetic
