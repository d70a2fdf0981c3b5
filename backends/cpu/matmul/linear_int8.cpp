// A linear layer with int8 weights. With few rows, most of the time goes into reading the weights,
// so they are used in place, without packing.
#include <algorithm>

#include "backends/cpu/kernels.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/scratch.h"
#include "int8_products.h"

namespace ambit::cpu {
namespace {

// Block of y per thread: its rows of w fit in the L1 cache, those of x in the L2 cache.
constexpr int64_t kRows = 64, kColumns = 64;

/// Bytes from one quantised row of K elements to the next: never a multiple of the page size, which
/// would map all rows to the same L1 cache sets.
int64_t pitch_of(int64_t K) {
  const int64_t pitch = round_up(K, kInt8Pitch) + kInt8Pitch;
  return pitch % 4096 == 0 ? pitch + kInt8Pitch : pitch;
}

/// x [M,K] quantised to int8.
class QuantizedRows {
 public:
  QuantizedRows(const float* x, int64_t M, int64_t K)
      : pitch_(pitch_of(K)),
        bytes_(static_cast<size_t>(M * pitch_)),
        numbers_(static_cast<size_t>(M) * (sizeof(float) + sizeof(int32_t))),
        scales_(numbers_.data<float>()),
        totals_(reinterpret_cast<int32_t*>(scales_ + M)) {
    parallel_for(M, grain_for(K), [&](int64_t begin, int64_t end) {
      for (int64_t m = begin; m < end; ++m) {
        const Int8Row row = quantize_row(K, bytes_.data<int8_t>() + m * pitch_, pitch_, x + m * K);
        scales_[m] = row.scale;
        totals_[m] = row.total;
      }
    });
  }
  /// Return a block of `rows` rows from m on, to be multiplied with `columns` rows of w.
  Int8Block block(int64_t m, int64_t rows, int64_t columns, int64_t K, const int8_t* w) const {
    return {rows, columns, K, bytes_.data<int8_t>() + m * pitch_, pitch_, totals_ + m, w};
  }
  float scale(int64_t m) const { return scales_[m]; }

 private:
  int64_t pitch_;
  Scratch bytes_, numbers_;
  float* scales_;
  int32_t* totals_;
};

}  // namespace

// y [M,N], x [M,K], w [N,K], scale [N], b [N]
void linear_int8(Tensor& y, const Tensor& x, const Tensor& w, const Tensor& scale,
                 const Tensor& b) {
  if (y.numel() == 0) return;
  const int64_t M = y.sizes()[0], N = y.sizes()[1], K = x.sizes()[1];
  const QuantizedRows rows(x.data_ptr<float>(), M, K);
  const int8_t* weight = w.data_ptr<int8_t>();
  const float *scales = scale.data_ptr<float>(),
              *bias = b.defined() ? b.data_ptr<float>() : nullptr;
  float* out = y.data_ptr<float>();
  Int8Products* const vnni = int8_products_vnni();
  Int8Products* const products = vnni ? vnni : int8_products;

  const int64_t across = ceil_div(N, kColumns), high = std::min(M, kRows);
  parallel_for(ceil_div(M, kRows) * across, grain_for_products(high * kColumns * K),
               [&](int64_t begin, int64_t end) {
                 int32_t sums[kRows * kColumns];
                 for (int64_t i = begin; i < end; ++i) {
                   const int64_t m = i / across * kRows, n = i % across * kColumns;
                   const int64_t height = std::min(kRows, M - m), width = std::min(kColumns, N - n);
                   products(rows.block(m, height, width, K, weight + n * K), sums, kColumns);
                   for (int64_t r = 0; r < height; ++r) {
                     const float s = rows.scale(m + r);
                     float* to = out + (m + r) * N + n;
                     for (int64_t c = 0; c < width; ++c) {
                       const float product =
                           static_cast<float>(sums[r * kColumns + c]) * (s * scales[n + c]);
                       to[c] = bias ? product + bias[n + c] : product;
                     }
                   }
                 }
               });
}

}  // namespace ambit::cpu
