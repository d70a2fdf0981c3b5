// The gradient of maximum pooling, one image at a time: its positions are checked, then used. For
// adjacent windows of two columns vectors hold windows; otherwise dy is added by element.
#include "backends/cpu/runtime/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/pool/max_pool_grad.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "backends/cpu/kernels.h"
#include "backends/cpu/layout/channels_last.h"
#include "backends/cpu/layout/native_scope.h"
#include "backends/cpu/layout/upcast.h"
#include "pool_channels_last.h"
#include "pool_windows.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

constexpr int64_t kFewestLanes = 4;

/// Compute one row of dx, at position `first` of its image, under a row of windows of 2 columns
/// each. The last vector overlaps the one before it.
template <size_t kLanes, class T>
void spread_row(int64_t windows, T* dx, const T* dy, const int32_t* index, int64_t first) {
  const hn::CappedTag<T, kLanes> d;
  const hn::RebindToSigned<decltype(d)> positions;
  using Position = hn::TFromD<decltype(positions)>;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  if constexpr (static_cast<int64_t>(kLanes) > kFewestLanes) {
    if (windows < lanes) return spread_row<kLanes / 2>(windows, dx, dy, index, first);
  }
  const auto load_positions = [&](int64_t j) HWY_ATTR {
    const hn::Rebind<int32_t, decltype(d)> narrow;
    if constexpr (sizeof(T) == sizeof(int32_t)) {
      return hn::LoadU(narrow, index + j);
    } else {
      return hn::PromoteTo(positions, hn::LoadU(narrow, index + j));
    }
  };
  const auto steps = hn::Iota(positions, Position{0}), columns = hn::Add(steps, steps);
  for (int64_t next = 0; next < windows; next += lanes) {
    const int64_t j = std::min(next, windows - lanes);
    const auto grad = hn::LoadU(d, dy + j);
    const auto at = load_positions(j);
    const auto even = hn::Add(columns, hn::Set(positions, static_cast<Position>(first + 2 * j)));
    const auto odd = hn::Add(even, hn::Set(positions, Position{1}));
    hn::StoreInterleaved2(hn::IfThenElseZero(hn::RebindMask(d, hn::Eq(at, even)), grad),
                          hn::IfThenElseZero(hn::RebindMask(d, hn::Eq(at, odd)), grad), d,
                          dx + 2 * j);
  }
}

/// Process an image that is tiled by windows of two columns.
template <class T>
void spread_pairs(const PoolImages& s, T* dx, const T* dy, const int32_t* index) {
  constexpr size_t kMostLanes = hn::MaxLanes(hn::ScalableTag<T>());
  const int64_t rows = s.d.kernel * s.h.kernel;  // of dx under one row of windows
  for (int64_t r = 0; r < s.d.out * s.h.out; ++r) {
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t plane = r / s.h.out * s.d.kernel + i / s.h.kernel;
      const int64_t row = r % s.h.out * s.h.kernel + i % s.h.kernel;
      const int64_t first = (plane * s.h.in + row) * s.w.in;
      spread_row<kMostLanes>(s.w.out, dx + first, dy + r * s.w.out, index + r * s.w.out, first);
    }
  }
}

bool are_pairs(const PoolImages& s) {
  return s.w.kernel == 2 && s.w.out >= kFewestLanes && windows_partition_input(s);
}

template <class T>
void row_major(const PoolImages& s, T* dx, const T* dy, const int32_t* index) {
  const bool pairs = are_pairs(s);
  parallel_for(s.count(), s.grain(), [&](int64_t begin, int64_t end) {
    for (int64_t image = begin; image < end; ++image) {
      T* to = dx + image * s.in();
      const T* from = dy + image * s.out();
      const int32_t* at = index + image * s.out();
      check_positions(s.out(), at, s.in());
      if (pairs) {
        spread_pairs(s, to, from, at);
        continue;
      }
      std::fill_n(to, s.in(), T(0));
      for (int64_t i = 0; i < s.out(); ++i) to[at[i]] += from[i];
    }
  });
}

void row_major_any(const PoolImages& s, Tensor& dx, const Tensor& dy, const Tensor& index) {
  visit<dtypes::kFloating>(dx.dtype(), [&]<class T>() {
    row_major<T>(s, dx.data_ptr<T>(), dy.data_ptr<T>(), index.data_ptr<int32_t>());
  });
}

}  // namespace
}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ambit::cpu {

HWY_EXPORT(row_major_any);

// dx [N,C,in...], dy, index [N,C,out...]
void max_pool_grad(Tensor& dx, const Tensor& dy, const Tensor& index, const PoolParams& p) {
  const PoolImages s(dx, dy, p);
  const bool adds_up = dx.dtype() == kFloat32 || windows_are_disjoint(s);
  if (kMaxPoolDTypes.contains(dx.dtype()) && adds_up && is_channels_last(index) &&
      suits_channels_last(s)) {
    const NativeScope native({.outputs = {&dx}, .inputs = {&dy, &index}, .inputs_follow = true});
    if (native.has_native_outputs()) {
      return visit<kMaxPoolDTypes>(dx.dtype(), [&]<class T>() {
        max_pool_grad_channels_last<T>(s, native.output(0).data_ptr<T>(),
                                       native.input(0).data_ptr<T>(),
                                       native.input(1).data_ptr<int32_t>());
      });
    }
  }
  if (is_reduced_floating(dx.dtype())) {
    return run_upcast(kernels::max_pool_grad, max_pool_grad, dx, dy, index, p);
  }
  HWY_DYNAMIC_DISPATCH(row_major_any)(s, dx, dy, index);
}

}  // namespace ambit::cpu
#endif
