#include "reduce_loops.h"

#include "backends/cpu/runtime/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/reduce/reduce_loops.cpp"
#include <ambit/backend/folds.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

template <class F>
void clear(int64_t n, void* sums) {
  std::fill_n(static_cast<typename F::Value*>(sums), n, F::kNothing);
}

/// Add four rows at a time, so that the sums are read and written a quarter as often. Exception:
/// contiguous rows of hundreds of bytes are added one at a time, because they form a single stream,
/// which is prefetched best.
template <class F, class T>
void add(int64_t n, void* sums, const void* x, int64_t rows, int64_t stride) {
  constexpr int64_t kFar = 2048 / static_cast<int64_t>(sizeof(T)), kNear = kFar / 8;
  auto* to = static_cast<typename F::Value*>(sums);
  const T* a = static_cast<const T*>(x);
  for (; rows >= 4 && (stride >= kFar || stride <= kNear); rows -= 4, a += 4 * stride) {
    const T *b = a + stride, *c = b + stride, *d = c + stride;
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) {
      const auto two = F::merge(F::merge(to[i], F::element(a[i])), F::element(b[i]));
      to[i] = F::merge(F::merge(two, F::element(c[i])), F::element(d[i]));
    }
  }
  for (; rows > 0; --rows, a += stride) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) to[i] = F::merge(to[i], F::element(a[i]));
  }
}

/// *sum = merge(*sum, x[0], ...), with 64 separate sums, which fill vector registers.
template <class F, class T>
void fold(int64_t n, void* sum, const void* x) {
  constexpr int64_t kSums = 64;
  using Value = typename F::Value;
  const T* from = static_cast<const T*>(x);
  Value total = *static_cast<Value*>(sum);
  int64_t i = 0;
  if (n >= 2 * kSums) {
    Value sums[kSums];
    std::fill_n(sums, kSums, F::kNothing);
    for (; i + kSums <= n; i += kSums) {
#pragma omp simd
      for (int64_t j = 0; j < kSums; ++j) sums[j] = F::merge(sums[j], F::element(from[i + j]));
    }
    for (int64_t half = kSums / 2; half > 0; half /= 2) {
      for (int64_t j = 0; j < half; ++j) sums[j] = F::merge(sums[j], sums[j + half]);
    }
    total = F::merge(total, sums[0]);
  }
  for (; i < n; ++i) total = F::merge(total, F::element(from[i]));
  *static_cast<Value*>(sum) = total;
}

/// As fold, for sums of integers, which OpenMP can vectorise.
template <class T>
void fold_sum(int64_t n, void* sum, const void* x) {
  const T* from = static_cast<const T*>(x);
  uint64_t total = 0;  // unsigned, since integers wrap
#pragma omp simd reduction(+ : total)
  for (int64_t i = 0; i < n; ++i) total += static_cast<uint64_t>(from[i]);
  auto* to = static_cast<int64_t*>(sum);
  *to = arithmetic::wrap_add(*to, static_cast<int64_t>(total));
}

/// Apply Fold::element to a vector.
template <ReduceOp op, class D, class V>
HWY_INLINE V counted(D d, V x) {
  if constexpr (op == ReduceOp::nansum) return hn::IfThenElseZero(hn::Eq(x, x), x);
  if constexpr (op == ReduceOp::abs_sum) return hn::Abs(x);
  if constexpr (op == ReduceOp::norm) return hn::Mul(x, x);
  (void)d;
  return x;
}

/// As fold, for sums of floats in float64 vectors: four of them, to hide the addition latency.
template <ReduceOp op, class T>
void fold_float_sum(int64_t n, void* sum, const void* x) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<T, decltype(d)> narrow;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const T* from = static_cast<const T*>(x);
  const auto load = [&](int64_t i) HWY_ATTR {
    if constexpr (std::same_as<T, double>)
      return counted<op>(d, hn::LoadU(d, from + i));
    else
      return counted<op>(d, hn::PromoteTo(d, hn::LoadU(narrow, from + i)));
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
  for (; i < n; ++i) total += arithmetic::Fold<op, T>::element(from[i]);
  *static_cast<double*>(sum) += total;
}

