// Blocked as in Goto & van de Geijn 2008 (doi:10.1145/1356052.1356053), for several threads: all
// threads pack a slab of b into panels as wide as a register tile; then each multiplies blocks of
// rows of a by them. Rows of a are packed only if tiles cannot read them in place. With few rows
// and a transposed b, the transposed product is computed: b is its left operand and is not packed.
// With a single row or column and both operands contiguous along k, each result is a dot product.
#include "product.h"

#include "backends/cpu/runtime/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/matmul/product.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <utility>

#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/scratch.h"
#include "panels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace {

constexpr int64_t kDepth = 384;     // k per partial sum, before it is added to y
constexpr int64_t kColumns = 4096;  // columns of b in one slab
constexpr int64_t kSlab = 1 << 20;  // elements of a slab

/// Rows of a for tiles: element (m, k) of a tile is data[m * row + k * step].
template <class T>
struct Left {
  const T* data;
  int64_t row, step;
};

/// Destination of a tile of sums: y = sums + bias, or y += sums.
template <class T>
struct Target {
  T* y;
  int64_t stride, columns;
  const T* bias;  // may be null
  bool add;
};

template <class T, size_t R, size_t V>
void tile(int64_t depth, const Left<T>& a, const T* b, const Target<T>& to) {
  Tile<T, R, V> sums;
  const T* left = a.data;
  for (int64_t k = 0; k < depth; ++k) {
    sums.add_product(left, a.row, b);
    left += a.step;
    b += Tile<T, R, kTileVectors>::kWidth;
  }
  constexpr int64_t width = Tile<T, R, V>::kWidth;
  if (to.columns == width) {
    if (to.add) return sums.add_to(to.y, to.stride);
    if (to.bias) sums.add_row(to.bias);
    return sums.store(to.y, to.stride);
  }
  T part[R * width];
  sums.store(part, width);
  for (size_t r = 0; r < R; ++r) {
    T* y = to.y + static_cast<int64_t>(r) * to.stride;
    for (int64_t n = 0; n < to.columns; ++n) {
      const T more = to.add ? y[n] : to.bias ? to.bias[n] : T(0);
      y[n] = part[static_cast<int64_t>(r) * width + n] + more;
    }
  }
}

template <class T>
using TileFunction = void (*)(int64_t, const Left<T>&, const T*, const Target<T>&);

/// Return the tile function for a number of rows and vectors.
template <class T>
TileFunction<T> tile_of(int64_t rows, int64_t vectors) {
  constexpr size_t N = kTileVectors;
  static constexpr auto kAll = []<size_t... I>(std::index_sequence<I...>) {
    return std::array<TileFunction<T>, sizeof...(I)>{tile<T, I / N + 1, I % N + 1>...};
  }
  (std::make_index_sequence<kTileRows * N>());
  return kAll[static_cast<size_t>(rows - 1) * N + static_cast<size_t>(vectors - 1)];
}

/// y [rows,columns] = or += a b for one block of rows and some panels of b, packed as
/// [panels][depth][kWidth].
template <class T>
void multiply_block(int64_t rows, int64_t columns, int64_t depth, const Matrix<const T>& a,
                    const T* b, const Target<T>& to, T* packed) {
  for (int64_t k = 0; k < depth; k += kDepth) {
    const int64_t part = std::min(kDepth, depth - k);
    const Matrix<const T> left{a.data + k * a.column_stride, a.row_stride, a.column_stride};
    const bool as_is = a.column_stride == 1;
    if (!as_is) pack_rows(rows, part, left, packed);
    for (int64_t n = 0; n < columns; n += kWidth<T>) {
      const int64_t width = std::min(kWidth<T>, columns - n);
      const int64_t vectors = ceil_div(width, kLanes<T>);
      const T* panel = b + n * depth + k * kWidth<T>;
      for (int64_t m = 0; m < rows; m += kRows) {
        const int64_t count = std::min(kRows, rows - m);
        const Left<T> strip = as_is ? Left<T>{left.data + m * a.row_stride, a.row_stride, 1}
                                    : Left<T>{packed + m, 1, kBlockRows};
        tile_of<T>(count, vectors)(part, strip, panel,
                                   {to.y + m * to.stride + n, to.stride, width,
                                    to.bias ? to.bias + n : nullptr, to.add || k > 0});
      }
    }
  }
}

/// The blocks that threads share: of rows and, if these are few, also of columns.
struct Grid {
  Grid(int64_t M, int64_t panels)
      : rows(ceil_div(M, kBlockRows)),
        columns(std::min(panels, ceil_div(kEnough, rows))),
        panels_each(ceil_div(panels, columns)) {
    columns = ceil_div(panels, panels_each);
  }
  int64_t count() const { return rows * columns; }

