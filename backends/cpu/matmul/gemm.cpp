// Integer products: a block of b is packed so that it stays in the cache; each row of a then adds
// to a row of sums.
#include "gemm.h"

#include "backends/cpu/runtime/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/matmul/gemm.cpp"
#include <ambit/backend/arithmetic.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "backends/cpu/runtime/scratch.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace {

constexpr int64_t kDepth = 256;  // k per block

/// Compute rows of sums in unsigned integers, which wrap. `packed` [kDepth][kColumns].
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
  using Blocks = WrappingGemm<T>;
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

// HWY_EXPORT needs plain functions, hence one for each type.
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
AMBIT_GEMM(uint8_t, find_uint8)
AMBIT_GEMM(int8_t, find_int8)
AMBIT_GEMM(int16_t, find_int16)
AMBIT_GEMM(int32_t, find_int32)
AMBIT_GEMM(int64_t, find_int64)
#undef AMBIT_GEMM

}  // namespace ambit::cpu
#endif
