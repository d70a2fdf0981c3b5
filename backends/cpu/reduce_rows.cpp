#include "reduce_rows.h"

#include "simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reduce_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <limits>

#include "arithmetic.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace {

template <class T>
using Sum = std::conditional_t<std::floating_point<T>, double, int64_t>;

template <class T>
struct Add {
  using Result = Sum<T>;
  static constexpr Result kNothing = 0;
  static Result merge(Result a, Result b) { return wrap_add(a, b); }
};
template <class T>
struct Multiply {
  using Result = Sum<T>;
  static constexpr Result kNothing = 1;
  static Result merge(Result a, Result b) { return wrap_mul(a, b); }
};
template <class T>
struct Largest {
  using Result = T;
  static constexpr T kNothing = std::floating_point<T> ? -std::numeric_limits<T>::infinity()
                                                       : std::numeric_limits<T>::lowest();
  static T merge(T a, T b) { return maximum(a, b); }
};
template <class T>
struct Smallest {
  using Result = T;
  static constexpr T kNothing =
      std::floating_point<T> ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
  static T merge(T a, T b) { return minimum(a, b); }
};
template <class T>
struct Any {
  using Result = bool;
  static constexpr bool kNothing = false;
  static bool merge(bool a, bool b) { return a | b; }
};
template <class T>
struct All {
  using Result = bool;
  static constexpr bool kNothing = true;
  static bool merge(bool a, bool b) { return a & b; }
};

/// The element as the op sees it: any and all ask whether it is zero.
template <class Op, class T>
typename Op::Result element(T x) {
  if constexpr (std::same_as<typename Op::Result, bool>)
    return x != T(0);
  else
    return static_cast<typename Op::Result>(x);
}

template <class Op>
void clear(int64_t n, void* sums) {
  std::fill_n(static_cast<typename Op::Result*>(sums), n, Op::kNothing);
}

template <class Op, class T>
void add(int64_t n, void* sums, const void* x) {
  auto* to = static_cast<typename Op::Result*>(sums);
  const T* from = static_cast<const T*>(x);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) to[i] = Op::merge(to[i], element<Op>(from[i]));
}

/// *sum = merge(*sum, x[0], ...) in 64 separate sums, which fill vector registers.
template <class Op, class T>
void fold(int64_t n, void* sum, const void* x) {
  constexpr int64_t kSums = 64;
  using Result = typename Op::Result;
  const T* from = static_cast<const T*>(x);
  Result total = *static_cast<Result*>(sum);
  int64_t i = 0;
  if (n >= 2 * kSums) {
    Result sums[kSums];
    std::fill_n(sums, kSums, Op::kNothing);
    for (; i + kSums <= n; i += kSums) {
#pragma omp simd
      for (int64_t j = 0; j < kSums; ++j) sums[j] = Op::merge(sums[j], element<Op>(from[i + j]));
    }
    for (int64_t half = kSums / 2; half > 0; half /= 2) {
      for (int64_t j = 0; j < half; ++j) sums[j] = Op::merge(sums[j], sums[j + half]);
    }
    total = Op::merge(total, sums[0]);
  }
  for (; i < n; ++i) total = Op::merge(total, element<Op>(from[i]));
  *static_cast<Result*>(sum) = total;
}

/// The same for plain sums, which OpenMP knows: four streams hide the latency of an addition.
template <class T>
void fold_sum(int64_t n, void* sum, const void* x) {
  // Unsigned, since integers wrap.
  using Total = std::conditional_t<std::floating_point<T>, double, uint64_t>;
  const int64_t quarter = n / 4;
  const T *a = static_cast<const T*>(x), *b = a + quarter, *c = b + quarter, *d = c + quarter;
  Total s0 = 0, s1 = 0, s2 = 0, s3 = 0;
#pragma omp simd reduction(+ : s0, s1, s2, s3)
  for (int64_t i = 0; i < quarter; ++i) {
    s0 += static_cast<Total>(a[i]);
    s1 += static_cast<Total>(b[i]);
    s2 += static_cast<Total>(c[i]);
    s3 += static_cast<Total>(d[i]);
  }
  for (int64_t i = quarter; i < n - 3 * quarter; ++i) s3 += static_cast<Total>(d[i]);
  auto* total = static_cast<Sum<T>*>(sum);
  *total = wrap_add(*total, static_cast<Sum<T>>((s0 + s1) + (s2 + s3)));
}

template <template <class> class Op>
Reducer of(DType dtype) {
  return visit(dtype, []<class T>() -> Reducer {
    return {dtype_of<typename Op<T>::Result>, clear<Op<T>>, fold<Op<T>, T>, add<Op<T>, T>};
  });
}

Reducer sum(DType dtype) {
  return visit(dtype, []<class T>() -> Reducer {
    return {dtype_of<Sum<T>>, clear<Add<T>>, fold_sum<T>, add<Add<T>, T>};
  });
}

// clang-format off
Reducer find_reducer(ReduceOp op, DType dtype) {
  switch (op) {
    case ReduceOp::sum: return sum(dtype);
    case ReduceOp::prod: return of<Multiply>(dtype);
    case ReduceOp::max: return of<Largest>(dtype);
    case ReduceOp::min: return of<Smallest>(dtype);
    case ReduceOp::any: return of<Any>(dtype);
    case ReduceOp::all: break;
  }
  return of<All>(dtype);
}
// clang-format on

}  // namespace
}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ambit::cpu {

HWY_EXPORT(find_reducer);
Reducer reducer(ReduceOp op, DType dtype) { return HWY_DYNAMIC_DISPATCH(find_reducer)(op, dtype); }

}  // namespace ambit::cpu
#endif
