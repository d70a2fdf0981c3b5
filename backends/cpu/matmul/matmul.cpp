// Matrix products. float32: on x86 oneDNN's sgemm on tiles that threads share, with an activation
// applied to each tile while it is in the cache, except steps of recurrent networks, and linear
// layers of plans, whose weights are packed once (product.h).
// float64, and float32 on other processors: product.h. bfloat16, if the CPU has instructions for
// it: matmul_bfloat16.h. Integers: gemm.h.
#include <ambit/backend/arithmetic.h>
#include <ambit/detail/packed_constants.h>

#include <optional>

#include "backends/cpu/elementwise/inner_loops.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/layout/packing.h"
#include "backends/cpu/layout/upcast.h"
#include "backends/cpu/runtime/library_use.h"
#include "backends/cpu/runtime/onednn.h"
#include "backends/cpu/runtime/scratch.h"
#include "gemm.h"
#include "matmul_bfloat16.h"
#include "product.h"

namespace ambit::cpu {
namespace {

/// A float32 matrix for BLAS: row-major or transposed; copied if it is neither.
class BlasMatrix {
 public:
  BlasMatrix(const Matrix<const float>& m, int64_t rows, int64_t columns) : data_(m.data) {
    if ((m.column_stride == 1 || columns == 1) && (m.row_stride >= columns || rows == 1)) {
      leading_ = std::max(m.row_stride, columns);
      if (rows == 1) leading_ = columns;
    } else if ((m.row_stride == 1 || rows == 1) && (m.column_stride >= rows || columns == 1)) {
      transposed_ = true;
      leading_ = columns == 1 ? rows : m.column_stride;
    } else {
      copy_.emplace(static_cast<size_t>(rows * columns) * sizeof(float));
      for (int64_t r = 0; r < rows; ++r) {
        copy_strided(columns, copy_->data<float>() + r * columns, 1, m.data + r * m.row_stride,
                     m.column_stride, sizeof(float));
      }
      data_ = copy_->data<float>();
      leading_ = columns;
    }
  }

  const float* data() const { return data_; }
  char transposed() const { return transposed_ ? 'T' : 'N'; }
  int64_t leading() const { return leading_; }

 private:
  const float* data_;
  int64_t leading_;
  bool transposed_ = false;
  std::optional<Scratch> copy_;
};

/// The split of a product into tiles, one for each thread. It depends only on the sizes, so that no
/// sum depends on the number of threads.
class Tiles {
 public:
  Tiles(int64_t M, int64_t N, int64_t K) : M_(M), N_(N), rows_(M), columns_(N) {
    while (count() < kMostTiles && rows_ * columns_ * K >= worth_cutting()) {
      // Prefer wide tiles: sgemm packs a tile's part of b once for all its rows.
      int64_t& side = 2 * rows_ >= columns_ ? rows_ : columns_;
      if (side <= kUnit) break;
      side = round_up(ceil_div(side, 2), kUnit);
    }
  }

  int64_t count() const { return ceil_div(M_, rows_) * across(); }

  /// Compute tile i of the product into y.
  void multiply(const char* op, const Product<float>& p, float* y, int64_t i) const {
    const auto [row, rows, column, columns] = place(i);
    const BlasMatrix a({p.a.data + row * p.a.row_stride, p.a.row_stride, p.a.column_stride}, rows,
                       p.K);
    const BlasMatrix b({p.b.data + column * p.b.column_stride, p.b.row_stride, p.b.column_stride},
                       p.K, columns);
    y += row * N_ + column;
    for (int64_t m = 0; p.bias && m < rows; ++m) {
      copy_strided(columns, y + m * N_, 1, p.bias + column * p.bias_stride, p.bias_stride,
                   sizeof(float));
    }
    onednn::sgemm({op, rows, columns, p.K, a.transposed(), b.transposed(), a.data(), b.data(),
                   a.leading(), b.leading(), p.bias ? 1.0f : 0.0f, y, N_});
  }

  /// Apply an activation to tile i of y.
  void apply(UnaryLoop map, float* y, int64_t i) const {
    const auto [row, rows, column, columns] = place(i);
    for (int64_t m = row; m < row + rows; ++m) {
      map(columns, y + m * N_ + column, y + m * N_ + column);
    }
  }

 private:
  struct Place {
    int64_t row, rows, column, columns;
  };
  Place place(int64_t i) const {
    const int64_t row = i / across() * rows_, column = i % across() * columns_;
    return {row, std::min(rows_, M_ - row), column, std::min(columns_, N_ - column)};
  }

  static constexpr int64_t kLargeTile = 24 * kProductGrain;
  static constexpr int64_t kMostTiles = 16;
  static constexpr int64_t kUnit = 16;  // floats per cache line

  int64_t across() const { return ceil_div(N_, columns_); }
  /// Multiply-adds of a tile above which it is split: low for the first split, higher for further
  /// splits, since smaller tiles are slower per product. With a single row or column, reading the
  /// matrix dominates.
  int64_t worth_cutting() const {
    if (std::min(M_, N_) == 1) return 2 * kGrain;
    return count() == 1 ? kProductGrain : kLargeTile;
  }

