// What every function of the family reduce makes of many elements, for kernels of any backend, host
// or device: Fold<ReduceOp::sum, float> says what is kept while folding, what there is before the
// first element, and how two such values are merged, in any order; finished() what then remains.
#pragma once

#include <ambit/backend/arithmetic.h>
#include <ambit/function_table.h>

#include <cmath>
#include <concepts>
#include <cstdint>
#include <type_traits>

namespace ambit::arithmetic {

/// What sums and products are kept in: float64 for floats, so that a result is rounded once; 64
/// bits for integers, which wrap as narrower ones do.
template <class T>
using Total = std::conditional_t<std::floating_point<T>, double, int64_t>;

template <ReduceOp op, class T>
struct Fold;

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

/// What merges what was folded in parts: op itself, but where it counts an element otherwise than
/// as it is.
constexpr ReduceOp merging(ReduceOp op) {
  const bool maps = op == ReduceOp::nansum || op == ReduceOp::abs_sum || op == ReduceOp::norm;
  return maps ? ReduceOp::sum : op;
}

/// What becomes of `count` elements that were merged to v.
template <ReduceOp op, class Value>
AMBIT_HOST_DEVICE Value finished(Value v, [[maybe_unused]] int64_t count) {
  if constexpr (op == ReduceOp::mean) return v / static_cast<Value>(count);
  if constexpr (op == ReduceOp::norm) return std::sqrt(v);
  return v;
}

}  // namespace ambit::arithmetic
