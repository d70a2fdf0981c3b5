// Rows of 6 pixels of x, of 3 or 4 taps, and of 4 or 3 sums of their products are polynomials,
// known by their values at 6 points, where a product is one multiplication. The points 0, 5/8,
// -5/8, 3/2, -3/2 and infinity round less than half as much as the usual 0, 1, -1, 2, -2, and all
// factors of x are exact.
#if defined(AMBIT_CPU_WINOGRAD_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef AMBIT_CPU_WINOGRAD_INL_H
#undef AMBIT_CPU_WINOGRAD_INL_H
#else
#define AMBIT_CPU_WINOGRAD_INL_H
#endif

#include <hwy/highway.h>

#include <array>
#include <utility>
#include <vector>

#include "backends/cpu/matmul/gemm.h"
#include "backends/cpu/matmul/tile-inl.h"
#include "conv_winograd.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace winograd {

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

inline constexpr size_t kSide = kWinogradSide;
inline constexpr int64_t kPoints = kSide * kSide;
inline constexpr int64_t kLanes = hn::MaxLanes(D());
inline constexpr size_t kVectors = 2;
inline constexpr int64_t kBlock = int64_t{kVectors} * kLanes;  // columns of a product at once
// Its rows at once: as many as registers hold beside the columns and one element.
inline constexpr size_t kMostRows = HWY_ARCH_X86 && HWY_TARGET != HWY_AVX3 ? 6 : 14;

// The points but 0 and infinity are kA, -kA, kB, -kB.
inline constexpr float kA = 0.625f, kB = 1.5f, kAA = kA * kA, kBB = kB * kB;

HWY_INLINE V times(float c, V v) { return hn::Mul(hn::Set(D(), c), v); }
HWY_INLINE V plus(V sum, float c, V v) { return hn::MulAdd(hn::Set(D(), c), v, sum); }

/// The values of 6 pixels of x at the points.
HWY_INLINE void values_of(const V (&x)[kSide], V (&to)[kSide]) {
  const V even_a = plus(x[4], -kBB, x[2]), odd_a = times(kA, plus(x[3], -kBB, x[1]));
  const V even_b = plus(x[4], -kAA, x[2]), odd_b = times(kB, plus(x[3], -kAA, x[1]));
  to[0] = plus(plus(x[4], -(kAA + kBB), x[2]), kAA * kBB, x[0]);
  to[1] = hn::Add(even_a, odd_a);
  to[2] = hn::Sub(even_a, odd_a);
  to[3] = hn::Add(even_b, odd_b);
  to[4] = hn::Sub(even_b, odd_b);
  to[5] = plus(plus(x[5], -(kAA + kBB), x[3]), kAA * kBB, x[1]);
}

/// The values of 3 or 4 taps, by the product of what each point is away from the others.
template <size_t kTaps>
HWY_INLINE void values_of(const V (&w)[kTaps], V (&to)[kSide]) {
  static_assert(kTaps == 3 || kTaps == 4);
  const auto at = [&](float point, float other, V* both) HWY_ATTR {
    const float square = point * point, product = 2 * square * (square - other * other);
    const V even = plus(w[0], square, w[2]);
    V odd = w[1];
    if constexpr (kTaps == 4) odd = plus(odd, square, w[3]);
    both[0] = times(1 / product, plus(even, point, odd));
    both[1] = times(1 / product, plus(even, -point, odd));
  };
  to[0] = times(1 / (kAA * kBB), w[0]);
  at(kA, kB, to + 1);
  at(kB, kA, to + 3);
  to[5] = w[kTaps - 1];
}

/// The 4 or 3 sums whose values these are.
template <size_t kSums>
HWY_INLINE void sums_of(const V (&values)[kSide], V (&to)[kSums]) {
  static_assert(kSums == 3 || kSums == 4);
  const V even_a = hn::Add(values[1], values[2]), odd_a = hn::Sub(values[1], values[2]);
  const V even_b = hn::Add(values[3], values[4]), odd_b = hn::Sub(values[3], values[4]);
  to[0] = hn::Add(values[0], hn::Add(even_a, even_b));
  to[1] = plus(times(kA, odd_a), kB, odd_b);
  to[2] = plus(times(kAA, even_a), kBB, even_b);
  if constexpr (kSums == 4) {
    to[3] = plus(plus(values[5], kA * kAA, odd_a), kB * kBB, odd_b);
  } else {
    to[2] = hn::Add(to[2], values[5]);
  }
}

