// Indexing of strided operands in elementwise kernels. The host merges dims where all operands
// allow it and splits operands that are too large for 32-bit positions, so that kernels need no
// 64-bit index arithmetic. The device maps a position in a piece to an offset in each operand. The
// splitting follows PyTorch's TensorIterator.
#pragma once

#include <ambit/api.h>
#include <ambit/shape.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>

namespace ambit::cuda {

/// Maximal number of dims in a kernel; the host loops over further ones.
inline constexpr int kMaxDims = 8;

/// Exact division of n < 2^31 by a divisor in [1, 2^31) by multiplication.
/// Source: Granlund & Montgomery 1994, doi:10.1145/178243.178249, figure 4.1.
struct Divider {
  Divider() = default;
  explicit Divider(uint32_t d) : divisor(d) {
    while (shift < 31 && (uint32_t{1} << shift) < d) ++shift;
    const uint64_t excess = (uint64_t{1} << shift) - d;
    multiplier = static_cast<uint32_t>((excess << 32) / d + 1);
  }
  AMBIT_HOST_DEVICE uint32_t divide(uint32_t n) const {
    const auto high = static_cast<uint32_t>((uint64_t{n} * multiplier) >> 32);
    return (high + n) >> shift;
  }

  uint32_t divisor = 1, multiplier = 1, shift = 0;
};

/// N operands of one shape, outermost dim last; strides and offsets in elements.
template <int N>
struct Walk {
  Dims sizes;
  std::array<Dims, N> strides;
  std::array<int64_t, N> offsets{};

  int64_t count() const {
    return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
  }
  /// Return the offset of operand k's last element.
  int64_t reach(size_t k) const {
    int64_t sum = 0;
    for (size_t d = 0; d < sizes.size(); ++d) sum += (sizes[d] - 1) * strides[k][d];
    return sum;
  }
};

/// Return the walk of operands of one shape: dims ordered by the first operand's strides, without
/// those of size 1, merged where all operands allow it.
template <int N>
Walk<N> collapsed(IntArrayRef sizes, const std::array<IntArrayRef, N>& strides) {
  Dims order;
  for (size_t d = sizes.size(); d-- > 0;) {
    if (sizes[d] != 1) order.push_back(static_cast<int64_t>(d));
  }
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return strides[0][static_cast<size_t>(a)] < strides[0][static_cast<size_t>(b)];
  });
  Walk<N> walk;
  for (const int64_t dim : order) {
    const auto d = static_cast<size_t>(dim);
    const size_t last = walk.sizes.size() - 1;
    bool joins = !walk.sizes.empty();
    for (size_t k = 0; joins && k < N; ++k) {
      joins = strides[k][d] == walk.sizes[last] * walk.strides[k][last];
    }
    if (joins) {
      walk.sizes[last] *= sizes[d];
      continue;
    }
    walk.sizes.push_back(sizes[d]);
    for (size_t k = 0; k < N; ++k) walk.strides[k].push_back(strides[k][d]);
  }
  return walk;
}

/// Call f(piece) for pieces of a walk: parts with at most kMaxDims dims, less than 2^31 elements,
/// and all positions less than 2^31 after the offsets.
template <int N, class F>
void for_each_piece(Walk<N> walk, const F& f) {
  for (const int64_t size : walk.sizes) {
    if (size == 0) return;
  }
  bool fits = walk.count() <= INT32_MAX;
  for (size_t k = 0; fits && k < N; ++k) fits = walk.reach(k) <= INT32_MAX;
  const bool few_dims = walk.sizes.size() <= kMaxDims;
  if (fits && few_dims) return f(walk);
  // With too many dims, each step of the outermost is a piece; if too large, halve the longest dim.
  const size_t longest = static_cast<size_t>(
      std::max_element(walk.sizes.begin(), walk.sizes.end()) - walk.sizes.begin());
  const size_t d = few_dims ? longest : walk.sizes.size() - 1;
  const int64_t size = walk.sizes[d], step = few_dims ? (size + 1) / 2 : 1;
  for (int64_t begin = 0; begin < size; begin += step) {
    Walk<N> piece = walk;
    piece.sizes[d] = std::min(step, size - begin);
    for (size_t k = 0; k < N; ++k) piece.offsets[k] += begin * walk.strides[k][d];
    if (!few_dims) {
      piece.sizes.erase(d);
      for (size_t k = 0; k < N; ++k) piece.strides[k].erase(d);
    }
    for_each_piece(piece, f);
  }
}

/// Maps the position of an element in a piece to its offset in each operand.
template <int N>
struct Indexer {
  explicit Indexer(const Walk<N>& piece) : dims(static_cast<int>(piece.sizes.size())) {
    for (size_t d = 0; d < piece.sizes.size(); ++d) {
      sizes[d] = Divider(static_cast<uint32_t>(piece.sizes[d]));
      for (size_t k = 0; k < N; ++k) strides[k][d] = static_cast<int32_t>(piece.strides[k][d]);
    }
  }
  /// Compute the offset in each operand, relative to the piece's offsets.
  AMBIT_HOST_DEVICE void find(uint32_t position, int32_t (&offset)[N]) const {
    for (int k = 0; k < N; ++k) offset[k] = 0;
    for (int d = 0; d < dims; ++d) {
      const uint32_t rest = sizes[d].divide(position);
      const auto at = static_cast<int32_t>(position - rest * sizes[d].divisor);
      for (int k = 0; k < N; ++k) offset[k] += at * strides[k][d];
      position = rest;
    }
  }

  int dims;
  Divider sizes[kMaxDims];
  int32_t strides[N][kMaxDims];
};

}  // namespace ambit::cuda
