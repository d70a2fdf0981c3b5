// Packs operands of a product for register tiles: panels of b, blocks of rows of a.
#if defined(AMBIT_CPU_PANELS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef AMBIT_CPU_PANELS_INL_H
#undef AMBIT_CPU_PANELS_INL_H
#else
#define AMBIT_CPU_PANELS_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <type_traits>

#include "gemm.h"
#include "tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {

template <class T>
inline constexpr int64_t kLanes = static_cast<int64_t>(hn::MaxLanes(hn::ScalableTag<T>()));
template <class T>
inline constexpr int64_t kWidth = kLanes<T>* static_cast<int64_t>(kTileVectors);

inline constexpr int64_t kRows = static_cast<int64_t>(kTileRows);
/// Rows of a block of a, which fits in the L2 cache; a multiple of the tile height.
inline constexpr int64_t kBlockRows = 96;
static_assert(kBlockRows % kRows == 0);

/// to[c * to_stride + r] = from[r * stride + c], for 4 x 4 floats.
HWY_INLINE void transpose_4(const float* from, int64_t stride, float* to, int64_t to_stride) {
#if HWY_TARGET != HWY_SCALAR
  const hn::FixedTag<float, 4> d;
  const hn::FixedTag<double, 2> pairs;
  const auto load = [&](int64_t r) { return hn::LoadU(d, from + r * stride); };
  const auto store = [&](int64_t c, auto v) {
    hn::StoreU(hn::BitCast(d, v), d, to + c * to_stride);
  };
  const auto a = load(0), b = load(1), c = load(2), e = load(3);
  const auto ab = hn::BitCast(pairs, hn::InterleaveLower(d, a, b));
  const auto ce = hn::BitCast(pairs, hn::InterleaveLower(d, c, e));
  store(0, hn::InterleaveLower(pairs, ab, ce));
  store(1, hn::InterleaveUpper(pairs, ab, ce));
  const auto ab2 = hn::BitCast(pairs, hn::InterleaveUpper(d, a, b));
  const auto ce2 = hn::BitCast(pairs, hn::InterleaveUpper(d, c, e));
  store(2, hn::InterleaveLower(pairs, ab2, ce2));
  store(3, hn::InterleaveUpper(pairs, ab2, ce2));
#else
  for (int64_t r = 0; r < 4; ++r) {
    for (int64_t c = 0; c < 4; ++c) to[c * to_stride + r] = from[r * stride + c];
  }
#endif
}

/// to[c * to_stride + r] = from[r * stride + c]. Loops along the rows of the operand with the
/// larger stride: it is often a power of two, so that the L1 cache holds few rows at a time.
template <class T>
void transpose(int64_t rows, int64_t columns, const T* from, int64_t stride, T* to,
               int64_t to_stride) {
  constexpr int64_t kPart = std::is_same_v<T, float> ? 4 : 1;
  const int64_t last_r = rows / kPart * kPart, last_c = columns / kPart * kPart;
  const auto part = [&](int64_t r, int64_t c) {
    if constexpr (kPart == 4) {
      transpose_4(from + r * stride + c, stride, to + c * to_stride + r, to_stride);
    } else {
      to[c * to_stride + r] = from[r * stride + c];
    }
  };
  if (to_stride > stride) {
    for (int64_t c = 0; c < last_c; c += kPart) {
      for (int64_t r = 0; r < last_r; r += kPart) part(r, c);
    }
  } else {
    for (int64_t r = 0; r < last_r; r += kPart) {
      for (int64_t c = 0; c < last_c; c += kPart) part(r, c);
    }
  }
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = r < last_r ? last_c : 0; c < columns; ++c) {
      to[c * to_stride + r] = from[r * stride + c];
    }
  }
}

/// to [depth][kWidth] = b [depth,width], zero-padded.
template <class T>
void pack_panel(int64_t depth, int64_t width, const Matrix<const T>& b, T* to) {
  if (width < kWidth<T>) std::fill_n(to, depth * kWidth<T>, T(0));
  if (b.column_stride == 1) {
    for (int64_t k = 0; k < depth; ++k) {
      std::copy_n(b.data + k * b.row_stride, width, to + k * kWidth<T>);
    }
  } else if (b.row_stride == 1) {
    transpose(width, depth, b.data, b.column_stride, to, kWidth<T>);
  } else {
    for (int64_t k = 0; k < depth; ++k) {
      for (int64_t n = 0; n < width; ++n) {
        to[k * kWidth<T> + n] = b.data[k * b.row_stride + n * b.column_stride];
      }
    }
  }
}

/// to [depth][kBlockRows] = the transpose of a [rows,depth]
template <class T>
void pack_rows(int64_t rows, int64_t depth, const Matrix<const T>& a, T* to) {
  for (int64_t k = 0; k < depth; ++k) {
    const T* from = a.data + k * a.column_stride;
    if (a.row_stride == 1) {
      std::copy_n(from, rows, to + k * kBlockRows);
    } else {
      for (int64_t m = 0; m < rows; ++m) to[k * kBlockRows + m] = from[m * a.row_stride];
    }
  }
}

}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