/// to[point * stride] of kFrom x kFrom vectors that at(row, column) gives.
template <size_t kFrom, class At>
HWY_INLINE void write_values(const At& at, float* to, int64_t stride) {
  V columns[kSide][kFrom];  // [point][column]
  for (size_t j = 0; j < kFrom; ++j) {
    V from[kFrom], values[kSide];
    for (size_t i = 0; i < kFrom; ++i) from[i] = at(i, j);
    values_of(from, values);
    for (size_t i = 0; i < kSide; ++i) columns[i][j] = values[i];
  }
  for (size_t i = 0; i < kSide; ++i) {
    V values[kSide];
    values_of(columns[i], values);
    for (size_t j = 0; j < kSide; ++j, to += stride) hn::StoreU(values[j], D(), to);
  }
}

/// The kSums x kSums sums whose values are from[point * stride].
template <size_t kSums>
HWY_INLINE void read_sums(const float* from, int64_t stride, V (&to)[kSums][kSums]) {
  V rows[kSums][kSide];
  for (size_t j = 0; j < kSide; ++j) {
    V values[kSide], sums[kSums];
    for (size_t i = 0; i < kSide; ++i) {
      values[i] = hn::LoadU(D(), from + static_cast<int64_t>(i * kSide + j) * stride);
    }
    sums_of(values, sums);
    for (size_t i = 0; i < kSums; ++i) rows[i][j] = sums[i];
  }
  for (size_t i = 0; i < kSums; ++i) sums_of(rows[i], to[i]);
}

/// Images that lie channels-last, tiles of kPixels x kPixels of which begin `padding` before each
/// tile of y.
template <size_t kPixels>
struct Images {
  const float* data;
  int64_t height, width, channels, padding_top, padding_left;

  /// to[point * stride + i * pitch + channel] = the values of tile first + i, of `count`.
  void write_values(const WinogradTiles& tiles, int64_t first, int64_t count, float* to,
                    int64_t pitch, int64_t stride) const {
    const std::vector<float> zeros(static_cast<size_t>(channels));  // outside of an image
    for (int64_t t = 0; t < count; ++t, to += pitch) {
      const auto tile = tiles[first + t];
      const float* from[kPixels][kPixels];
      for (size_t i = 0; i < kPixels; ++i) {
        for (size_t j = 0; j < kPixels; ++j) {
          const int64_t h = tile.row - padding_top + static_cast<int64_t>(i),
                        w = tile.column - padding_left + static_cast<int64_t>(j);
          const bool is_inside = h >= 0 && h < height && w >= 0 && w < width;
          const int64_t pixel = (tile.image * height + h) * width + w;
          from[i][j] = is_inside ? data + pixel * channels : zeros.data();
        }
      }
      for (int64_t c = 0; c < channels; c += kLanes) {
        const auto at = [&](size_t i, size_t j) HWY_ATTR { return hn::LoadU(D(), from[i][j] + c); };
        winograd::write_values<kPixels>(at, to + c, stride);
      }
    }
  }
};

/// y [kRows][kBlock] = a [kRows,depth] b [depth][kBlock], or added to it.
template <size_t kRows>
void product(int64_t depth, float* y, int64_t y_stride, const Matrix<const float>& a,
             const float* b, int64_t b_stride, bool add) {
  Tile<float, kRows, kVectors> tile;
  const float* element = a.data;
  for (int64_t i = 0; i < depth; ++i, element += a.column_stride, b += b_stride) {
    tile.add_product(element, a.row_stride, b);
  }
  add ? tile.add_to(y, y_stride) : tile.store(y, y_stride);
}
template <size_t... I>
constexpr auto products(std::index_sequence<I...>) {
  return std::array{&product<I + 1>...};
}
inline constexpr auto kProducts = products(std::make_index_sequence<kMostRows>());

/// y [rows][kBlock] = a [rows,depth] b [depth][kBlock], or added to it.
inline void multiply(int64_t rows, int64_t depth, float* y, int64_t y_stride, Matrix<const float> a,
                     const float* b, int64_t b_stride, bool add) {
  const int64_t runs = ceil_div(rows, int64_t{kMostRows});
  for (int64_t i = 0; i < runs; ++i) {
    const int64_t count = ceil_div(rows, runs - i);
    kProducts[static_cast<size_t>(count - 1)](depth, y, y_stride, a, b, b_stride, add);
    rows -= count;
    y += count * y_stride;
    a.data += count * a.row_stride;
  }
}

}  // namespace winograd
}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
