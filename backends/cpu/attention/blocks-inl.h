// Blocks of keys and queries for attention and its gradient, packed for register tiles, and their
// products. Scores are transposed, [keys][queries], so that softmax along keys processes a vector
// of queries at a time.
#if defined(AMBIT_CPU_ATTENTION_BLOCKS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef AMBIT_CPU_ATTENTION_BLOCKS_INL_H
#undef AMBIT_CPU_ATTENTION_BLOCKS_INL_H
#else
#define AMBIT_CPU_ATTENTION_BLOCKS_INL_H
#endif

#include <ambit/params.h>
#include <ambit/tensor.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "backends/cpu/matmul/tile-inl.h"
#include "backends/cpu/runtime/parallel.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Block sizes: multiples of a tile's rows, kQueries also of its width, for all instruction sets. A
/// block of scores fits in the L2 cache.
inline constexpr int64_t kQueries = 192, kKeys = 96;
/// Row counts are padded to a multiple of this: a tile reads and writes this many rows at a time.
inline constexpr int64_t kStrip = static_cast<int64_t>(kTileRows);
static_assert(kQueries % kStrip == 0 && kKeys % kStrip == 0);

template <class T>
inline constexpr int64_t kVector = static_cast<int64_t>(hn::MaxLanes(hn::ScalableTag<T>()));

/// Layout of a left operand: element (m, k) is a[k * stride + m], or for rows a[m * stride + k].
enum class Left : uint8_t { columns, rows };

template <class T, Left kLeft, bool kAdd, size_t kVectors>
HWY_INLINE void multiply_strip(int64_t depth, const T* a, int64_t a_stride, const T* b,
                               int64_t b_stride, T* y, int64_t y_stride) {
  Tile<T, kTileRows, kVectors> sums;
  for (int64_t k = 0; k < depth; ++k) {
    if constexpr (kLeft == Left::columns) {
      sums.add_product(a + k * a_stride, b + k * b_stride);
    } else {
      sums.add_product(a + k, a_stride, b + k * b_stride);
    }
  }
  if constexpr (kAdd) {
    sums.add_to(y, y_stride);
  } else {
    sums.store(y, y_stride);
  }
}

/// y [rows,columns] = a b, or y += a b, with `depth` products per sum; b and y are row-major. Rows
/// are rounded up to strips and columns to vectors: all three operands must have that padding.
template <class T, Left kLeft, bool kAdd>
void multiply(int64_t rows, int64_t columns, int64_t depth, const T* a, int64_t a_stride,
              const T* b, int64_t b_stride, T* y, int64_t y_stride) {
  constexpr int64_t kLanes = kVector<T>, kWidth = kLanes * static_cast<int64_t>(kTileVectors);
  for (int64_t n = 0; n < columns; n += kWidth) {
    const int64_t vectors = std::min<int64_t>(kTileVectors, ceil_div(columns - n, kLanes));
    for (int64_t m = 0; m < rows; m += kStrip) {
      const T* from = a + (kLeft == Left::columns ? m : m * a_stride);
      T* to = y + m * y_stride + n;
      const auto strip = [&]<size_t kVectors>() {
        multiply_strip<T, kLeft, kAdd, kVectors>(depth, from, a_stride, b + n, b_stride, to,
                                                 y_stride);
      };
      if (vectors == static_cast<int64_t>(kTileVectors)) {
        strip.template operator()<kTileVectors>();
      } else if (vectors == 1) {
        strip.template operator()<1>();
      } else if constexpr (kTileVectors > 2) {
        if (vectors == 2) {
          strip.template operator()<2>();
        } else {
          strip.template operator()<3>();
        }
      }
    }
  }
}

/// The matrix [N,D] of one head of t [B,H,N,D], with strides in elements.
template <class T>
struct Head {
  Head(const Tensor& t, int64_t i)
      : data(t.data_ptr<T>() + i / t.sizes()[1] * t.strides()[0] +
             i % t.sizes()[1] * t.strides()[1]),
        row(t.strides()[2]),
        column(t.strides()[3]) {}
  T* data;
  int64_t row, column;
};

/// Return the mask of one head, if there is a mask.
template <class T>
std::optional<Head<T>> mask_of(const Tensor& mask, int64_t head) {
  if (!mask.defined()) return std::nullopt;
  return Head<T>(mask, head);
}

