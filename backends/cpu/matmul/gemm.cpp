// Blocked as Goto & van de Geijn 2008 do (doi:10.1145/1356052.1356053): a block of b is packed into
// panels that stay in the second-level cache, and each panel meets strips of a in registers.
#include "gemm.h"

#include "backends/cpu/runtime/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/matmul/gemm.cpp"
#include <ambit/backend/arithmetic.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "backends/cpu/runtime/scratch.h"
#include "tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace {

constexpr int64_t kDepth = 256;  // of k in one block

/// Floating point: register tiles. `packed_a` [kDepth][kTileRows], `packed_b`
/// [panels][kDepth][width].
template <class T>
class TileGemm {
 public:
  using Register = Tile<T, kTileRows, kTileVectors>;
  static constexpr int64_t kRows = kTileRows, kWidth = Register::kWidth;
  static constexpr int64_t kColumns = (512 + kWidth - 1) / kWidth * kWidth;

  TileGemm() : scratch_((kDepth * (kColumns + kRows) + kRows * kWidth) * sizeof(T)) {}

  /// y (+)= a b for `depth` of k and at most kColumns of n.
  void block(int64_t M, int64_t columns, int64_t depth, const Matrix<T>& y,
             const Matrix<const T>& a, const Matrix<const T>& b, bool add) const {
    pack_b(columns, depth, b);
    for (int64_t m = 0; m < M; m += kRows) {
      const int64_t rows = std::min(kRows, M - m);
      pack_a(rows, depth, {a.data + m * a.row_stride, a.row_stride, a.column_stride});
      for (int64_t n = 0; n < columns; n += kWidth) {
        Register sums;
        const T* panel = packed_b() + n * kDepth;
        for (int64_t k = 0; k < depth; ++k) {
          sums.add_product(packed_a() + k * kRows, panel + k * kWidth);
        }
        sums.store(result(), kWidth);
        write(rows, std::min(kWidth, columns - n), y.data + m * y.row_stride + n, y.row_stride,
              add);
      }
    }
  }

 private:
  T* packed_b() const { return scratch_.data<T>(); }
  T* packed_a() const { return packed_b() + kDepth * kColumns; }
  T* result() const { return packed_a() + kDepth * kRows; }

  void pack_b(int64_t columns, int64_t depth, const Matrix<const T>& b) const {
    for (int64_t n = 0; n < columns; n += kWidth) {
      const int64_t width = std::min(kWidth, columns - n);
      for (int64_t k = 0; k < depth; ++k) {
        T* to = packed_b() + n * kDepth + k * kWidth;
        const T* from = b.data + k * b.row_stride + n * b.column_stride;
        for (int64_t i = 0; i < width; ++i) to[i] = from[i * b.column_stride];
        std::fill(to + width, to + kWidth, T(0));
      }
    }
  }
  void pack_a(int64_t rows, int64_t depth, const Matrix<const T>& a) const {
    for (int64_t k = 0; k < depth; ++k) {
      T* to = packed_a() + k * kRows;
      for (int64_t m = 0; m < rows; ++m) to[m] = a.data[m * a.row_stride + k * a.column_stride];
      std::fill(to + rows, to + kRows, T(0));
    }
  }
  void write(int64_t rows, int64_t columns, T* y, int64_t stride, bool add) const {
    for (int64_t m = 0; m < rows; ++m) {
      const T* from = result() + m * kWidth;
      T* to = y + m * stride;
      if (add) {
        for (int64_t n = 0; n < columns; ++n) to[n] += from[n];
      } else {
        std::copy_n(from, columns, to);
      }
    }
  }

  Scratch scratch_;
};

/// Integers: rows of sums, in unsigned numbers that wrap. `packed` [kDepth][kColumns].
template <class T>
class WrappingGemm {
 public:
  using W = arithmetic::Wrapping<T>;
  static constexpr int64_t kColumns = 256;

  WrappingGemm() : scratch_(kDepth * kColumns * sizeof(W)) {}

  void block(int64_t M, int64_t columns, int64_t depth, const Matrix<T>& y,
             const Matrix<const T>& a, const Matrix<const T>& b, bool add) const {
    W* packed = scratch_.data<W>();
    for (int64_t k = 0; k < depth; ++k) {
      const T* from = b.data + k * b.row_stride;
      for (int64_t n = 0; n < columns; ++n) {
        packed[k * kColumns + n] = static_cast<W>(from[n * b.column_stride]);
      }
    }
    for (int64_t m = 0; m < M; ++m) {
      T* to = y.data + m * y.row_stride;
      W sums[kColumns];
      for (int64_t n = 0; n < columns; ++n) sums[n] = add ? static_cast<W>(to[n]) : W(0);
      for (int64_t k = 0; k < depth; ++k) {
        const W factor = static_cast<W>(a.data[m * a.row_stride + k * a.column_stride]);
        const W* row = packed + k * kColumns;
        for (int64_t n = 0; n < columns; ++n) sums[n] += factor * row[n];
      }
      for (int64_t n = 0; n < columns; ++n) to[n] = static_cast<T>(sums[n]);
    }
  }

 private:
  Scratch scratch_;
};

template <class T>
void multiply(int64_t M, int64_t N, int64_t K, const Matrix<T>& y, const Matrix<const T>& a,
              const Matrix<const T>& b) {
  using Blocks = std::conditional_t<std::floating_point<T>, TileGemm<T>, WrappingGemm<T>>;
  const Blocks blocks;
  for (int64_t n = 0; n < N; n += Blocks::kColumns) {
    const int64_t columns = std::min(Blocks::kColumns, N - n);
    for (int64_t k = 0; k < K; k += kDepth) {
      blocks.block(M, columns, std::min(kDepth, K - k), {y.data + n, y.row_stride, 1},
                   {a.data + k * a.column_stride, a.row_stride, a.column_stride},
                   {b.data + k * b.row_stride + n * b.column_stride, b.row_stride, b.column_stride},
                   k > 0);
    }
  }
}

template <class T>
using Multiply = void (*)(int64_t, int64_t, int64_t, const Matrix<T>&, const Matrix<const T>&,
                          const Matrix<const T>&);

// Highway exports plain functions, hence one each.
Multiply<double> find_double() { return multiply<double>; }
Multiply<uint8_t> find_uint8() { return multiply<uint8_t>; }
Multiply<int8_t> find_int8() { return multiply<int8_t>; }
Multiply<int16_t> find_int16() { return multiply<int16_t>; }
Multiply<int32_t> find_int32() { return multiply<int32_t>; }
Multiply<int64_t> find_int64() { return multiply<int64_t>; }

}  // namespace
}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ambit::cpu {

#define AMBIT_GEMM(T, find)                                                                \
  HWY_EXPORT(find);                                                                        \
  template <>                                                                              \
  void gemm(int64_t M, int64_t N, int64_t K, const Matrix<T>& y, const Matrix<const T>& a, \
            const Matrix<const T>& b) {                                                    \
    HWY_DYNAMIC_DISPATCH(find)()(M, N, K, y, a, b);                                        \
  }
AMBIT_GEMM(double, find_double)
AMBIT_GEMM(uint8_t, find_uint8)
AMBIT_GEMM(int8_t, find_int8)
AMBIT_GEMM(int16_t, find_int16)
AMBIT_GEMM(int32_t, find_int32)
AMBIT_GEMM(int64_t, find_int64)
#undef AMBIT_GEMM

}  // namespace ambit::cpu
#endif