  static constexpr int64_t kEnough = 16;
  int64_t rows, columns, panels_each;
};

/// y [M,columns] = or += a b for one slab of b.
template <class T>
void multiply_slab(int64_t M, int64_t columns, int64_t depth, const Matrix<const T>& a, const T* b,
                   const Target<T>& to) {
  const Grid grid(M, ceil_div(columns, kWidth<T>));
  parallel_for(
      grid.count(), grain_for_products(M * columns * depth / grid.count()),
      [&](int64_t begin, int64_t end) {
        const bool as_is = a.column_stride == 1;
        const Scratch packed(as_is ? 0 : kBlockRows * std::min(kDepth, depth) * sizeof(T));
        for (int64_t i = begin; i < end; ++i) {
          const int64_t m = i / grid.columns * kBlockRows;
          const int64_t panel = i % grid.columns * grid.panels_each, n = panel * kWidth<T>;
          multiply_block<T>(
              std::min(kBlockRows, M - m), std::min(grid.panels_each * kWidth<T>, columns - n),
              depth, {a.data + m * a.row_stride, a.row_stride, a.column_stride}, b + n * depth,
              {to.y + m * to.stride + n, to.stride, 0, to.bias ? to.bias + n : nullptr, to.add},
              packed.template data<T>());
        }
      });
}

template <class T>
void pack_slab(int64_t depth, int64_t columns, const Matrix<const T>& b, T* to) {
  parallel_for(ceil_div(columns, kWidth<T>), grain_for(depth * kWidth<T>),
               [&](int64_t begin, int64_t end) {
                 for (int64_t p = begin; p < end; ++p) {
                   const int64_t n = p * kWidth<T>;
                   pack_panel<T>(depth, std::min(kWidth<T>, columns - n),
                                 {b.data + n * b.column_stride, b.row_stride, b.column_stride},
                                 to + n * depth);
                 }
               });
}

/// Compute y^T = b^T a^T, one block of rows at a time.
template <class T>
void multiply_transposed(const Product<T>& p, const T* bias, T* y) {
  const int64_t stride = round_up(p.M, kLanes<T>);
  const Scratch packed(static_cast<size_t>(p.K * round_up(p.M, kWidth<T>)) * sizeof(T));
  pack_slab<T>(p.K, p.M, {p.a.data, p.a.column_stride, p.a.row_stride}, packed.template data<T>());
  parallel_for(
      ceil_div(p.N, kBlockRows), grain_for_products(kBlockRows * p.M * p.K),
      [&](int64_t begin, int64_t end) {
        const Scratch block(static_cast<size_t>(kBlockRows * stride) * sizeof(T));
        T* sums = block.template data<T>();
        for (int64_t n = begin * kBlockRows; n < std::min(p.N, end * kBlockRows); n += kBlockRows) {
          const int64_t rows = std::min(kBlockRows, p.N - n);
          multiply_block<T>(rows, p.M, p.K,
                            {p.b.data + n * p.b.column_stride, p.b.column_stride, 1},
                            packed.template data<T>(), {sums, stride, 0, nullptr, false}, nullptr);
          transpose(rows, p.M, sums, stride, y + n, p.N);
          for (int64_t m = 0; bias && m < p.M; ++m) {
            T* row = y + m * p.N + n;
#pragma omp simd
            for (int64_t i = 0; i < rows; ++i) row[i] += bias[n + i];
          }
        }
      });
}

template <class T>
void multiply_by_slabs(const Product<T>& p, const T* bias, T* y) {
  const int64_t columns = std::min(p.N, kColumns), pitch = round_up(columns, kWidth<T>);
  const int64_t depth = std::min(p.K, std::max(kDepth, kSlab / pitch / kDepth * kDepth));
  const Scratch packed(static_cast<size_t>(depth * pitch) * sizeof(T));
  for (int64_t n = 0; n < p.N; n += columns) {
    const int64_t width = std::min(columns, p.N - n);
    for (int64_t k = 0; k < p.K; k += depth) {
      const int64_t part = std::min(depth, p.K - k);
      const Matrix<const T> slab{p.b.data + k * p.b.row_stride + n * p.b.column_stride,
                                 p.b.row_stride, p.b.column_stride};
      pack_slab<T>(part, width, slab, packed.template data<T>());
      multiply_slab<T>(
          p.M, width, part, {p.a.data + k * p.a.column_stride, p.a.row_stride, p.a.column_stride},
          packed.template data<T>(), {y + n, p.N, 0, bias ? bias + n : nullptr, k > 0});
    }
  }
}

