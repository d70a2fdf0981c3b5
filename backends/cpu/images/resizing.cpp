#include "resizing.h"

#include <algorithm>
#include <numeric>

namespace ambit::cpu {
namespace {

using interpolation::Axis;
using interpolation::kMostTaps;
using interpolation::Tap;

constexpr int64_t kMostColumns = 8;

/// Call f(element of y, its tap) for all taps; taps of one element at the same index are merged,
/// and those of weight 0 omitted.
template <class F>
void for_taps(const Axis& axis, const F& f) {
  Tap taps[kMostTaps];
  for (int64_t i = 0; i < axis.out(); ++i) {
    axis.taps(i, taps);
    for (int k = 0; k < axis.count(); ++k) {
      Tap tap = taps[k];
      while (k + 1 < axis.count() && taps[k + 1].index == tap.index) tap.weight += taps[++k].weight;
      if (tap.weight != 0) f(i, tap);
    }
  }
}

}  // namespace

Resizing::Resizing() : begins{0, 1}, index{0}, weights{{1}, {1}} { make_columns(); }

Resizing::Resizing(const Axis& axis, bool turned)
    : from(turned ? axis.out() : axis.in()), to(turned ? axis.in() : axis.out()) {
  begins.assign(place(to) + 1, 0);
  const auto made = [turned](int64_t i, const Tap& tap) { return turned ? tap.index : i; };
  for_taps(axis, [&](int64_t i, const Tap& tap) { ++begins[place(made(i, tap)) + 1]; });
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  index.resize(place(begins.back()));
  weights.in_double.resize(index.size());
  std::vector<int64_t> next(begins.begin(), begins.end() - 1);
  for_taps(axis, [&](int64_t i, const Tap& tap) {
    const size_t at = place(next[place(made(i, tap))]++);
    index[at] = static_cast<int32_t>(turned ? i : tap.index);
    weights.in_double[at] = tap.weight;
  });
  weights.in_float.assign(weights.in_double.begin(), weights.in_double.end());
  make_columns();
}

void Resizing::make_columns() {
  int64_t most = 0;
  for (int64_t i = 0; i < to; ++i) most = std::max(most, count(i));
  if (most > kMostColumns) return;
  width = most;
  for (int64_t k = 0; k < width; ++k) {
    for (int64_t i = 0; i < to; ++i) {
      const bool there = k < count(i);
      column_index.push_back(static_cast<int32_t>(there ? at(i, k) : from));
      needs_zero |= !there;
      column_weights.in_double.push_back(there ? weight<double>(i, k) : 0);
    }
  }
  column_weights.in_float.assign(column_weights.in_double.begin(), column_weights.in_double.end());
}

Resizings::Resizings(const Tensor& x, const Tensor& y, const InterpolateParams& p, bool turned)
    : images(x.size(0) * x.size(1)) {
  Resizing* const all[] = {&d, &h, &w};
  const auto dims = static_cast<size_t>(x.dim()) - 2;
  for (size_t k = 0; k < dims; ++k) {
    const Axis axis(p, k, x.sizes()[2 + k], y.sizes()[2 + k], x.dtype() == DType::float64);
    *all[3 - dims + k] = Resizing(axis, turned);
  }
}

}  // namespace ambit::cpu
