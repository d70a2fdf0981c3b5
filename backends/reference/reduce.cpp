// Reductions over any set of dims, along one dim with the position of the extreme, and scans along
// one dim.
#include <ambit/backend/reference.h>
#include <ambit/error.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "accumulator.h"
#include "runs.h"
#include "strided_loop.h"

namespace ambit::reference {
namespace {

// Return strides that map an index of x to the element of y (contiguous) into which it is reduced.
Dims target_strides(const Tensor& y) {
  Dims strides = contiguous_strides(y.sizes());
  for (size_t d = 0; d < strides.size(); ++d) {
    if (y.sizes()[d] == 1) strides[d] = 0;
  }
  return strides;
}

// total[i] = combine(...combine(combine(first, x), x')...) over the elements of x that are reduced
// into y[i].
template <class X, class Acc, class F>
std::vector<Acc> folded(const Tensor& y, const Tensor& x, Acc first, F combine) {
  const X* px = x.data_ptr<X>();
  std::vector<Acc> total(static_cast<size_t>(y.numel()), first);
  strided_loop(x.sizes(), {target_strides(y), x.strides()}, [&](int64_t i, int64_t j) {
    Acc& t = total[static_cast<size_t>(i)];
    t = combine(t, px[j]);
  });
  return total;
}

template <class Y, class X, class Acc, class F>
void fold(Tensor& y, const Tensor& x, Acc first, F combine) {
  store<Y>(y, folded<X>(y, x, first, combine));
}

template <class Y, class X>
void sum(Tensor& y, const Tensor& x) {
  using Acc = Accumulator<Y>;
  fold<Y, X>(y, x, Acc{0}, [](Acc a, X b) { return a + static_cast<Acc>(b); });
}

template <class Y, class X>
void prod(Tensor& y, const Tensor& x) {
  using Acc = Accumulator<Y>;
  fold<Y, X>(y, x, Acc{1}, [](Acc a, X b) { return a * static_cast<Acc>(b); });
}

template <class T>
void mean(Tensor& y, const Tensor& x) {
  std::vector<double> total = folded<T>(y, x, 0., [](double a, T b) { return a + b; });
  const auto n = static_cast<double>(y.numel() == 0 ? 0 : x.numel() / y.numel());
  for (double& t : total) t /= n;
  store<T>(y, total);
}

// Return the sum of count(element).
template <class T, class F>
std::vector<double> float_sum(const Tensor& y, const Tensor& x, F count) {
  return folded<T>(y, x, 0., [&](double a, T b) { return a + count(static_cast<double>(b)); });
}

template <class T>
void nansum(Tensor& y, const Tensor& x) {
  store<T>(y, float_sum<T>(y, x, [](double b) { return std::isnan(b) ? 0 : b; }));
}

template <class T>
void abs_sum(Tensor& y, const Tensor& x) {
  store<T>(y, float_sum<T>(y, x, [](double b) { return std::fabs(b); }));
}

template <class T>
void norm(Tensor& y, const Tensor& x) {
  std::vector<double> total = float_sum<T>(y, x, [](double b) { return b * b; });
  for (double& t : total) t = std::sqrt(t);
  store<T>(y, total);
}

// Two passes in long double, which has more digits and can hold the square of any double.
template <class T>
void variance(Tensor& y, const Tensor& x, bool unbiased, bool root) {
  const T* px = x.data_ptr<T>();
  const auto n = static_cast<long double>(y.numel() == 0 ? 0 : x.numel() / y.numel());
  std::vector<long double> center = folded<T>(y, x, 0.L, [](long double a, T b) { return a + b; });
  for (long double& c : center) c /= n;
  std::vector<long double> total(center.size(), 0.L);
  strided_loop(x.sizes(), {target_strides(y), x.strides()}, [&](int64_t i, int64_t j) {
    const long double apart = px[j] - center[static_cast<size_t>(i)];
    total[static_cast<size_t>(i)] += apart * apart;
  });
  for (long double& t : total) {
    t /= unbiased && n > 0 ? n - 1 : n;  // 0 / 0 is NaN
    if (root) t = std::sqrt(t);
  }
  store<T>(y, total);
}

// Return true if b replaces a as the extreme; the first NaN wins.
template <class T>
bool beats(T b, T a, bool largest) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a)) return false;
    if (std::isnan(b)) return true;
  }
  return largest ? b > a : b < a;
}

template <class T>
void extreme(Tensor& y, const Tensor& x, bool largest) {
  using Limits = std::numeric_limits<T>;
  constexpr T kLeast = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  constexpr T kMost = Limits::has_infinity ? Limits::infinity() : Limits::max();
  // Acc differs from T only for bool, because vector<bool> is packed.
  using Acc = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;
  fold<T, T>(y, x, static_cast<Acc>(largest ? kLeast : kMost),
             [&](Acc a, T b) { return beats<Acc>(b, a, largest) ? static_cast<Acc>(b) : a; });
}

template <class X>
void any(Tensor& y, const Tensor& x) {
  fold<bool, X>(y, x, uint8_t{0}, [](uint8_t a, X b) -> uint8_t { return a || b != X{0}; });
}

template <class X>
void all(Tensor& y, const Tensor& x) {
  fold<bool, X>(y, x, uint8_t{1}, [](uint8_t a, X b) -> uint8_t { return a && b != X{0}; });
}

}  // namespace