/// Pack `rows` rows of `depth` elements, times `factor`, to [rows][width], zero-padded.
template <class T>
void pack_rows(int64_t rows, int64_t depth, const Head<T>& from, int64_t first, T factor, T* to,
               int64_t width) {
  for (int64_t i = 0; i < rows; ++i) {
    const T* x = from.data + (first + i) * from.row;
    T* y = to + i * width;
    if (from.column == 1) {
#pragma omp simd
      for (int64_t j = 0; j < depth; ++j) y[j] = factor * x[j];
    } else {
      for (int64_t j = 0; j < depth; ++j) y[j] = factor * x[j * from.column];
    }
    std::fill(y + depth, y + width, T(0));
  }
}

/// Write factor * from [rows][width] to `rows` rows of `to`, from row `first` on.
template <class T>
void unpack_rows(int64_t rows, int64_t depth, const T* from, int64_t width, T factor,
                 const Head<T>& to, int64_t first) {
  for (int64_t i = 0; i < rows; ++i) {
    const T* x = from + i * width;
    T* y = to.data + (first + i) * to.row;
    if (to.column == 1) {
#pragma omp simd
      for (int64_t j = 0; j < depth; ++j) y[j] = factor * x[j];
    } else {
      for (int64_t j = 0; j < depth; ++j) y[j * to.column] = factor * x[j];
    }
  }
}

/// Transpose packed rows [count][width] to [columns][kQueries], zero-padded.
template <class T>
void transpose_rows(int64_t count, int64_t columns, const T* from, int64_t width, T* to) {
  constexpr int64_t kPart = 16;  // queries that fill a cache line of `to`
  for (int64_t i = 0; i < kQueries; i += kPart) {
    const int64_t there = std::clamp<int64_t>(count - i, 0, kPart);
    for (int64_t j = 0; j < columns; ++j) {
      T* y = to + j * kQueries + i;
      for (int64_t n = 0; n < there; ++n) y[n] = from[(i + n) * width + j];
      std::fill(y + there, y + kPart, T(0));
    }
  }
}

struct AttentionSizes {
  AttentionSizes(const Tensor& q, const Tensor& v)
      : heads(q.sizes()[0] * q.sizes()[1]),
        L(q.sizes()[2]),
        S(v.sizes()[2]),
        E(q.sizes()[3]),
        F(v.sizes()[3]),
        parts(heads >= kManyHeads ? 1
                                  : std::min(ceil_div(kManyHeads, heads), ceil_div(L, kQueries))) {}
  /// Return how many keys queries up to `last` attend to, rounded up to strips, at most S.
  int64_t keys_of(int64_t last, bool causal) const {
    return causal ? std::min(S, round_up(last + 1, kStrip)) : S;
  }
  /// Return the queries [first, second) of part i of a head, in whole blocks.
  std::pair<int64_t, int64_t> queries_of(int64_t i) const {
    const int64_t blocks = ceil_div(L, kQueries);
    return {i * blocks / parts * kQueries, std::min(L, (i + 1) * blocks / parts * kQueries)};
  }

  /// Threads share heads. If there are few heads, each is split into parts of its queries; their
  /// number depends only on the sizes, so that no sum depends on the number of threads.
  static constexpr int64_t kManyHeads = 16;
  int64_t heads, L, S, E, F, parts;
};

/// s [keys][kQueries] = scores of keys from `key` on and queries from `query` on, computed from
/// packed k [keys][width] and transposed, scaled q [E][kQueries], plus the head's mask.
template <class T>
void score_block(const T* k, int64_t width, int64_t E, const T* qt, int64_t key, int64_t keys,
                 int64_t query, int64_t queries, const std::optional<Head<T>>& mask, bool causal,
                 T* s) {
  constexpr T kNone = -std::numeric_limits<T>::infinity();
  multiply<T, Left::rows, false>(keys, queries, E, k, width, qt, kQueries, s, kQueries);
  if (mask && mask->row == 0) {
    for (int64_t j = 0; j < keys; ++j) {
      const T add = mask->data[(key + j) * mask->column];
      T* row = s + j * kQueries;
#pragma omp simd
      for (int64_t i = 0; i < queries; ++i) row[i] += add;
    }
  } else if (mask) {
    for (int64_t i = 0; i < queries; ++i) {
      const T* add = mask->data + (query + i) * mask->row + key * mask->column;
      for (int64_t j = 0; j < keys; ++j) s[j * kQueries + i] += add[j * mask->column];
    }
  }
  if (!causal) return;
  for (int64_t j = 0; j < keys; ++j) {  // mask the queries before the key
    const int64_t before = std::clamp<int64_t>(key + j - query, 0, queries);
    std::fill_n(s + j * kQueries, before, kNone);
  }
}

}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