template <class T>
T dot(int64_t n, const T* a, const T* b) {
  const hn::ScalableTag<T> d;
  const auto product = [&](int64_t i, auto sum) {
    return hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, b + i), sum);
  };
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;  // four sums hide the latency of an addition
  int64_t i = 0;
  for (; i + 4 * kLanes<T> <= n; i += 4 * kLanes<T>) {
    s0 = product(i, s0);
    s1 = product(i + kLanes<T>, s1);
    s2 = product(i + 2 * kLanes<T>, s2);
    s3 = product(i + 3 * kLanes<T>, s3);
  }
  for (; i + kLanes<T> <= n; i += kLanes<T>) s0 = product(i, s0);
  T sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
  for (; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

/// y [rows] = a [rows,n] x [n] + bias; rows of a are `stride` apart, bias may be null.
template <class T>
void multiply_vector(int64_t rows, int64_t n, const T* a, int64_t stride, const T* x, const T* bias,
                     int64_t bias_stride, T* y) {
  parallel_for(rows, grain_for_products(n), [&](int64_t begin, int64_t end) {
    for (int64_t m = begin; m < end; ++m) {
      y[m] = dot(n, a + m * stride, x) + (bias ? bias[m * bias_stride] : T(0));
    }
  });
}

template <class T>
void multiply_any(const Product<T>& p, T* y) {
  const bool has_bias = p.bias != nullptr, gaps = p.bias_stride != 1;
  const Scratch copy(has_bias && gaps ? static_cast<size_t>(p.N) * sizeof(T) : 0);
  const T* bias = p.bias;
  if (has_bias && gaps) {
    T* to = copy.template data<T>();
    for (int64_t n = 0; n < p.N; ++n) to[n] = p.bias[n * p.bias_stride];
    bias = to;
  }
  if (p.a.column_stride == 1 && p.b.row_stride == 1) {  // both contiguous along k
    if (p.N == 1) {
      return multiply_vector(p.M, p.K, p.a.data, p.a.row_stride, p.b.data, bias, 0, y);
    }
    if (p.M == 1) {
      return multiply_vector(p.N, p.K, p.b.data, p.b.column_stride, p.a.data, bias, 1, y);
    }
    constexpr int64_t kFewRows = 64;  // above this, packing b pays
    if (p.M <= kFewRows && 4 * p.M <= p.N && p.M * p.K <= kSlab / 4) {
      return multiply_transposed(p, bias, y);
    }
  }
  multiply_by_slabs(p, bias, y);
}

bool has_suitable_rows(int64_t rows) {
  constexpr bool kHasWideVectors = kLanes<float> == 16;
  return kHasWideVectors ? rows >= 4 && rows <= 256 : rows >= 2 && rows <= 8;
}
size_t all_panels(const Product<float>& p) {
  return static_cast<size_t>(p.K * round_up(p.N, kWidth<float>)) * sizeof(float);
}
void pack_float(const Product<float>& p, float* packed) { pack_slab(p.K, p.N, p.b, packed); }
void multiply_panels(const Product<float>& p, const float* packed, float* y) {
  multiply_slab<float>(p.M, p.N, p.K, p.a, packed, {y, p.N, 0, p.bias, false});
}

void multiply_float(const Product<float>& p, float* y) { multiply_any(p, y); }
void multiply_double(const Product<double>& p, double* y) { multiply_any(p, y); }

}  // namespace
}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ambit::cpu {
HWY_EXPORT(multiply_float);
HWY_EXPORT(multiply_double);
HWY_EXPORT(has_suitable_rows);
HWY_EXPORT(all_panels);
HWY_EXPORT(pack_float);
HWY_EXPORT(multiply_panels);
bool suits_packed(int64_t rows) { return HWY_DYNAMIC_DISPATCH(has_suitable_rows)(rows); }
size_t packed_bytes(const Product<float>& p) { return HWY_DYNAMIC_DISPATCH(all_panels)(p); }
void pack(const Product<float>& p, float* packed) { HWY_DYNAMIC_DISPATCH(pack_float)(p, packed); }
void multiply_packed(const Product<float>& p, const float* packed, float* y) {
  HWY_DYNAMIC_DISPATCH(multiply_panels)(p, packed, y);
}
template <>
void multiply(const Product<float>& p, float* y) {
  HWY_DYNAMIC_DISPATCH(multiply_float)(p, y);
}
template <>
void multiply(const Product<double>& p, double* y) {
  HWY_DYNAMIC_DISPATCH(multiply_double)(p, y);
}
}  // namespace ambit::cpu
#endif