using arithmetic::Moments;

void clear_moments(int64_t n, void* sums) {
  std::fill_n(static_cast<Moments*>(sums), n, Moments{0, 0, 0});
}

void merge_moments(int64_t n, void* sums, const void* more, int64_t rows, int64_t stride) {
  auto* to = static_cast<Moments*>(sums);
  const auto* from = static_cast<const Moments*>(more);
  for (; rows > 0; --rows, from += stride) {
    for (int64_t i = 0; i < n; ++i) to[i] = merged(to[i], from[i]);
  }
}

/// Return the moments of n elements given the sums of differences (rest) and squared differences
/// (squares) from an approximate mean. Source: Chan, Golub & LeVeque 1983, eq. 1.7.
HWY_INLINE Moments corrected(double n, double mean, double rest, double squares) {
  const double less = squares - rest * (rest / n);
  return {n, mean + rest / n, less < 0 ? 0 : less};  // keeps NaN
}

template <class T>
HWY_INLINE Moments moments_about(double mean, int64_t n, const T* x) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<T, decltype(d)> narrow;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto center = hn::Set(d, mean);
  const auto apart = [&](int64_t i) HWY_ATTR {
    if constexpr (std::same_as<T, double>)
      return hn::Sub(hn::LoadU(d, x + i), center);
    else
      return hn::Sub(hn::PromoteTo(d, hn::LoadU(narrow, x + i)), center);
  };
  auto r0 = hn::Zero(d), r1 = r0, s0 = r0, s1 = r0;
  int64_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    const auto a = apart(i), b = apart(i + lanes);
    r0 = hn::Add(r0, a);
    r1 = hn::Add(r1, b);
    s0 = hn::MulAdd(a, a, s0);
    s1 = hn::MulAdd(b, b, s1);
  }
  double rest = hn::GetLane(hn::SumOfLanes(d, hn::Add(r0, r1)));
  double squares = hn::GetLane(hn::SumOfLanes(d, hn::Add(s0, s1)));
  for (; i < n; ++i) {
    const double a = static_cast<double>(x[i]) - mean;
    rest += a;
    squares += a * a;
  }
  return corrected(static_cast<double>(n), mean, rest, squares);
}

/// Process pieces that fit in the L1 cache, so that x is read from memory once.
template <class T>
void fold_moments(int64_t n, void* sum, const void* x) {
  constexpr int64_t kPiece = 2048;
  auto* to = static_cast<Moments*>(sum);
  const T* from = static_cast<const T*>(x);
  for (int64_t i = 0; i < n; i += kPiece) {
    const int64_t m = std::min(kPiece, n - i);
    double total = 0;
    fold_float_sum<ReduceOp::sum, T>(m, &total, from + i);
    *to = merged(*to, moments_about(total / static_cast<double>(m), m, from + i));
  }
}

/// As fold_moments, for up to 16 rows of up to 256 results.
template <class T>
void add_moments_block(int64_t n, Moments* to, const T* x, int64_t rows, int64_t stride) {
  constexpr int64_t kMost = 256;
  const auto count = static_cast<double>(rows);
  double mean[kMost] = {}, rest[kMost] = {}, squares[kMost] = {};
  for (int64_t r = 0; r < rows; ++r) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) mean[i] += static_cast<double>(x[r * stride + i]);
  }
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) mean[i] /= count;
  for (int64_t r = 0; r < rows; ++r) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) {
      const double apart = static_cast<double>(x[r * stride + i]) - mean[i];
      rest[i] += apart;
      squares[i] += apart * apart;
    }
  }
  for (int64_t i = 0; i < n; ++i) {
    to[i] = merged(to[i], corrected(count, mean[i], rest[i], squares[i]));
  }
}

