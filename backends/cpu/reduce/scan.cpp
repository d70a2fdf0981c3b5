// Kernels that traverse lines of a tensor from the start: positions of extremes, scans.
// Adjacent lines are processed together.
#include "backends/cpu/runtime/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/reduce/scan.cpp"
#include <ambit/autograd.h>
#include <ambit/backend/alias.h>
#include <ambit/backend/arithmetic.h>
#include <ambit/error.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
#include <type_traits>

#include "backends/cpu/kernels.h"
#include "backends/cpu/layout/lines.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace {

constexpr int64_t kTogether = 1024;  // lines; their values and positions fit in the L1 cache

/// Compute value[j], position[j]: the extreme of each of n <= kTogether adjacent lines.
template <bool kLargest, class T>
HWY_NOINLINE void find_extremes(int64_t n, T* value, int64_t* position, const T* x,
                                const Line& line) {
  std::copy_n(x, n, value);
  std::fill_n(position, n, int64_t{0});
  for (int64_t i = 1; i < line.length; ++i) {
    const T* row = x + i * line.step;
#pragma omp simd
    for (int64_t j = 0; j < n; ++j) {
      const bool better = arithmetic::beats(row[j], value[j], kLargest);
      value[j] = better ? row[j] : value[j];
      position[j] = better ? i : position[j];
    }
  }
}

/// Return the position of the extreme of a contiguous line, found by `kLanes` interleaved searches;
/// the first of equal elements wins.
template <bool kLargest, class T>
int64_t find_in_row(int64_t n, const T* x) {
  constexpr int64_t kLanes = 16;
  int64_t best = 0, rest = 1;
  if (n >= 2 * kLanes) {
    T value[kLanes];
    int64_t position[kLanes];
    Line lanes;
    lanes.length = n / kLanes;
    lanes.step = kLanes;
    find_extremes<kLargest>(kLanes, value, position, x, lanes);
    best = position[0] * kLanes;
    for (int64_t j = 1; j < kLanes; ++j) {
      const int64_t at = position[j] * kLanes + j;
      const bool earlier = at < best && !arithmetic::beats(x[best], x[at], kLargest);
      if (earlier || arithmetic::beats(x[at], x[best], kLargest)) best = at;
    }
    rest = lanes.length * kLanes;
  }
  for (int64_t i = rest; i < n; ++i) {
    if (arithmetic::beats(x[i], x[best], kLargest)) best = i;
  }
  return best;
}

template <bool kLargest, class T>
int64_t find_extreme(const T* x, const Line& line) {
  if (line.step == 1) return find_in_row<kLargest>(line.length, x);
  int64_t best = 0;
  for (int64_t i = 1; i < line.length; ++i) {
    if (arithmetic::beats(x[i * line.step], x[best * line.step], kLargest)) best = i;
  }
  return best;
}

template <bool kLargest, class T>
void run_arg_reduce(const Tensor& value, const Tensor& index, const Tensor& x, int64_t dim) {
  const Tensor& values = value.defined() ? value : index;  // index only supplies strides
  const auto loops = make_line_loops<3>({&index, &values, &x}, dim);
  const Line line(x, dim);
  int64_t* positions = index.data_ptr<int64_t>();
  const T* from = x.data_ptr<T>();
  T* found = value.defined() ? value.data_ptr<T>() : nullptr;
  const int64_t to_step = loops.inner_stride(0), found_step = loops.inner_stride(1),
                x_step = loops.inner_stride(2);
  parallel_runs(loops, grain_for(line.length), [&](int64_t n, std::array<int64_t, 3> at) {
    int64_t* to = positions + at[0];
    const T* start = from + at[2];
    if (to_step == 1 && x_step == 1 && n > 1) {
      T best[kTogether];
      for (int64_t i = 0; i < n; i += kTogether) {
        const int64_t m = std::min(kTogether, n - i);
        find_extremes<kLargest>(m, best, to + i, start + i, line);
        for (int64_t j = 0; found && j < m; ++j) found[at[1] + (i + j) * found_step] = best[j];
      }
      return;
    }
    for (int64_t i = 0; i < n; ++i, start += x_step) {
      const int64_t best = find_extreme<kLargest>(start, line);
      to[i * to_step] = best;
      if (found) found[at[1] + i * found_step] = start[best * line.step];
    }
  });
}

