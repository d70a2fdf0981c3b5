// Maximum pooling: vectors hold adjacent windows of a row, if the windows have all of their columns
// and a stride of 1 or 2; other windows are computed one by one. Our own code is used for both
// dtypes, since oneDNN returns positions within the window, not within the image.
#include "backends/cpu/runtime/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/pool/max_pool.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "backends/cpu/kernels.h"
#include "backends/cpu/layout/channels_last.h"
#include "backends/cpu/layout/native_scope.h"
#include "backends/cpu/layout/upcast.h"
#include "backends/cpu/runtime/parallel.h"
#include "pool_channels_last.h"
#include "pool_windows.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

/// The input rows of a row of windows, along d and h.
struct Rows {
  Rows(const PoolImages& s, int64_t o, int64_t i) : d(o, s.d), h(i, s.h), H(s.h.in), W(s.w.in) {}
  /// Return the position of the first element of the first row.
  int64_t first() const { return (d.begin * H + h.begin) * W; }
  /// Call f(position of the first element) for each row.
  template <class F>
  HWY_INLINE void for_each(const F& f) const {
    for (int64_t k = d.begin; k < d.end; k += d.step) {
      for (int64_t i = h.begin; i < h.end; i += h.step) f((k * H + i) * W);
    }
  }
  Span d, h;
  int64_t H, W;
};

/// Destination of the positions of the maxima of a row of windows; none if they are not needed.
template <bool kAsked>
struct PositionsOut {
  PositionsOut from(int64_t j) const { return {kAsked ? at + j : at}; }
  int32_t* at;
};

/// Compute one window: the maximum goes to *y, its position to *index.
template <class T, bool kAsked>
void max_window(const T* x, T* y, PositionsOut<kAsked> index, const Rows& rows, const Span& w) {
  T best = -std::numeric_limits<T>::infinity();
  int64_t at = rows.first() + w.begin;
  rows.for_each([&](int64_t row) {
    for (int64_t j = row + w.begin; j < row + w.end; j += w.step) {
      const T v = x[j];
      if (v > best || v != v) {  // the last NaN wins
        best = v;
        at = j;
      }
    }
  });
  *y = best;
  if constexpr (kAsked) *index.at = static_cast<int32_t>(at);
}

/// Return the mask of elements of v that replace the largest so far; the last NaN wins.
template <class V>
HWY_INLINE auto is_larger(V v, V best) {
  return hn::Or(hn::Gt(v, best), hn::IsNaN(v));
}

/// Running maxima of adjacent windows, whose first columns are kStride apart.
template <class D, int64_t kStride, bool kAsked>
class Maxima {
 public:
  using T = hn::TFromD<D>;
  using Positions = hn::RebindToSigned<D>;
  using Position = hn::TFromD<Positions>;

  /// `first`: the position of the first window's first element.
  HWY_INLINE explicit Maxima(int64_t first)
      : best_(hn::Set(D(), -std::numeric_limits<T>::infinity())), at_(positions(first)) {}
  /// Process a row of the windows: x from the first window's first column on, at position `first`.
  HWY_INLINE void update_with_row(const T* x, int64_t first, int64_t columns, int64_t dilation) {
    if constexpr (kStride == 1) {
      for (int64_t k = 0; k < columns; ++k) {
        update(hn::LoadU(D(), x + k * dilation), positions(first + k * dilation));
      }
    } else {  // two columns per load, which ends with the last window
      hn::Vec<D> even, odd;
      for (int64_t k = 0; k + 1 < columns; k += 2) {
        hn::LoadInterleaved2(D(), x + k, even, odd);
        update(even, positions(first + k));
        update(odd, positions(first + k + 1));
      }
      if (columns % 2 != 0) {
        hn::LoadInterleaved2(D(), x + columns - 2, even, odd);
        update(odd, positions(first + columns - 1));
      }
    }
  }
  HWY_INLINE void store(T* y, PositionsOut<kAsked> index) const {
    hn::StoreU(best_, D(), y);
    if constexpr (kAsked && sizeof(T) == sizeof(int32_t)) {
      hn::StoreU(at_, Positions(), index.at);
    } else if constexpr (kAsked) {
      Position at[hn::MaxLanes(D())];
      hn::StoreU(at_, Positions(), at);
      std::copy_n(at, hn::MaxLanes(D()), index.at);
    }
  }

 private:
  HWY_INLINE static hn::Vec<Positions> positions(int64_t first) {
    const auto steps = hn::Iota(Positions(), Position{0});
    return hn::Add(hn::Set(Positions(), static_cast<Position>(first)),
                   kStride == 1 ? steps : hn::Add(steps, steps));
  }
  HWY_INLINE void update(hn::Vec<D> v, hn::Vec<Positions> at) {
    const auto better = is_larger(v, best_);
    best_ = hn::IfThenElse(better, v, best_);
    if constexpr (kAsked) at_ = hn::IfThenElse(hn::RebindMask(Positions(), better), at, at_);
  }

