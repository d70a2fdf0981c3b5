#include "reduce_rows.h"

#include "backends/cpu/runtime/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/reduce/reduce_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <limits>

#include "backends/cpu/elementwise/arithmetic.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
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

/// Four rows at a time, so that the sums are read and written a quarter as often, but short rows
/// one behind the other: those are one stream, which processors read ahead best alone.
template <class Op, class T>
void add(int64_t n, void* sums, const void* x, int64_t rows, int64_t stride) {
  constexpr int64_t kFar = 2048 / static_cast<int64_t>(sizeof(T));
  auto* to = static_cast<typename Op::Result*>(sums);
  const T* a = static_cast<const T*>(x);
  for (; rows >= 4 && stride >= kFar; rows -= 4, a += 4 * stride) {
    const T *b = a + stride, *c = b + stride, *d = c + stride;
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) {
      const auto two = Op::merge(Op::merge(to[i], element<Op>(a[i])), element<Op>(b[i]));
      to[i] = Op::merge(Op::merge(two, element<Op>(c[i])), element<Op>(d[i]));
    }
  }
  for (; rows > 0; --rows, a += stride) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) to[i] = Op::merge(to[i], element<Op>(a[i]));
  }
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

/// The same for sums of integers, which OpenMP knows.
template <class T>
void fold_sum(int64_t n, void* sum, const void* x) {
  const T* from = static_cast<const T*>(x);
  uint64_t total = 0;  // unsigned, since integers wrap
#pragma omp simd reduction(+ : total)
  for (int64_t i = 0; i < n; ++i) total += static_cast<uint64_t>(from[i]);
  auto* to = static_cast<int64_t*>(sum);
  *to = wrap_add(*to, static_cast<int64_t>(total));
}

/// The same for sums of floats in vectors of double: four, which hides the latency of an addition.
template <class T>
void fold_float_sum(int64_t n, void* sum, const void* x) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<T, decltype(d)> narrow;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const T* from = static_cast<const T*>(x);
  const auto load = [&](int64_t i) HWY_ATTR {
    if constexpr (std::same_as<T, double>)
      return hn::LoadU(d, from + i);
    else
      return hn::PromoteTo(d, hn::LoadU(narrow, from + i));
  };
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    s0 = hn::Add(s0, load(i));
    s1 = hn::Add(s1, load(i + lanes));
    s2 = hn::Add(s2, load(i + 2 * lanes));
    s3 = hn::Add(s3, load(i + 3 * lanes));
  }
  for (; i + lanes <= n; i += lanes) s0 = hn::Add(s0, load(i));
  double total = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
  for (; i < n; ++i) total += static_cast<double>(from[i]);
  *static_cast<double*>(sum) += total;
}

template <template <class> class Op>
Reducer of(DType dtype) {
  return visit(dtype, []<class T>() -> Reducer {
    return {dtype_of<typename Op<T>::Result>, clear<Op<T>>, fold<Op<T>, T>, add<Op<T>, T>};
  });
}

Reducer sum(DType dtype) {
  return visit(dtype, []<class T>() -> Reducer {
    Reducer r = of<Add>(dtype_of<T>);
    if constexpr (std::floating_point<T>)
      r.fold = fold_float_sum<T>;
    else
      r.fold = fold_sum<T>;
    return r;
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