void arg_reduce_any(const Tensor& value, const Tensor& index, const Tensor& x, int64_t dim,
                    bool largest) {
  visit(x.dtype(), [&]<class T>() {
    if (largest) return run_arg_reduce<true, T>(value, index, x, dim);
    run_arg_reduce<false, T>(value, index, x, dim);
  });
}

// The ops of scans: first() is the initial value, join() adds an element. Acc is double for floats.
struct Sum {
  template <class Acc>
  static Acc first() {
    return 0;
  }
  template <class Acc>
  static Acc join(Acc a, Acc b) {
    return arithmetic::wrap_add(a, b);
  }
};
struct Prod {
  template <class Acc>
  static Acc first() {
    return 1;
  }
  template <class Acc>
  static Acc join(Acc a, Acc b) {
    return arithmetic::wrap_mul(a, b);
  }
};
struct LogSumExp {
  template <class Acc>
  static Acc first() {
    return -std::numeric_limits<Acc>::infinity();
  }
  template <class Acc>
  static Acc join(Acc a, Acc b) {
    const Acc high = arithmetic::maximum(a, b), low = arithmetic::minimum(a, b);
    // The difference of equal infinities is NaN.
    return high == low && std::isinf(high) ? high : high + std::log1p(std::exp(low - high));
  }
};

/// Compute the scan of one line of x into y.
template <class Op, class Acc, class T>
void scan_line(T* y, const Line& to, const T* x, const Line& from) {
  Acc acc = Op::template first<Acc>();
  for (int64_t i = 0; i < from.length; ++i) {
    acc = Op::join(acc, static_cast<Acc>(x[i * from.step]));
    y[i * to.step] = static_cast<T>(acc);
  }
}

/// As scan_line, for kAbreast adjacent lines, one step apart: interleaving hides the latency of the
/// dependent operations.
constexpr int64_t kAbreast = 4;
template <class Op, class Acc, class T>
void scan_abreast(T* y, int64_t y_step, const Line& to, const T* x, int64_t x_step,
                  const Line& from) {
  Acc acc[kAbreast];
  std::fill_n(acc, kAbreast, Op::template first<Acc>());
  for (int64_t i = 0; i < from.length; ++i) {
    for (int64_t j = 0; j < kAbreast; ++j) {
      acc[j] = Op::join(acc[j], static_cast<Acc>(x[j * x_step + i * from.step]));
      y[j * y_step + i * to.step] = static_cast<T>(acc[j]);
    }
  }
}

/// As scan_line, for n <= kTogether adjacent lines.
template <class Op, class Acc, class T>
void scan_lines(int64_t n, T* y, const Line& to, const T* x, const Line& from) {
  Acc acc[kTogether];
  std::fill_n(acc, n, Op::template first<Acc>());
  for (int64_t i = 0; i < from.length; ++i, y += to.step, x += from.step) {
#pragma omp simd
    for (int64_t j = 0; j < n; ++j) {
      acc[j] = Op::join(acc[j], static_cast<Acc>(x[j]));
      y[j] = static_cast<T>(acc[j]);
    }
  }
}

template <class Op, class T>
void run_scan(const Tensor& y, const Tensor& x, int64_t dim) {
  using Acc = std::conditional_t<std::floating_point<T>, double, T>;
  const auto loops = make_line_loops<2>({&y, &x}, dim);
  const Line to(y, dim), from(x, dim);
  const int64_t y_step = loops.inner_stride(0), x_step = loops.inner_stride(1);
  T* py = y.data_ptr<T>();
  const T* px = x.data_ptr<T>();
  parallel_runs(loops, grain_for(from.length), [&](int64_t n, std::array<int64_t, 2> at) {
    T* to_lines = py + at[0];
    const T* lines = px + at[1];
    if (y_step == 1 && x_step == 1 && n > 1) {
      for (int64_t i = 0; i < n; i += kTogether) {
        scan_lines<Op, Acc>(std::min(kTogether, n - i), to_lines + i, to, lines + i, from);
      }
      return;
    }
    int64_t i = 0;
    for (; i + kAbreast <= n; i += kAbreast) {
      scan_abreast<Op, Acc>(to_lines + i * y_step, y_step, to, lines + i * x_step, x_step, from);
    }
    for (; i < n; ++i) scan_line<Op, Acc>(to_lines + i * y_step, to, lines + i * x_step, from);
  });
}

