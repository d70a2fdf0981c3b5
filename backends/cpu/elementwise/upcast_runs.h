// for_packed_runs for operands that may be of reduced floating-point types: pieces of them are
// upcast in buffers in the L1 cache, so that the inner loop gets float32.
#pragma once

#include "backends/cpu/layout/packing.h"
#include "half_loops.h"

namespace ambit::cpu {

/// Call f(n, pointers), the output first, as for_packed_runs does.
template <size_t N, class F>
void for_upcast_runs(const std::array<const Tensor*, N>& operands, int64_t grain, const F& f) {
  constexpr int64_t kPiece = 512;
  std::array<UnaryLoop, N> convert{};
  std::array<int64_t, N> size;
  for (size_t i = 0; i < N; ++i) {
    const DType dtype = operands[i]->dtype();
    size[i] = static_cast<int64_t>(element_size(dtype));
    if (is_reduced_floating(dtype)) convert[i] = i == 0 ? downcast_loop(dtype) : upcast_loop(dtype);
  }
  for_packed_runs<N>(operands, grain, [&](int64_t n, const std::array<char*, N>& given) {
    alignas(64) float buffers[N][kPiece];
    for (int64_t begin = 0; begin < n; begin += kPiece) {
      const int64_t m = std::min(kPiece, n - begin);
      std::array<char*, N> p;
      for (size_t i = 0; i < N; ++i) {
        p[i] = given[i] + begin * size[i];
        if (!convert[i]) continue;
        if (i > 0) convert[i](m, buffers[i], p[i]);
        p[i] = reinterpret_cast<char*>(buffers[i]);
      }
      f(m, p);
      if (convert[0]) convert[0](m, given[0] + begin * size[0], p[0]);
    }
  });
}

/// Call f(n, pointers) with operands of loop_dtype(). All inputs have one dtype.
template <size_t N, class F>
void for_loop_runs(const std::array<const Tensor*, N>& operands, int64_t grain, const F& f) {
  if (is_reduced_floating(operands[N - 1]->dtype())) return for_upcast_runs<N>(operands, grain, f);
  for_packed_runs<N>(operands, grain, f);
}

}  // namespace ambit::cpu