  int64_t M_, N_;
  int64_t rows_, columns_;  // of a tile
};

/// Sizes of y [B,M,N] = a [B,M,K] b [B,K,N].
struct Sizes {
  int64_t B, M, N, K;
};

/// A batch that shares b is a single product with a longer a.
Sizes sizes_of(const Tensor& y, const Tensor& a, const Tensor& b) {
  const Sizes s{y.sizes()[0], y.sizes()[1], y.sizes()[2], a.sizes()[2]};
  const bool single = b.strides()[0] == 0 && a.strides()[0] == s.M * a.strides()[1];
  return single ? Sizes{1, s.B * s.M, s.N, s.K} : s;
}

template <class T>
Matrix<const T> matrix_of(const Tensor& t, int64_t batch) {
  const IntArrayRef s = t.strides();
  return {t.data_ptr<T>() + batch * s[0], s[1], s[2]};
}

#if defined(__x86_64__)
constexpr bool kHasFastSgemm = true;
#else
constexpr bool kHasFastSgemm = false;  // elsewhere dnnl_sgemm is oneDNN's reference, in plain C++
#endif

/// Return true if multiply() of product.h is faster than tiles by oneDNN: for two vectors, and for
/// some rows times a far larger transposed matrix, as in each step of a recurrent network, because
/// oneDNN packs that matrix every time.
bool is_for_blocks(const Product<float>& p) {
  if constexpr (!kHasFastSgemm) return true;
  constexpr int64_t kLarge = int64_t{1} << 22, kLeastRows = 16, kMostRows = 64;
  if (p.a.column_stride != 1 || p.b.row_stride != 1) return false;
  if (p.M == 1 && p.N == 1) return true;
  return p.M >= kLeastRows && p.M <= kMostRows && p.N >= 4 * p.M && p.M * p.N * p.K >= kLarge;
}

/// Multiply each pair of matrices; threads share the pairs if there are enough of them.
template <class T>
void multiply_pairs(const Sizes& s, T* y, const Tensor& a, const Tensor& b) {
  const int64_t grain = s.B < available_threads() ? s.B : grain_for_products(s.M * s.N * s.K);
  parallel_for(s.B, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      multiply<T>({s.M, s.N, s.K, matrix_of<T>(a, i), matrix_of<T>(b, i)}, y + i * s.M * s.N);
    }
  });
}

void matmul_float(const Tensor& y, const Tensor& a, const Tensor& b) {
  const Sizes s = sizes_of(y, a, b);
  const LibraryUse use(
      !is_for_blocks({s.M, s.N, s.K, matrix_of<float>(a, 0), matrix_of<float>(b, 0)}));
  if (!use) {
    return multiply_pairs<float>(s, y.data_ptr<float>(), a, b);
  }
  const Tiles tiles(s.M, s.N, s.K);
  const int64_t count = tiles.count(), grain = grain_for_products(s.M * s.N * s.K / count);
  parallel_for(s.B * count, count == 1 ? grain : 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t batch = i / count;
      const Product<float> product{s.M, s.N, s.K, matrix_of<float>(a, batch),
                                   matrix_of<float>(b, batch)};
      tiles.multiply("matmul", product, y.data_ptr<float>() + batch * s.M * s.N, i % count);
    }
  });
}

/// The dtypes for which gemm() is used.
constexpr DTypeSet kOwnDTypes = dtypes::kIntegral;

/// Multiply one pair; threads share its longer side.
template <class T>
void own_product(int64_t M, int64_t N, int64_t K, T* y, const Matrix<const T>& a,
                 const Matrix<const T>& b) {
  if (M >= N) {
    parallel_for(M, grain_for_products(N * K), [&](int64_t begin, int64_t end) {
      gemm<T>(end - begin, N, K, {y + begin * N, N, 1},
              {a.data + begin * a.row_stride, a.row_stride, a.column_stride}, b);
    });
  } else {
    parallel_for(N, grain_for_products(M * K), [&](int64_t begin, int64_t end) {
      gemm<T>(M, end - begin, K, {y + begin, N, 1}, a,
              {b.data + begin * b.column_stride, b.row_stride, b.column_stride});
    });
  }
}

/// Add b [N] to every row of y [M,N].
template <class T>
void add_bias(T* y, const Tensor& b, int64_t M, int64_t N) {
  const T* bias = b.data_ptr<T>();
  const int64_t stride = b.strides()[0];
  for (int64_t m = 0; m < M; ++m) {
    for (int64_t n = 0; n < N; ++n)
      y[m * N + n] = arithmetic::wrap_add(y[m * N + n], bias[n * stride]);
  }
}

template <class T>
Product<T> linear_product(const Tensor& y, const Tensor& x, const Tensor& w, const Tensor& b) {
  Product<T> p{y.sizes()[0],
               y.sizes()[1],
               x.sizes()[1],
               {x.data_ptr<T>(), x.strides()[0], x.strides()[1]},
               {w.data_ptr<T>(), w.strides()[1], w.strides()[0]}};
  if (b.defined()) {
    p.bias = b.data_ptr<T>();
    p.bias_stride = b.strides()[0];
  }
  return p;
}