  hn::Vec<D> best_;
  hn::Vec<Positions> at_;
};

/// Compute windows [begin, end) of a row of y, in the largest vectors that they fill; the last
/// vector overlaps the one before it. Return the first window that was not computed.
template <size_t kLanes, int64_t kStride, class T, bool kAsked>
int64_t max_whole_windows(int64_t begin, int64_t end, const T* x, T* y, PositionsOut<kAsked> index,
                          const Rows& rows, const PoolAxis& w) {
  const hn::CappedTag<T, kLanes> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  if (end - begin < lanes) {
    if constexpr (kLanes > 4) {
      return max_whole_windows<kLanes / 2, kStride>(begin, end, x, y, index, rows, w);
    }
    return begin;
  }
  for (int64_t next = begin; next < end; next += lanes) {
    const int64_t j = std::min(next, end - lanes), column = j * kStride - w.padding;
    Maxima<decltype(d), kStride, kAsked> maxima(rows.first() + column);
    rows.for_each([&](int64_t row) HWY_ATTR {
      maxima.update_with_row(x + row + column, row + column, w.kernel, w.dilation);
    });
    maxima.store(y + j, index.from(j));
  }
  return end;
}

template <class V>
HWY_INLINE V larger(V best, V v) {
  return hn::IfThenElse(is_larger(v, best), v, best);
}

/// Compute rows [begin, end) of y, Q wide, for 2x2 windows that tile x, without positions: maxima
/// of two rows first, so that columns are deinterleaved once. Return false if Q is too small.
template <size_t kLanes, class T>
bool halve(int64_t begin, int64_t end, int64_t Q, T* y, const T* x) {
  using D = hn::CappedTag<T, kLanes>;
  using Half = hn::Half<D>;
  const auto windows = static_cast<int64_t>(hn::Lanes(Half()));
  if (Q < windows) {
    if constexpr (kLanes > 4) return halve<kLanes / 2>(begin, end, Q, y, x);
    return false;
  }
  for (int64_t r = begin; r < end; ++r) {
    for (int64_t next = 0; next < Q; next += windows) {
      const int64_t j = std::min(next, Q - windows);
      const T* const from = x + 4 * r * Q + 2 * j;
      HWY_ALIGN T columns[hn::MaxLanes(D())];
      hn::Store(larger(hn::LoadU(D(), from), hn::LoadU(D(), from + 2 * Q)), D(), columns);
      hn::Vec<Half> even, odd;
      hn::LoadInterleaved2(Half(), columns, even, odd);
      hn::StoreU(larger(even, odd), Half(), y + r * Q + j);
    }
  }
  return true;
}
/// As above, with positions, in images with P rows of y: compares along rows first, because the
/// first of equal elements must win.
template <size_t kLanes, class T>
bool halve(int64_t begin, int64_t end, int64_t P, int64_t Q, T* y, int32_t* index, const T* x) {
  using D = hn::CappedTag<T, kLanes>;
  using Positions = hn::RebindToSigned<D>;
  const auto windows = static_cast<int64_t>(hn::Lanes(D()));
  if (Q < windows) {
    if constexpr (kLanes > 4) return halve<kLanes / 2>(begin, end, P, Q, y, index, x);
    return false;
  }
  const auto steps = hn::Iota(Positions(), 0), right = hn::Set(Positions(), 1);
  const auto below = hn::Set(Positions(), static_cast<int32_t>(2 * Q));
  const auto choose = [&](auto better, auto at, auto before) HWY_ATTR {
    return hn::IfThenElse(hn::RebindMask(Positions(), better), at, before);
  };
  for (int64_t r = begin, i = begin % P; r < end; ++r, i = i + 1 == P ? 0 : i + 1) {
    for (int64_t next = 0; next < Q; next += windows) {
      const int64_t j = std::min(next, Q - windows);
      const T* const from = x + 4 * r * Q + 2 * j;
      const auto at = hn::Add(hn::Set(Positions(), static_cast<int32_t>(4 * i * Q + 2 * j)),
                              hn::Add(steps, steps));
      hn::Vec<D> even, odd, even_below, odd_below;
      hn::LoadInterleaved2(D(), from, even, odd);
      hn::LoadInterleaved2(D(), from + 2 * Q, even_below, odd_below);
      const auto odd_is = is_larger(odd, even), odd_below_is = is_larger(odd_below, even_below);
      const auto best = hn::IfThenElse(odd_is, odd, even);
      const auto best_below = hn::IfThenElse(odd_below_is, odd_below, even_below);
      const auto below_is = is_larger(best_below, best);
      const auto at_below = hn::Add(at, below);
      hn::StoreU(hn::IfThenElse(below_is, best_below, best), D(), y + r * Q + j);
      hn::StoreU(choose(below_is, choose(odd_below_is, hn::Add(at_below, right), at_below),
                        choose(odd_is, hn::Add(at, right), at)),
                 Positions(), index + r * Q + j);
    }
  }
  return true;
}
bool are_halved(const PoolImages& s) {
  return s.d.kernel == 1 && s.h.kernel == 2 && s.w.kernel == 2 && windows_partition_input(s);
}