template <class T>
void add_moments(int64_t n, void* sums, const void* x, int64_t rows, int64_t stride) {
  constexpr int64_t kColumns = 256, kRows = 16;
  auto* to = static_cast<Moments*>(sums);
  const T* from = static_cast<const T*>(x);
  for (int64_t i = 0; i < n; i += kColumns) {
    for (int64_t r = 0; r < rows; r += kRows) {
      add_moments_block(std::min(kColumns, n - i), to + i, from + r * stride + i,
                        std::min(kRows, rows - r), stride);
    }
  }
}

/// Convert sums to results in place: a result, at most as large, overwrites only sums already read.
template <ReduceOp op, class T>
void finish(int64_t n, void* sums, int64_t count) {
  using Value = typename arithmetic::Fold<op, T>::Value;
  const auto* from = static_cast<const Value*>(sums);
  auto* to = static_cast<arithmetic::Folded<op, T>*>(sums);
  for (int64_t i = 0; i < n; ++i) {
    const Value v = from[i];
    to[i] = arithmetic::finished<op>(v, count);
  }
}

bool keep_range(int64_t n, const void* norms) {
  constexpr double kLeast = 0x1p-485, kMost = std::numeric_limits<double>::max();
  static_assert(kLeast * kLeast >=
                std::numeric_limits<double>::min() / std::numeric_limits<double>::epsilon());
  const hn::ScalableTag<double> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto* v = static_cast<const double*>(norms);
  const auto least = hn::Set(d, kLeast);
  auto low = least, high = least;
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto norm = hn::LoadU(d, v + i);
    low = hn::IfThenElse(hn::Lt(norm, low), norm, low);
    high = hn::IfThenElse(hn::Gt(norm, high), norm, high);
  }
  const auto outside = hn::Or(hn::Lt(low, least), hn::Gt(high, hn::Set(d, kMost)));
  bool keeps = hn::AllFalse(d, outside);
  for (; i < n; ++i) keeps &= !(v[i] < kLeast || v[i] > kMost);
  return keeps;
}

template <ReduceOp op, class T>
Reducer make_reducer() {
  using F = arithmetic::Fold<op, T>;
  using Value = typename F::Value;
  static_assert(sizeof(Value) <= Reducer::kMostSumSize);
  constexpr DType dtype = dtype_of<arithmetic::Folded<op, T>>;
  if constexpr (std::same_as<Value, Moments>) {
    return {sizeof(Value),  dtype,         clear_moments, fold_moments<T>,
            add_moments<T>, merge_moments, finish<op, T>};
  } else {
    constexpr ReduceOp kMerging = arithmetic::merging(op);
    Reducer r{sizeof(Value), dtype,     clear<F>,
              fold<F, T>,    add<F, T>, add<arithmetic::Fold<kMerging, Value>, Value>};
    if constexpr (kMerging == ReduceOp::sum && std::floating_point<T>)
      r.fold = fold_float_sum<op, T>;
    if constexpr (op == ReduceOp::sum && std::integral<T>) r.fold = fold_sum<T>;
    if constexpr (op == ReduceOp::mean || op == ReduceOp::norm) r.finish = finish<op, T>;
    if constexpr (op == ReduceOp::norm && std::same_as<T, double>) r.keep_range = keep_range;
    return r;
  }
}

Reducer find_reducer(ReduceOp op, DType dtype) {
  switch (op) {
#define AMBIT_CASE(name, set, ...) \
  case ReduceOp::name:             \
    return visit<dtypes::set>(dtype, []<class T>() { return make_reducer<ReduceOp::name, T>(); });
    AMBIT_REDUCE_FUNCTIONS(AMBIT_CASE)
#undef AMBIT_CASE
  }
  return {};
}

}  // namespace
}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ambit::cpu {

HWY_EXPORT(find_reducer);
Reducer reducer(ReduceOp op, DType dtype) { return HWY_DYNAMIC_DISPATCH(find_reducer)(op, dtype); }

}  // namespace ambit::cpu
#endif
