#include "channels_last.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/runtime/parallel.h"
#include "packing.h"

namespace ambit::cpu {
namespace {

constexpr int32_t kChannelsLast = 1;

constexpr int64_t kCacheLine = 64;

// GCC's vector type: vectors on every CPU. This file is compiled once, and Highway's baseline on
// x86 has no vectors.
using Four = uint32_t __attribute__((vector_size(16)));

Four load(const uint32_t* from) {
  Four four;
  std::memcpy(&four, from, sizeof(four));
  return four;
}
void store(uint32_t* to, Four four) { std::memcpy(to, &four, sizeof(four)); }

/// Transpose a 4 x 4 square of matrices [rows, columns].
void transpose_4(uint32_t* to, const uint32_t* from, int64_t rows, int64_t columns) {
  const Four a = load(from), b = load(from + columns), c = load(from + 2 * columns),
             d = load(from + 3 * columns);
  const Four ab = __builtin_shufflevector(a, b, 0, 4, 1, 5),
             cd = __builtin_shufflevector(c, d, 0, 4, 1, 5),
             ab2 = __builtin_shufflevector(a, b, 2, 6, 3, 7),
             cd2 = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  store(to, __builtin_shufflevector(ab, cd, 0, 1, 4, 5));
  store(to + rows, __builtin_shufflevector(ab, cd, 2, 3, 6, 7));
  store(to + 2 * rows, __builtin_shufflevector(ab2, cd2, 0, 1, 4, 5));
  store(to + 3 * rows, __builtin_shufflevector(ab2, cd2, 2, 3, 6, 7));
}

/// to [columns, rows] = from [rows, columns], in squares that fit in the L1 cache.
template <class Bits>
void transpose(Bits* to, const Bits* from, int64_t rows, int64_t columns) {
  constexpr int64_t kSide = kCacheLine / sizeof(Bits);
  for (int64_t r = 0; r < rows; r += kSide) {
    const int64_t r_end = std::min(rows, r + kSide);
    for (int64_t c = 0; c < columns; c += kSide) {
      const int64_t c_end = std::min(columns, c + kSide);
      if constexpr (sizeof(Bits) == sizeof(uint32_t)) {
        // Four rows at a time: the cache may not hold 16 rows whose distance is a power of two. If
        // rows of `to` are farther apart than those of `from`, it is not faster (measured).
        if (rows <= columns && r_end - r == kSide && c_end - c == kSide) {
          for (int64_t i = r; i < r_end; i += 4) {
            for (int64_t j = c; j < c_end; j += 4) {
              transpose_4(to + j * rows + i, from + i * columns + j, rows, columns);
            }
          }
          continue;
        }
      }
      for (int64_t j = c; j < c_end; ++j) {
        for (int64_t i = r; i < r_end; ++i) to[j * rows + i] = from[i * columns + j];
      }
    }
  }
}

/// Transpose n consecutive matrices of elements of `size` bytes.
void transpose(size_t size, int64_t n, void* to, const void* from, int64_t rows, int64_t columns) {
  visit_size(size, [&]<class Bits>() {
    const int64_t one = rows * columns;
    auto* const y = static_cast<Bits*>(to);
    const auto* const x = static_cast<const Bits*>(from);
    parallel_for(n, grain_for(one), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) transpose(y + i * one, x + i * one, rows, columns);
    });
  });
}

}  // namespace

// The conversion back needs N, C and H * W.
PhysicalLayout channels_last_layout(DType dtype, int64_t images, int64_t channels, int64_t pixels) {
  return {kChannelsLast, static_cast<uint32_t>(element_size(dtype)), {images, channels, pixels}};
}
PhysicalLayout channels_last_layout(const Tensor& t) {
  const IntArrayRef s = t.sizes();
  return channels_last_layout(t.dtype(), s[0], s[1], s[2] * s[3]);
}

Dims channels_last_strides(IntArrayRef s) { return {s[1] * s[2] * s[3], 1, s[3] * s[1], s[1]}; }

bool may_be_channels_last(const Tensor& t) {
  return t.dim() == 4 && t.is_contiguous() && t.storage_offset() == 0 &&
         t.nbytes() == t.storage()->size_bytes() && has_native_elements(t.dtype());
}

bool layout_is_of(const Tensor& t) {
  return may_be_channels_last(t) && t.storage()->layout() == channels_last_layout(t);
}

bool has_channels_last_strides(const Tensor& t) {
  return t.dim() == 4 && std::ranges::equal(t.strides(), channels_last_strides(t.sizes()));
}

void row_major_to_channels_last(void* to, const Tensor& x) {
  const IntArrayRef s = x.sizes();
  transpose(element_size(x.dtype()), s[0], to, x.data_ptr(), s[1], s[2] * s[3]);
}

void channels_last_to_row_major(void* to, const void* from, const PhysicalLayout& layout) {
  const auto [n, channels, pixels] = layout.sizes;
  transpose(layout.element_size, n, to, from, pixels, channels);
}

}  // namespace ambit::cpu
