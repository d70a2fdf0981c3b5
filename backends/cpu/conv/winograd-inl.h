// Winograd transforms: rows of pixels of x, of taps and of sums are polynomials, represented by
// their values at as many points as x has pixels. A product of polynomials is one multiplication
// per point.
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

inline constexpr int64_t kLanes = hn::MaxLanes(D());
/// True if 1-d and 2x2 windows are supported; with few lanes they are not worth their code size.
inline constexpr bool kHasAll = kLanes >= 16;
inline constexpr size_t kVectors = 2;
inline constexpr int64_t kBlock = int64_t{kVectors} * kLanes;  // columns of a product at a time
/// Floats between points in memory: point sizes are often a power of two, so that without a gap all
/// points would map to the same cache sets.
inline constexpr int64_t kGap = 16;
// Rows of a product at a time: as many as fit in registers with the columns and one element.
inline constexpr size_t kMostRows = HWY_ARCH_X86 && HWY_TARGET != HWY_AVX3 ? 6 : 14;

/// The finite nonzero interpolation points for rows of kSide pixels: these and their negatives. All
/// factors of x are exact; for 6 pixels the rounding error is less than half that of the usual
/// points 1 and 2.
template <size_t kSide>
inline constexpr std::array<float, kSide / 2 - 1> kPairs;
template <>
inline constexpr std::array<float, 2> kPairs<6>{0.625f, 1.5f};
template <>
inline constexpr std::array<float, 3> kPairs<8>{0.5f, 1, 2};

/// Indices of the pairs; empty for a single pixel, which is not transformed.
template <size_t kSide>
constexpr auto pairs_of() {
  if constexpr (kSide == 1) {
    return std::index_sequence<>();
  } else {
    return std::make_index_sequence<kPairs<kSide>.size()>();
  }
}

/// Dimensions of a window of taps, pixels or sums; one row for 1-d convolutions.
template <size_t kRows, size_t kColumns>
struct Window {
  static constexpr size_t kHeight = kRows, kWidth = kColumns;
  static constexpr int64_t kCount = int64_t{kRows} * int64_t{kColumns};
};
/// Return how many pixels of y a tile has in one dim, for windows with `taps` taps.
constexpr size_t outputs_of(size_t taps) {
  return static_cast<size_t>(winograd_outputs(static_cast<int64_t>(taps)));
}
template <class Taps>
using Outputs = Window<outputs_of(Taps::kHeight), outputs_of(Taps::kWidth)>;
template <class Taps>
using Points = Window<Taps::kHeight + outputs_of(Taps::kHeight) - 1,
                      Taps::kWidth + outputs_of(Taps::kWidth) - 1>;

/// Return the coefficients of the powers of t in the product of (t - p^2) over all pairs except
/// pair kBut, if it exists; the last one is 1.
template <size_t kSide, size_t kBut>
constexpr auto polynomial() {
  constexpr size_t kCount = kPairs<kSide>.size();
  std::array<float, kCount + (kBut < kCount ? 0 : 1)> factors{1};
  for (size_t k = 0, degree = 0; k < kCount; ++k) {
    if (k == kBut) continue;
    const float root = kPairs<kSide>[k] * kPairs<kSide>[k];
    for (size_t i = ++degree; i > 0; --i) factors[i] = factors[i - 1] - root * factors[i];
    factors[0] *= -root;
  }
  return factors;
}
template <size_t kSide>
inline constexpr auto kAll = polynomial<kSide, kSide>();
template <size_t kSide, size_t kBut>
inline constexpr auto kOthers = polynomial<kSide, kBut>();

constexpr float power(float x, size_t n) { return n == 0 ? 1 : x * power(x, n - 1); }

inline size_t bytes(int64_t floats) { return static_cast<size_t>(floats) * sizeof(float); }

HWY_INLINE V times(float c, V v) { return hn::Mul(hn::Set(D(), c), v); }
HWY_INLINE V plus(V sum, float c, V v) { return hn::MulAdd(hn::Set(D(), c), v, sum); }
HWY_INLINE V minus(V sum, float c, V v) { return hn::NegMulAdd(hn::Set(D(), c), v, sum); }

// Loops over vectors are pack expansions, so that the compiler keeps the vectors in registers.

/// Return factors[0] x[0] + factors[1] x[2] + ...
template <size_t kCount, size_t... I>
HWY_INLINE V every_second(const std::array<float, kCount>& factors, const V* x,
                          std::index_sequence<I...>) {
  V sum = x[2 * (kCount - 1)];
  ((sum = plus(sum, factors[I], x[2 * I])), ...);
  return sum;
}
template <size_t kCount>
HWY_INLINE V every_second(const std::array<float, kCount>& factors, const V* x) {
  return every_second(factors, x, std::make_index_sequence<kCount - 1>());
}