void reduce(Tensor& y, const Tensor& x, const ReduceOp& op) {
  count_run();
  visit(x.dtype(), [&]<class X>() {
    const bool to_int64 = y.dtype() != x.dtype();  // then y is int64
    // clang-format off
    switch (op) {
      case ReduceOp::sum: return to_int64 ? sum<int64_t, X>(y, x) : sum<X, X>(y, x);
      case ReduceOp::prod: return to_int64 ? prod<int64_t, X>(y, x) : prod<X, X>(y, x);
      case ReduceOp::max: return extreme<X>(y, x, true);
      case ReduceOp::min: return extreme<X>(y, x, false);
      case ReduceOp::any: return any<X>(y, x);
      case ReduceOp::all: return all<X>(y, x);
      default: break;
    }
    if constexpr (std::is_floating_point_v<X>) {
      switch (op) {
        case ReduceOp::mean: return mean<X>(y, x);
        case ReduceOp::nansum: return nansum<X>(y, x);
        case ReduceOp::abs_sum: return abs_sum<X>(y, x);
        case ReduceOp::norm: return norm<X>(y, x);
        case ReduceOp::var: return variance<X>(y, x, false, false);
        case ReduceOp::var_unbiased: return variance<X>(y, x, true, false);
        case ReduceOp::std: return variance<X>(y, x, false, true);
        case ReduceOp::std_unbiased: return variance<X>(y, x, true, true);
        default: break;
      }
    }
    // clang-format on
    throw DTypeError(fmt::format("{}: expected floats, got {}", name(op), name(x.dtype())));
  });
}

void arg_reduce(Tensor& value, Tensor& index, const Tensor& x, int64_t dim, bool largest) {
  count_run();
  const Line line(x, dim);
  int64_t* pi = index.data_ptr<int64_t>();
  visit(x.dtype(), [&]<class T>() {
    const T* px = x.data_ptr<T>();
    T* pv = value.defined() ? value.data_ptr<T>() : nullptr;
    const Tensor& v = value.defined() ? value : index;
    strided_loop(line_starts(x, dim), {index.strides(), v.strides(), x.strides()},
                 [&](int64_t i, int64_t k, int64_t start) {
                   int64_t best = 0;
                   for (int64_t j = 1; j < line.length; ++j) {
                     if (beats(px[start + j * line.step], px[start + best * line.step], largest)) {
                       best = j;
                     }
                   }
                   pi[i] = best;
                   if (pv) pv[k] = px[start + best * line.step];
                 });
  });
}

namespace {

// y[i] = x[0] combined with x[1] ... x[i] along each line, from the left, accumulated in Acc;
// without x[i] if exclusive; from the right if reverse.
template <class T, class Acc, class F>
void scan_lines(Tensor& y, const Tensor& x, const ScanParams& p, Acc first, F combine) {
  const Line from(x, p.dim), to(y, p.dim);
  T* py = y.data_ptr<T>();
  const T* px = x.data_ptr<T>();
  strided_loop(line_starts(x, p.dim), {y.strides(), x.strides()}, [&](int64_t i, int64_t k) {
    Acc total = first;
    for (int64_t n = 0; n < from.length; ++n) {
      const int64_t j = p.reverse ? from.length - 1 - n : n;
      const Acc before = total;
      total = combine(total, static_cast<Acc>(px[k + j * from.step]));
      py[i + j * to.step] = static_cast<T>(p.exclusive ? before : total);
    }
  });
}

// Return log(e^a + e^b).
double log_add_exp(double a, double b) {
  if (a == b && std::isinf(a)) return a;
  const double high = a > b || std::isnan(a) ? a : b, low = a > b || std::isnan(a) ? b : a;
  return high + std::log1p(std::exp(low - high));
}

}  // namespace

void scan(Tensor& y, const Tensor& x, const ScanParams& p, const ScanOp& op) {
  count_run();
  visit(x.dtype(), [&]<class T>() {
    using Acc = Accumulator<T>;
    switch (op) {
      case ScanOp::sum:
        return scan_lines<T>(y, x, p, Acc{0}, [](Acc a, Acc b) { return a + b; });
      case ScanOp::prod:
        return scan_lines<T>(y, x, p, Acc{1}, [](Acc a, Acc b) { return a * b; });
      case ScanOp::logsumexp:
        if constexpr (std::is_floating_point_v<T>) {
          return scan_lines<T>(y, x, p, -std::numeric_limits<double>::infinity(), log_add_exp);
        }
        throw DTypeError(fmt::format("logsumexp: expected floats, got {}", name(x.dtype())));
    }
  });
}

void cum_extremum(Tensor& y, Tensor& index, const Tensor& x, int64_t dim, bool largest) {
  count_run();
  const Line from(x, dim), to(y, dim), to_index(index, dim);
  int64_t* pi = index.data_ptr<int64_t>();
  visit(x.dtype(), [&]<class T>() {
    T* py = y.data_ptr<T>();
    const T* px = x.data_ptr<T>();
    strided_loop(line_starts(x, dim), {y.strides(), index.strides(), x.strides()},
                 [&](int64_t i, int64_t k, int64_t start) {
                   int64_t best = 0;
                   for (int64_t j = 0; j < from.length; ++j) {
                     const T v = px[start + j * from.step], b = px[start + best * from.step];
                     const bool as_good = largest ? v >= b : v <= b;
                     if (v != v || (b == b && as_good)) best = j;
                     py[i + j * to.step] = px[start + best * from.step];
                     pi[k + j * to_index.step] = best;
                   }
                 });
  });
}

}  // namespace ambit::reference
