// Tiles of rows in shared memory and their products, for attention on tensor cores. A block has
// four warps with 16 of 64 rows each; results stay in registers, distributed over the threads as
// the sums of mma.cuh: a thread has two rows. Source: Dao 2023, arXiv:2307.08691.
#pragma once

#include "attention_operands.cuh"
#include "backends/cuda/loops/mma.cuh"

namespace ambit::cuda {

inline constexpr int kBlockRows = 64, kWarpRows = 16;
inline constexpr int kBlockThreads = kBlockRows / kWarpRows * 32;

/// The position of a thread among its block's rows, and among the columns of a product.
struct MmaLane {
  int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;

  __device__ int first_row() const { return warp * kWarpRows; }
  /// Return the row of elements 2 r and 2 r + 1 of sums.
  __device__ int row(int r) const { return first_row() + lane / 4 + 8 * r; }
  /// Return the column of elements e and e + 2 of sums i.
  __device__ int column(int i, int e) const { return 8 * i + lane % 4 * 2 + e; }
};

/// Return join over the four threads of a row; every thread gets the result.
template <class Join>
__device__ float join_mma_row(float v, const Join& join) {
  v = join(v, __shfl_xor_sync(~0u, v, 1));
  return join(v, __shfl_xor_sync(~0u, v, 2));
}

/// Rows of kDepth 16-bit elements in shared memory, padded so that consecutive rows are 4 of 32
/// banks apart and a warp's reads do not conflict.
template <int kRows, int kDepth>
struct alignas(16) Tile {
  uint16_t rows[kRows][kDepth + 8];
  volatile int has_infinite;  ///< true if any loaded element is infinite or NaN

  __device__ void begin() { has_infinite = 0; }
  /// Return this thread's row of the 16 x 16 elements at (row, column), for load_matrices.
  __device__ const uint16_t* part(int row, int column) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    return &rows[row + lane % 16][column + lane / 16 * 8];
  }
};

/// Initialise tiles before a block loads them.
template <class... Tiles>
__device__ void begin_tiles(Tiles&... tiles) {
  if (threadIdx.x == 0) (tiles.begin(), ...);
  __syncthreads();
}

/// Fill a tile with rows of x from `first` on, zero-padded.
template <class T, int kRows, int kDepth>
__device__ void load_tile(Tile<kRows, kDepth>& to, const Head<T>& x, int64_t first) {
  constexpr int kEights = kDepth / 8;
  static_assert(kRows * kEights % kBlockThreads == 0);
  bool infinite = false;
#pragma unroll
  for (int n = 0; n < kRows * kEights / kBlockThreads; ++n) {
    const int i = n * kBlockThreads + static_cast<int>(threadIdx.x);
    const int row = i / kEights, d = i % kEights * 8;
    uint4 eight{};
    if (x.by_eight) {
      if (first + row < x.N && d < x.D) {
        eight = *reinterpret_cast<const uint4*>(x.at(first + row, d));
      }
    } else {
      const auto pair = [&](int e) {
        return packed<T>(x.get(first + row, d + e), x.get(first + row, d + e + 1));
      };
      eight = {pair(0), pair(2), pair(4), pair(6)};
    }
    *reinterpret_cast<uint4*>(&to.rows[row][d]) = eight;
    infinite |= has_infinite<T>(eight.x) || has_infinite<T>(eight.y) || has_infinite<T>(eight.z) ||
                has_infinite<T>(eight.w);
  }
  if (infinite) to.has_infinite = 1;
}

/// products = the warp's rows of a times all rows of b.
template <class T, int kColumns, int kDepth>
__device__ void multiply_rows(float (&products)[kColumns / 8][4], const Tile<kBlockRows, kDepth>& a,
                              const Tile<kColumns, kDepth>& b) {
#pragma unroll
  for (auto& sums : products) {
    for (float& sum : sums) sum = 0;
  }
#pragma unroll
  for (int d = 0; d < kDepth; d += 16) {
    uint32_t left[4];
    load_matrices<false>(left, a.part(MmaLane().first_row(), d));
#pragma unroll
    for (int c = 0; c < kColumns; c += 16) {
      uint32_t words[4];
      load_matrices<false>(words, b.part(c, d));
      multiply_add<T>(products[c / 8], left, {words[0], words[2]});
      multiply_add<T>(products[c / 8 + 1], left, {words[1], words[3]});
    }
  }
}