/// Compute the values of kTaps taps at a pair, over the product of its distances to other points.
template <size_t kSide, size_t kPair, size_t kTaps>
HWY_INLINE void taps_at_pair(const V (&w)[kTaps], V* to) {
  static_assert(kTaps >= 2 && kTaps <= 5);
  constexpr float point = kPairs<kSide>[kPair], square = point * point;
  constexpr float distances = [] {
    float product = 2 * square;
    for (size_t k = 0; k < kPairs<kSide>.size(); ++k) {
      if (k != kPair) product *= square - kPairs<kSide>[k] * kPairs<kSide>[k];
    }
    return product;
  }();
  V even = w[0], odd = w[1];
  if constexpr (kTaps > 2) even = plus(even, square, w[2]);
  if constexpr (kTaps > 3) odd = plus(odd, square, w[3]);
  if constexpr (kTaps > 4) even = plus(even, square * square, w[4]);
  to[0] = times(1 / distances, plus(even, point, odd));
  to[1] = times(1 / distances, minus(even, point, odd));
}
/// Compute the values of pixels of x at a pair.
template <size_t kSide, size_t kPair>
HWY_INLINE void pixels_at_pair(const V (&x)[kSide], V* to) {
  const V even = every_second(kOthers<kSide, kPair>, x + 2),
          odd = every_second(kOthers<kSide, kPair>, x + 1);
  to[0] = plus(even, kPairs<kSide>[kPair], odd);
  to[1] = minus(even, kPairs<kSide>[kPair], odd);
}

/// Compute the values of pixels of x, or of fewer taps, at all points.
template <size_t kSide, size_t kFrom, size_t... K>
HWY_INLINE void values_of(const V (&from)[kFrom], V (&to)[kSide], std::index_sequence<K...>) {
  if constexpr (kSide == 1) {
    to[0] = from[0];
  } else if constexpr (kFrom == kSide) {
    to[0] = every_second(kAll<kSide>, from);
    to[kSide - 1] = every_second(kAll<kSide>, from + 1);
    (pixels_at_pair<kSide, K>(from, to + 2 * K + 1), ...);
  } else {
    to[0] = times(1 / kAll<kSide>[0], from[0]);
    to[kSide - 1] = from[kFrom - 1];
    (taps_at_pair<kSide, K>(from, to + 2 * K + 1), ...);
  }
}

/// Return the sum of p^kPower times the values at pairs.
template <size_t kSide, size_t kPower, size_t... K>
HWY_INLINE V sum_of(const V (&even)[sizeof...(K)], const V (&odd)[sizeof...(K)],
                    std::index_sequence<K...>) {
  const auto& from = kPower % 2 == 0 ? even : odd;
  V sum = times(power(kPairs<kSide>[0], kPower), from[0]);
  ((sum = K == 0 ? sum : plus(sum, power(kPairs<kSide>[K], kPower), from[K])), ...);
  return sum;
}
/// Compute the sums (coefficients) from their values.
template <size_t kSums, size_t kSide, size_t... S, size_t... K>
HWY_INLINE void sums_of(const V (&values)[kSide], V (&to)[kSums], std::index_sequence<S...>,
                        std::index_sequence<K...> pairs) {
  if constexpr (kSide == 1) {
    to[0] = values[0];
    return;
  } else {
    const V even[] = {hn::Add(values[2 * K + 1], values[2 * K + 2])...},
            odd[] = {hn::Sub(values[2 * K + 1], values[2 * K + 2])...};
    ((to[S] = sum_of<kSide, S>(even, odd, pairs)), ...);
    to[0] = hn::Add(to[0], values[0]);
    to[kSums - 1] = hn::Add(to[kSums - 1], values[kSide - 1]);
  }
}

/// Write to[point * stride], the values of a window of vectors that at(row, column) returns.
template <class Points, class At, size_t... Row, size_t... Column, size_t... Point>
HWY_INLINE void write_values(const At& at, float* to, int64_t stride, std::index_sequence<Row...>,
                             std::index_sequence<Column...>, std::index_sequence<Point...>) {
  V columns[sizeof...(Column)][Points::kHeight];
  for (size_t j = 0; j < sizeof...(Column); ++j) {
    const V column[] = {at(Row, j)...};
    values_of(column, columns[j], pairs_of<Points::kHeight>());
  }
  for (size_t i = 0; i < Points::kHeight; ++i, to += sizeof...(Point) * stride) {
    const V row[] = {columns[Column][i]...};
    V values[sizeof...(Point)];
    values_of(row, values, pairs_of<sizeof...(Point)>());
    (hn::StoreU(values[Point], D(), to + Point * stride), ...);
  }
}
template <class Points, class From, class At>
HWY_INLINE void write_values(const At& at, float* to, int64_t stride) {
  write_values<Points>(at, to, stride, std::make_index_sequence<From::kHeight>(),
                       std::make_index_sequence<From::kWidth>(),
                       std::make_index_sequence<Points::kWidth>());
}

