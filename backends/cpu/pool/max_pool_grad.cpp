// The gradient of maximum pooling, an image at a time.
#include <ambit/error.h>
#include <fmt/format.h>

#include <algorithm>

#include "backends/cpu/kernels.h"
#include "backends/cpu/layout/channels_last.h"
#include "backends/cpu/layout/float32.h"
#include "backends/cpu/layout/native_scope.h"
#include "pool_channels_last.h"
#include "pool_windows.h"

namespace ambit::cpu {
namespace {

/// Before anything is written, and in whatever order they lie.
void check_positions(int64_t n, const int32_t* index, int64_t bound) {
  parallel_for(n, kGrain, [&](int64_t begin, int64_t end) {
    bool outside = false;
    for (int64_t i = begin; i < end; ++i) outside |= index[i] < 0 || index[i] >= bound;
    for (int64_t i = begin; outside && i < end; ++i) {
      if (index[i] >= 0 && index[i] < bound) continue;
      throw IndexError(
          fmt::format("max_pool_grad: expected an index in [0, {}), got {}", bound, index[i]));
    }
  });
}

}  // namespace

// dx [N,C,in...], dy, index [N,C,out...]
void max_pool_grad(Tensor& dx, const Tensor& dy, const Tensor& index, const PoolParams& p) {
  const PoolImages s(dx, dy, p);
  const bool adds_up = dx.dtype() == kFloat32 || each_in_one(s);
  if (kNativeElements.contains(dx.dtype()) && adds_up && is_channels_last(index) &&
      suits_channels_last(s)) {
    const NativeScope native({.outputs = {&dx}, .inputs = {&dy, &index}, .inputs_follow = true});
    if (native.has_native_outputs()) {
      const int32_t* positions = native.input(1).data_ptr<int32_t>();
      check_positions(index.numel(), positions, s.in());
      return visit<kNativeElements>(dx.dtype(), [&]<class T>() {
        max_pool_grad_channels_last<T>(s, native.output(0).data_ptr<T>(),
                                       native.input(0).data_ptr<T>(), positions);
      });
    }
  }
  if (is_reduced(dx.dtype())) {
    return by_float32(dx, [&](Tensor& wide) { max_pool_grad(wide, float32_of(dy), index, p); });
  }
  const int32_t* pi = index.data_ptr<int32_t>();
  check_positions(index.numel(), pi, s.in());
  visit<dtypes::kFloating>(dx.dtype(), [&]<class T>() {
    T* pdx = dx.data_ptr<T>();
    const T* pdy = dy.data_ptr<T>();
    parallel_for(s.count(), s.grain(), [&](int64_t begin, int64_t end) {
      for (int64_t image = begin; image < end; ++image) {
        T* to = pdx + image * s.in();
        std::fill_n(to, s.in(), T(0));
        for (int64_t i = image * s.out(); i < (image + 1) * s.out(); ++i) to[pi[i]] += pdy[i];
      }
    });
  });
}

}  // namespace ambit::cpu