/// held += factors times the rows of x. Each factor is split into two elements, because one element
/// has only 8 or 11 bits. The second element may be 0 or have the other sign, so its product skips
/// infinite elements of x.
template <class T, int kColumns, int kDepth>
__device__ void add_rows(float (&held)[kDepth / 8][4], const float (&factors)[kColumns / 8][4],
                         const Tile<kColumns, kDepth>& x) {
  const bool infinite = x.has_infinite != 0;
#pragma unroll
  for (int c = 0; c < kColumns; c += 16) {
    uint32_t high[4], low[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float* pair = &factors[c / 8 + i / 2][i % 2 * 2];
      split<T>(pair[0], pair[1], high[i], low[i]);
    }
#pragma unroll
    for (int d = 0; d < kDepth; d += 16) {
      uint32_t words[4];
      load_matrices<true>(words, x.part(c, d));
      multiply_add<T>(held[d / 8], high, {words[0], words[1]});
      multiply_add<T>(held[d / 8 + 1], high, {words[2], words[3]});
      if (infinite) {
        for (uint32_t& word : words) word = finite_only<T>(word);
      }
      multiply_add<T>(held[d / 8], low, {words[0], words[1]});
      multiply_add<T>(held[d / 8 + 1], low, {words[2], words[3]});
    }
  }
}

/// Store factor * held in the rows of x from `first` on.
template <class T, int kDepth>
__device__ void store_rows(const Head<T>& x, int64_t first, const float (&held)[kDepth / 8][4],
                           const float (&factor)[2]) {
  const MmaLane me;
#pragma unroll
  for (int i = 0; i < kDepth / 8; ++i) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int64_t n = first + me.row(r), d = me.column(i, 0);
      const float one = held[i][2 * r] * factor[r], other = held[i][2 * r + 1] * factor[r];
      if (n >= x.N) continue;
      if (x.by_eight) {
        if (d < x.D) *reinterpret_cast<uint32_t*>(x.at(n, d)) = packed<T>(one, other);
      } else {
        if (d < x.D) *x.at(n, d) = downcast<T>(one);
        if (d + 1 < x.D) *x.at(n, d + 1) = downcast<T>(other);
      }
    }
  }
}

/// As add_rows, for factors that may exceed float16's range: those of a row are scaled by a power
/// of two, which also scales the row's held sums.
template <class T, int kDepth>
class RaisedSums {
 public:
  template <int kColumns>
  __device__ void add(float (&factors)[kColumns / 8][4], const Tile<kColumns, kDepth>& x) {
    if constexpr (std::same_as<T, Half>) raise<kColumns>(factors);
    add_rows<T, kColumns>(held_, factors, x);
  }
  __device__ void store(const Head<T>& x, int64_t first, float factor) const {
    store_rows<T, kDepth>(x, first, held_, {factor / raised_[0], factor / raised_[1]});
  }

 private:
  /// Scale factors so that the largest is in [2^14, 2^15), or smaller if earlier ones require it.
  template <int kColumns>
  __device__ void raise(float (&factors)[kColumns / 8][4]) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float largest = 0;
#pragma unroll
      for (auto& f : factors) {
        for (int e = 2 * r; e < 2 * r + 2; ++e) {
          const float size = std::fabs(f[e]);
          if (size < std::numeric_limits<float>::infinity()) largest = fmax(largest, size);
        }
      }
      largest = join_mma_row(largest, [](float a, float b) { return fmax(a, b); });
      if (largest > 0) {
        const float most = std::scalbn(1.f, min(14 - std::ilogb(largest), kMostRaised));
        if (most < raised_[r]) {
#pragma unroll
          for (auto& h : held_) {
            for (int e = 2 * r; e < 2 * r + 2; ++e) h[e] *= most / raised_[r];
          }
          raised_[r] = most;
        }
      }
#pragma unroll
      for (auto& f : factors) {
        for (int e = 2 * r; e < 2 * r + 2; ++e) f[e] *= raised_[r];
      }
    }
  }

  static constexpr int kMostRaised = 100;
  static constexpr float kFirst = std::same_as<T, Half> ? 0x1p100f : 1.f;
  float held_[kDepth / 8][4] = {}, raised_[2] = {kFirst, kFirst};
};

}  // namespace ambit::cuda