/// Compute the sums from their values from[point * stride].
template <size_t kHeight, size_t kWidth, size_t... Row, size_t... Column>
HWY_INLINE void read_sums(const float* from, int64_t stride, V (&to)[kHeight][kWidth],
                          std::index_sequence<Row...>, std::index_sequence<Column...>) {
  constexpr size_t kRows = sizeof...(Row), kColumns = sizeof...(Column);
  V columns[kColumns][kHeight];
  for (size_t j = 0; j < kColumns; ++j, from += stride) {
    const V values[] = {hn::LoadU(D(), from + Row * kColumns * stride)...};
    sums_of(values, columns[j], std::make_index_sequence<kHeight>(), pairs_of<kRows>());
  }
  for (size_t i = 0; i < kHeight; ++i) {
    const V values[] = {columns[Column][i]...};
    sums_of(values, to[i], std::make_index_sequence<kWidth>(), pairs_of<kColumns>());
  }
}
template <class Points, size_t kHeight, size_t kWidth>
HWY_INLINE void read_sums(const float* from, int64_t stride, V (&to)[kHeight][kWidth]) {
  read_sums(from, stride, to, std::make_index_sequence<Points::kHeight>(),
            std::make_index_sequence<Points::kWidth>());
}

/// Checks that all vectors passed to add() are finite.
class Finite {
 public:
  HWY_INLINE Finite() : nan_or_0_(hn::Zero(D())) {}
  HWY_INLINE void add(V v) { nan_or_0_ = hn::MulAdd(v, hn::Zero(D()), nan_or_0_); }
  HWY_INLINE bool all() const { return hn::AllTrue(D(), hn::Eq(nan_or_0_, hn::Zero(D()))); }

 private:
  V nan_or_0_;
};

struct Images : WinogradImages {
  using Write = void (Images::*)(const WinogradTiles& tiles, int64_t first, int64_t count,
                                 int64_t planes, float* to, int64_t pitch, int64_t stride) const;

  /// to[point * stride + i * pitch + image * channels + channel] = the values of the pixels of tile
  /// first + i, of `count` tiles, in each of `planes` planes or in each of the split images.
  template <class Points, class Pixels>
  void write_values(const WinogradTiles& tiles, int64_t first, int64_t count, int64_t planes,
                    float* to, int64_t pitch, int64_t stride) const {
    const std::vector<float> zeros(static_cast<size_t>(channels));  // outside of an image
    const int64_t images = planes * split * split;
    for (int64_t i = 0; i < count * images; ++i) {
      const int64_t image = i % images;
      const float* from[Pixels::kHeight][Pixels::kWidth];
      find(tiles[first + i / images], image, zeros.data(), Pixels::kHeight, Pixels::kWidth,
           from[0]);
      float* const values = to + i / images * pitch + image * channels;
      for (int64_t c = 0; c < channels; c += kLanes) {
        const auto at = [&](size_t row, size_t column)
                            HWY_ATTR { return hn::LoadU(D(), from[row][column] + c); };
        winograd::write_values<Points, Pixels>(at, values + c, stride);
      }
    }
  }
};

/// The reduction dim of a product, columns of its left and rows of its right operand: `runs` runs
/// of `length`, `left_step` and `right_step` apart.
struct Depth {
  int64_t length, runs = 1, left_step = 0, right_step = 0;
};

/// y [kRows][kBlock] = a [kRows,depth] b [depth][kBlock]; added to y if `add`.
template <size_t kRows>
void product(const Depth& depth, float* y, int64_t y_stride, const Matrix<const float>& a,
             const float* b, int64_t b_stride, bool add) {
  Tile<float, kRows, kVectors> tile;
  for (int64_t run = 0; run < depth.runs; ++run) {
    const float* element = a.data + run * depth.left_step;
    const float* row = b + run * depth.right_step;
    for (int64_t i = 0; i < depth.length; ++i, element += a.column_stride, row += b_stride) {
      tile.add_product(element, a.row_stride, row);
    }
  }
  add ? tile.add_to(y, y_stride) : tile.store(y, y_stride);
}
template <size_t... I>
constexpr auto products(std::index_sequence<I...>) {
  return std::array{&product<I + 1>...};
}
inline constexpr auto kProducts = products(std::make_index_sequence<kMostRows>());

/// y [rows][kBlock] = a [rows,depth] b [depth][kBlock]; added to y if `add`.
inline void multiply(int64_t rows, const Depth& depth, float* y, int64_t y_stride,
                     Matrix<const float> a, const float* b, int64_t b_stride, bool add) {
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