/// The range of windows in a row that have all of their columns.
struct WholeWindows {
  explicit WholeWindows(const PoolAxis& w) {
    if (w.stride == 0) return;
    const int64_t last = (w.kernel - 1) * w.dilation - w.padding;
    begin = std::min(w.out, (w.padding + w.stride - 1) / w.stride);
    end = w.in <= last ? begin : std::clamp((w.in - 1 - last) / w.stride + 1, begin, w.out);
  }
  int64_t begin = 0, end = 0;
};

/// Compute a row of y from an image x.
template <class T, bool kAsked>
void max_row(const Rows& rows, const T* x, T* y, PositionsOut<kAsked> index, const PoolAxis& w,
             const WholeWindows& whole) {
  constexpr size_t kMostLanes = hn::MaxLanes(hn::ScalableTag<T>());
  const auto one_by_one = [&](int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; ++j) max_window(x, y + j, index.from(j), rows, Span(j, w));
  };
  one_by_one(0, whole.begin);
  int64_t done = whole.begin;
  if (w.stride == 1) {
    done = max_whole_windows<kMostLanes, 1>(done, whole.end, x, y, index, rows, w);
  } else if (w.stride == 2 && w.kernel > 1 && w.dilation == 1) {
    done = max_whole_windows<kMostLanes, 2>(done, whole.end, x, y, index, rows, w);
  }
  one_by_one(done, w.out);
}

template <class T, bool kAsked>
void run(const Tensor& y, int32_t* index, const Tensor& x, const PoolImages& s) {
  const WholeWindows whole(s.w);
  const PositionsOut<kAsked> positions{index};
  T* py = y.data_ptr<T>();
  const T* px = x.data_ptr<T>();
  const int64_t O = s.d.out, P = s.h.out, Q = s.w.out;
  constexpr size_t kMostLanes = hn::MaxLanes(hn::ScalableTag<T>());
  const bool halved = are_halved(s);
  parallel_for(s.count() * O * P, s.row_grain(), [&](int64_t begin, int64_t end) {
    if constexpr (!kAsked && kMostLanes > 1) {
      if (halved && halve<kMostLanes>(begin, end, Q, py, px)) return;
    } else if constexpr (kMostLanes > 1 && sizeof(T) == sizeof(int32_t)) {
      if (halved && halve<kMostLanes>(begin, end, O * P, Q, py, index, px)) return;
    }
    int64_t image = begin / (O * P), o = begin / P % O, i = begin % P;
    for (int64_t r = begin; r < end; ++r) {
      max_row(Rows(s, o, i), px + image * s.in(), py + r * Q, positions.from(r * Q), s.w, whole);
      // Update the indices incrementally: divisions for each row would take as long as the row.
      if (++i < P) continue;
      i = 0;
      if (++o < O) continue;
      o = 0;
      ++image;
    }
  });
}

void max_pool_any(const Tensor& y, const Tensor& index, const Tensor& x, const PoolImages& s) {
  visit<dtypes::kFloating>(y.dtype(), [&]<class T>() {
    if (index.defined()) {
      run<T, true>(y, index.data_ptr<int32_t>(), x, s);
    } else {
      run<T, false>(y, nullptr, x, s);
    }
  });
}

}  // namespace
}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ambit::cpu {

HWY_EXPORT(max_pool_any);

// y, index [N,C,out...] or undefined, x [N,C,in...]
void max_pool(Tensor& y, Tensor& index, const Tensor& x, const PoolParams& p) {
  const PoolImages s(x, y, p);
  if (kMaxPoolDTypes.contains(y.dtype()) && is_channels_last(x) && suits_channels_last(s)) {
    const NativeScope native({.outputs = {&y, &index}, .inputs = {&x}, .inputs_follow = true});
    if (native.has_native_outputs()) {
      const Tensor& at = native.output(1);
      int32_t* const index_out = at.defined() ? at.data_ptr<int32_t>() : nullptr;
      return visit<kMaxPoolDTypes>(y.dtype(), [&]<class T>() {
        max_pool_channels_last<T>(s, native.output(0).data_ptr<T>(), index_out,
                                  native.input(0).data_ptr<T>());
      });
    }
  }
  if (is_reduced_floating(y.dtype()))
    return run_upcast(kernels::max_pool, max_pool, y, index, x, p);
  HWY_DYNAMIC_DISPATCH(max_pool_any)(y, index, x, s);
}

}  // namespace ambit::cpu
#endif