/// Multiply by a constant b whose packed form is kept. Return false if it is not.
bool multiply_by_constant(const Product<float>& p, float* y) {
  const bool fits = p.a.column_stride == 1 && (p.bias_stride == 1 || !p.bias);
  if (!kHasFastSgemm || !fits || !suits_packed(p.M)) return false;
  const size_t size = packed_bytes(p);
  constexpr int64_t kLinear = 3;
  const PackedConstants::Form kept =
      PackedConstants::find(p.b.data, {kLinear, p.N, p.K, p.b.row_stride, p.b.column_stride}, size);
  if (!kept.data) return false;
  auto* const packed = static_cast<float*>(kept.data);
  if (kept.is_new) pack(p, packed);
  multiply_packed(p, packed, y);
  return true;
}

void apply_rows(UnaryLoop map, const Product<float>& p, float* y) {
  if (!map) return;
  parallel_for(p.M, grain_for(p.N), [&](int64_t begin, int64_t end) {
    map((end - begin) * p.N, y + begin * p.N, y + begin * p.N);
  });
}

void linear_float(const char* op, const Tensor& y, const Tensor& x, const Tensor& w,
                  const Tensor& b, UnaryLoop map = nullptr) {
  const auto product = linear_product<float>(y, x, w, b);
  float* const out = y.data_ptr<float>();
  if (multiply_by_constant(product, out)) return apply_rows(map, product, out);
  const LibraryUse use(!is_for_blocks(product));
  if (!use) {
    multiply(product, out);
    return apply_rows(map, product, out);
  }
  const Tiles tiles(product.M, product.N, product.K);
  parallel_for(tiles.count(), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      tiles.multiply(op, product, out, i);
      if (map) tiles.apply(map, out, i);
    }
  });
}

}  // namespace

void matmul(Tensor& y, const Tensor& a, const Tensor& b) {
  if (y.numel() == 0) return;
  if (a.sizes()[2] == 0) return kernels::fill(y, 0);
  if (y.dtype() == kBFloat16) {
    if (!matmul_bfloat16(y, a, b)) run_upcast(kernels::matmul, matmul, y, a, b);
    return;
  }
  if (y.dtype() == kFloat32) return matmul_float(y, a, b);
  const Sizes s = sizes_of(y, a, b);
  if (y.dtype() == kFloat64) return multiply_pairs<double>(s, y.data_ptr<double>(), a, b);
  visit<kOwnDTypes>(y.dtype(), [&]<class T>() {
    parallel_for(s.B, grain_for_products(s.M * s.N * s.K), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        own_product<T>(s.M, s.N, s.K, y.data_ptr<T>() + i * s.M * s.N, matrix_of<T>(a, i),
                       matrix_of<T>(b, i));
      }
    });
  });
}

void linear(Tensor& y, const Tensor& x, const Tensor& w, const Tensor& b) {
  if (y.numel() == 0) return;
  const int64_t M = y.sizes()[0], N = y.sizes()[1], K = x.sizes()[1];
  if (K > 0 && y.dtype() == kFloat32) return linear_float("linear", y, x, w, b);
  if (K > 0 && y.dtype() == kFloat64) {
    return multiply(linear_product<double>(y, x, w, b), y.data_ptr<double>());
  }
  if (K > 0 && y.dtype() == kBFloat16) {
    if (!linear_bfloat16(y, x, w, b, {})) run_upcast(kernels::linear, linear, y, x, w, b);
    return;
  }
  if (y.dtype() == kBFloat16) {  // only the bias, or zeros
    if (!b.defined()) return kernels::fill(y, 0);
    const NoGradGuard no_grad;
    return kernels::copy(y, b.expand(y.sizes()));
  }
  if (K == 0) {
    fill(y, 0);
  } else {
    visit<kOwnDTypes>(y.dtype(), [&]<class T>() {
      const Matrix<const T> left{x.data_ptr<T>(), x.strides()[0], x.strides()[1]};
      const Matrix<const T> right{w.data_ptr<T>(), w.strides()[1], w.strides()[0]};
      own_product<T>(M, N, K, y.data_ptr<T>(), left, right);
    });
  }
  if (!b.defined()) return;
  visit<dtypes::kNumbers>(y.dtype(), [&]<class T>() { add_bias(y.data_ptr<T>(), b, M, N); });
}

void linear_map(Tensor& y, const Tensor& x, const Tensor& w, const Tensor& b,
                const ActivationParams& map) {
  if (y.numel() == 0) return;
  const bool sums = x.sizes()[1] > 0;
  if (sums && y.dtype() == kBFloat16 && map != UnaryOp::relu) {  // oneDNN's relu maps NaN to 0
    if (!linear_bfloat16(y, x, w, b, map)) {
      run_upcast(kernels::linear_map, linear_map, y, x, w, b, map);
    }
    return;
  }
  if (sums && y.dtype() == kFloat32) {
    return linear_float("linear_map", y, x, w, b, unary_loop(map, kFloat32));
  }
  linear(y, x, w, b);
  unary(y, y, map);
}

}  // namespace ambit::cpu
