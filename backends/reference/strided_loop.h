// The loop over strided operands that all elementwise kernels share: iterates over indices of the
// shape and updates the position in each operand incrementally.
#pragma once

#include <ambit/tensor.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>

namespace ambit::reference {

/// Call f(i, j, ...) for every index of `sizes`, in row-major order; i is its position in an
/// operand with the first strides, j with the second, and so on, in elements. Strides may be 0
/// (broadcast).
template <class F, size_t N>
void strided_loop(IntArrayRef sizes, const IntArrayRef (&strides)[N], F f) {
  for (const int64_t size : sizes) {
    if (size == 0) return;
  }
  Dims counter(sizes.size());
  std::array<int64_t, N> position{};
  while (true) {
    std::apply(f, position);
    size_t d = sizes.size();  // the last dim varies fastest; at its end it is reset to 0
    for (; d > 0 && counter[d - 1] == sizes[d - 1] - 1; --d) {
      for (size_t n = 0; n < N; ++n) position[n] -= counter[d - 1] * strides[n][d - 1];
      counter[d - 1] = 0;
    }
    if (d == 0) return;
    ++counter[d - 1];
    for (size_t n = 0; n < N; ++n) position[n] += strides[n][d - 1];
  }
}

/// One dim of a tensor: length and step. A 0-dim tensor has one dim of size 1.
struct Line {
  Line(const Tensor& t, int64_t dim)
      : length(t.dim() == 0 ? 1 : t.size(dim)), step(t.dim() == 0 ? 0 : t.stride(dim)) {}
  int64_t length, step;  // in elements
};

/// Return the sizes with that of `dim` set to 1: a loop over them visits the start of every line.
inline Dims line_starts(const Tensor& t, int64_t dim) {
  Dims sizes = t.sizes();
  if (!sizes.empty()) sizes[static_cast<size_t>(dim)] = 1;
  return sizes;
}

}  // namespace ambit::reference