void scan_any(const Tensor& y, const Tensor& x, int64_t dim, ScanOp op) {
  visit<dtypes::kNumbers>(y.dtype(), [&]<class T>() {
    switch (op) {
      case ScanOp::sum:
        return run_scan<Sum, T>(y, x, dim);
      case ScanOp::prod:
        return run_scan<Prod, T>(y, x, dim);
      case ScanOp::logsumexp:
        if constexpr (std::floating_point<T>) return run_scan<LogSumExp, T>(y, x, dim);
        throw DTypeError(fmt::format("logsumexp: expected floats, got {}", name(y.dtype())));
    }
  });
}

}  // namespace
}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ambit::cpu {
namespace {

/// Compute running extremes y and their positions (index) along a line.
template <bool kLargest, class T>
void follow_extremes(T* y, const Line& to, int64_t* index, const Line& to_index, const T* x,
                     const Line& from) {
  T best{};
  int64_t at = 0;
  for (int64_t i = 0; i < from.length; ++i) {
    const T v = x[i * from.step];
    const bool as_good = kLargest ? v >= best : v <= best;
    if (i == 0 || v != v || (best == best && as_good)) {
      best = v;
      at = i;
    }
    y[i * to.step] = best;
    index[i * to_index.step] = at;
  }
}

/// Return a view of t with its lines along dim reversed.
Tensor reversed(const Tensor& t, int64_t dim) {
  Dims strides(t.strides());
  int64_t& step = strides[static_cast<size_t>(dim)];
  const int64_t last = t.storage_offset() + (t.size(dim) - 1) * step;
  step = -step;
  return alias(t, t.sizes(), strides, last);
}

/// Return the scan of an empty line.
Scalar scan_of_none(ScanOp op) {
  if (op == ScanOp::logsumexp) return -std::numeric_limits<double>::infinity();
  return op == ScanOp::prod ? 1 : 0;
}

}  // namespace

HWY_EXPORT(arg_reduce_any);
HWY_EXPORT(scan_any);

// index, value [.., 1, ..], x [.., n, ..]
void arg_reduce(Tensor& value, Tensor& index, const Tensor& x, int64_t dim, bool largest) {
  if (index.numel() > 0) HWY_DYNAMIC_DISPATCH(arg_reduce_any)(value, index, x, dim, largest);
}

// y, x [.., n, ..]
void scan(Tensor& y, const Tensor& x, const ScanParams& p, const ScanOp& op) {
  if (y.numel() == 0) return;
  const int64_t n = y.dim() == 0 ? 1 : y.size(p.dim);
  if (p.exclusive) {
    if (n == 1) return fill(y, scan_of_none(op));
    // Each result is the inclusive scan up to the preceding element; the first one is empty.
    const NoGradGuard no_grad;
    Tensor first = narrow(y, p.dim, p.reverse ? n - 1 : 0, 1);
    fill(first, scan_of_none(op));
    Tensor rest = narrow(y, p.dim, p.reverse ? 0 : 1, n - 1);
    return scan(rest, narrow(x, p.dim, p.reverse ? 1 : 0, n - 1), {p.dim, p.reverse}, op);
  }
  if (p.reverse && n > 1) {
    return HWY_DYNAMIC_DISPATCH(scan_any)(reversed(y, p.dim), reversed(x, p.dim), p.dim, op);
  }
  HWY_DYNAMIC_DISPATCH(scan_any)(y, x, p.dim, op);
}

// y, index, x [.., n, ..]
void cum_extremum(Tensor& y, Tensor& index, const Tensor& x, int64_t dim, bool largest) {
  if (y.numel() == 0) return;
  const auto loops = make_line_loops<3>({&y, &index, &x}, dim);
  const Line to(y, dim), to_index(index, dim), from(x, dim);
  const int64_t y_step = loops.inner_stride(0), index_step = loops.inner_stride(1),
                x_step = loops.inner_stride(2);
  visit(y.dtype(), [&]<class T>() {
    const auto follow = largest ? follow_extremes<true, T> : follow_extremes<false, T>;
    parallel_runs(loops, grain_for(2 * from.length), [&](int64_t n, std::array<int64_t, 3> at) {
      for (int64_t i = 0; i < n; ++i) {
        follow(y.data_ptr<T>() + at[0] + i * y_step, to,
               index.data_ptr<int64_t>() + at[1] + i * index_step, to_index,
               x.data_ptr<T>() + at[2] + i * x_step, from);
      }
    });
  });
}

}  // namespace ambit::cpu
#endif
