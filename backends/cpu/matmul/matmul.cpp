// Matrix products. float32: oneDNN, its sgemm where one thread is enough (no plan to look up), its
// matmul primitive above. The rest: gemm.h.
#include <ambit/backend/arithmetic.h>

#include <optional>

#include "backends/cpu/kernels.h"
#include "backends/cpu/layout/packing.h"
#include "backends/cpu/runtime/onednn.h"
#include "backends/cpu/runtime/scratch.h"
#include "gemm.h"

namespace ambit::cpu {
namespace {

/// Multiply-adds from which oneDNN runs on all threads.
constexpr int64_t kLargeProduct = kProductGrain;

/// A float32 matrix as BLAS takes it: row-major or transposed, copied where it is neither.
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
  Dims strides() const { return transposed_ ? Dims{1, leading_} : Dims{leading_, 1}; }

 private:
  const float* data_;
  int64_t leading_;
  bool transposed_ = false;
  std::optional<Scratch> copy_;
};

/// y [M,N] = a b (+ y) on the calling thread.
void small_product(const char* op, int64_t M, int64_t N, int64_t K, float* y, const BlasMatrix& a,
                   const BlasMatrix& b, bool add) {
  const onednn::Threads one(1);
  onednn::check(op, dnnl_sgemm(a.transposed(), b.transposed(), M, N, K, 1, a.data(), a.leading(),
                               b.data(), b.leading(), add ? 1 : 0, y, N));
}

/// y [M,N] = a b + bias [N], if there is one, on all threads.
void large_product(const char* op, int64_t M, int64_t N, int64_t K, float* y, const BlasMatrix& a,
                   const BlasMatrix& b, const float* bias) {
  const int threads = available_threads();
  const onednn::Threads all(threads);
  onednn::Key key(bias ? onednn::Kind::linear : onednn::Kind::matmul);
  key.add({M, N, K, threads}).add(a.strides()).add(b.strides());
  onednn::Plan& plan = onednn::cached(op, key, [&] {
    const auto a_desc = onednn::describe({M, K}, a.strides());
    const auto b_desc = onednn::describe({K, N}, b.strides());
    const auto y_desc = onednn::describe({M, N});
    const auto bias_desc = bias ? onednn::describe({1, N}) : dnnl::memory::desc();
    const auto primitive = onednn::matmul(a_desc, b_desc, bias_desc, y_desc);
    onednn::Plan made(op);
    made.input(DNNL_ARG_SRC, a_desc, a_desc);
    made.input(DNNL_ARG_WEIGHTS, b_desc, b_desc);
    if (bias) made.input(DNNL_ARG_BIAS, bias_desc, bias_desc);
    made.output(DNNL_ARG_DST, y_desc, y_desc);
    made.finish(dnnl::matmul(primitive), primitive.scratchpad_desc());
    return made;
  });
  if (bias) {
    plan.run({a.data(), b.data(), bias, y});
  } else {
    plan.run({a.data(), b.data(), y});
  }
}

/// y = a b where y is a row or a column: bound by the memory of the matrix, whose rows or columns
/// the threads share.
void thin_product(const char* op, int64_t M, int64_t N, int64_t K, float* y,
                  const Matrix<const float>& a, const Matrix<const float>& b) {
  parallel_for(std::max(M, N), grain_for(K), [&](int64_t begin, int64_t end) {
    const int64_t n = end - begin;
    if (N == 1) {
      const Matrix<const float> rows{a.data + begin * a.row_stride, a.row_stride, a.column_stride};
      small_product(op, n, 1, K, y + begin, BlasMatrix(rows, n, K), BlasMatrix(b, K, 1), false);
    } else {
      const Matrix<const float> columns{b.data + begin * b.column_stride, b.row_stride,
                                        b.column_stride};
      small_product(op, 1, n, K, y + begin, BlasMatrix(a, 1, K), BlasMatrix(columns, K, n), false);
    }
  });
}

/// Sizes of y [B,M,N] = a [B,M,K] b [B,K,N].
struct Sizes {
  int64_t B, M, N, K;
};

/// One b for all of a batch makes it a single product of a longer a.
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

void matmul_float(const Tensor& y, const Tensor& a, const Tensor& b) {
  const Sizes s = sizes_of(y, a, b);
  const int64_t M = s.M, N = s.N, K = s.K, work = M * N * K;
  float* out = y.data_ptr<float>();
  if (s.B == 1 && std::min(M, N) == 1) {
    return thin_product("matmul", M, N, K, out, matrix_of<float>(a, 0), matrix_of<float>(b, 0));
  }
  if (work >= kLargeProduct) {
    for (int64_t i = 0; i < s.B; ++i) {
      const BlasMatrix left(matrix_of<float>(a, i), M, K), right(matrix_of<float>(b, i), K, N);
      large_product("matmul", M, N, K, out + i * M * N, left, right, nullptr);
    }
    return;
  }
  parallel_for(s.B, grain_for_products(work), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const BlasMatrix left(matrix_of<float>(a, i), M, K), right(matrix_of<float>(b, i), K, N);
      small_product("matmul", M, N, K, out + i * M * N, left, right, false);
    }
  });
}

/// The dtypes that gemm() is for.
constexpr DTypeSet kOwnDTypes = dtypes::kIntegral | DTypeSet{kFloat64};

/// The product of one pair, its longer side shared by the threads.
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

/// Put b [N] into every row of y [M,N], or add it there.
template <class T>
void put_bias(T* y, const Tensor& b, int64_t M, int64_t N) {
  const T* bias = b.data_ptr<T>();
  const int64_t stride = b.strides()[0];
  for (int64_t m = 0; m < M; ++m) copy_strided(N, y + m * N, 1, bias, stride, sizeof(T));
}
template <class T>
void add_bias(T* y, const Tensor& b, int64_t M, int64_t N) {
  const T* bias = b.data_ptr<T>();
  const int64_t stride = b.strides()[0];
  for (int64_t m = 0; m < M; ++m) {
    for (int64_t n = 0; n < N; ++n)
      y[m * N + n] = arithmetic::wrap_add(y[m * N + n], bias[n * stride]);
  }
}

void linear_float(const Tensor& y, const Tensor& x, const Tensor& w, const Tensor& b) {
  const int64_t M = y.sizes()[0], N = y.sizes()[1], K = x.sizes()[1];
  const BlasMatrix left({x.data_ptr<float>(), x.strides()[0], x.strides()[1]}, M, K);
  const BlasMatrix right({w.data_ptr<float>(), w.strides()[1], w.strides()[0]}, K, N);
  float* out = y.data_ptr<float>();
  const bool direct_bias = !b.defined() || b.is_contiguous();
  if (M * N * K >= kLargeProduct && direct_bias) {
    const float* bias = b.defined() ? b.data_ptr<float>() : nullptr;
    return large_product("linear", M, N, K, out, left, right, bias);
  }
  if (b.defined()) put_bias(out, b, M, N);
  small_product("linear", M, N, K, out, left, right, b.defined());
}

}  // namespace

void matmul(Tensor& y, const Tensor& a, const Tensor& b) {
  if (y.numel() == 0) return;
  if (a.sizes()[2] == 0) return fill(y, 0);
  if (y.dtype() == kFloat32) return matmul_float(y, a, b);
  const Sizes s = sizes_of(y, a, b);
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
  if (K > 0 && y.dtype() == kFloat32) return linear_float(y, x, w, b);
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

}  // namespace ambit::cpu
