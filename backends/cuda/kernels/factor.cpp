// LU, Cholesky and QR factorisations by cuSOLVER, and by cuBLAS for batches of small matrices.
#include <ambit/backend/alias.h>
#include <ambit/ops/creation.h>

#include <algorithm>

#include "backends/cuda/kernels.h"
#include "backends/cuda/libraries/cublas.h"
#include "backends/cuda/libraries/cusolver.h"
#include "matrices.h"

namespace ambit::cuda {
namespace {

// a [B,N,M]: x in column-major order, overwritten with lu.
template <class T>
void factor_lu(Tensor& a, Tensor& pivots, Tensor& info, const MatrixSizes& s) {
  const int M = s.rows, N = s.columns, K = std::min(M, N);
  T* pa = a.data_ptr<T>();
  int32_t *pivot = pivots.data_ptr<int32_t>(), *pi = info.data_ptr<int32_t>();
  if (M == N && is_batch_of_small(s.batch, N, kMostBatched)) {
    const cublas::Session session;
    const Addresses<T> matrices(pa, s.numel(), s.batch);
    return cublas::check(cublas::Typed<T>().getrf_batched(session.handle(), N, matrices.data(), N,
                                                          pivot, pi, static_cast<int>(s.batch)),
                         "cublas<t>getrfBatched");
  }
  const cusolver::Typed<T> f;
  const cusolverDnHandle_t handle = cusolver::handle();
  int size = 0;
  cusolver::check(f.getrf_bufferSize(handle, M, N, pa, M, &size), "cusolverDn<t>getrf_bufferSize");
  const Workspace work(static_cast<size_t>(size) * sizeof(T));
  for (int64_t b = 0; b < s.batch; ++b) {
    cusolver::check(
        f.getrf(handle, M, N, pa + b * s.numel(), M, work.as<T>(), pivot + b * K, pi + b),
        "cusolverDn<t>getrf");
  }
}

// y [B,N,N]: a triangle of x, overwritten with its factor.
template <class T>
void factor_cholesky(Tensor& y, Tensor& info, const MatrixSizes& s, bool upper) {
  const cusolver::Typed<T> f;
  const cusolverDnHandle_t handle = cusolver::handle();
  const cublasFillMode_t uplo = upper ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
  const int N = s.rows;
  T* py = y.data_ptr<T>();
  int32_t* pi = info.data_ptr<int32_t>();
  if (is_batch_of_small(s.batch, N, kMostBatched)) {
    const Addresses<T> matrices(py, s.numel(), s.batch);
    return cusolver::check(
        f.potrfBatched(handle, uplo, N, matrices.data(), N, pi, static_cast<int>(s.batch)),
        "cusolverDn<t>potrfBatched");
  }
  int size = 0;
  cusolver::check(f.potrf_bufferSize(handle, uplo, N, py, N, &size),
                  "cusolverDn<t>potrf_bufferSize");
  const Workspace work(static_cast<size_t>(size) * sizeof(T));
  for (int64_t b = 0; b < s.batch; ++b) {
    cusolver::check(f.potrf(handle, uplo, N, py + b * s.numel(), N, work.as<T>(), size, pi + b),
                    "cusolverDn<t>potrf");
  }
}

/// Column-major matrices: first N columns of x, then reflections and r, finally C columns of q.
class Householder {
 public:
  explicit Householder(const Tensor& x, int C)
      : s_(x),
        C_(C),
        K_(std::min(s_.rows, s_.columns)),
        columns_(std::max(s_.columns, C)),
        a_(empty({s_.batch, columns_, s_.rows}, x.options())),
        tau_(empty({s_.batch, K_}, x.options())) {
    Tensor given = part(s_.columns);
    copy(given, alias(x, {s_.batch, s_.columns, s_.rows}, {s_.numel(), 1, s_.columns}));
  }

  /// Return the first columns of each matrix.
  Tensor part(int64_t columns) const {
    const int64_t M = s_.rows;
    return alias(a_, {s_.batch, columns, M}, {columns_ * M, M, 1});
  }
  /// Return all columns, [B,max(N,C),M].
  const Tensor& columns() const { return a_; }

  template <class T>
  void factor() const {
    const cusolver::Typed<T> f;
    const cusolverDnHandle_t handle = cusolver::handle();
    const int M = s_.rows, N = s_.columns;
    int factor_size = 0;
    cusolver::check(f.geqrf_bufferSize(handle, M, N, at<T>(0), M, &factor_size),
                    "cusolverDn<t>geqrf_bufferSize");
    const Workspace work(static_cast<size_t>(factor_size) * sizeof(T)), info(sizeof(int));
    for (int64_t b = 0; b < s_.batch; ++b) {
      cusolver::check(f.geqrf(handle, M, N, at<T>(b), M, tau_.data_ptr<T>() + b * K_, work.as<T>(),
                              factor_size, info.as<int>()),
                      "cusolverDn<t>geqrf");
    }
  }

  template <class T>
  void make_q() const {
    const cusolver::Typed<T> f;
    const cusolverDnHandle_t handle = cusolver::handle();
    const int M = s_.rows;
    int size = 0;
    cusolver::check(f.orgqr_bufferSize(handle, M, C_, K_, at<T>(0), M, tau_.data_ptr<T>(), &size),
                    "cusolverDn<t>orgqr_bufferSize");
    const Workspace work(static_cast<size_t>(size) * sizeof(T)), info(sizeof(int));
    for (int64_t b = 0; b < s_.batch; ++b) {
      cusolver::check(f.orgqr(handle, M, C_, K_, at<T>(b), M, tau_.data_ptr<T>() + b * K_,
                              work.as<T>(), size, info.as<int>()),
                      "cusolverDn<t>orgqr");
    }
  }

 private:
  template <class T>
  T* at(int64_t b) const {
    return a_.data_ptr<T>() + b * columns_ * s_.rows;
  }

  const MatrixSizes s_;
  const int C_, K_;
  const int64_t columns_;
  const Tensor a_, tau_;
};

}  // namespace

// lu, x [B,M,N]; pivots [B,min(M,N)]; info [B]
void lu_factor(Tensor& lu, Tensor& pivots, Tensor& info, const Tensor& x) {
  if (x.numel() == 0) return fill(info, 0);
  const MatrixSizes s(x);
  Tensor a = by_columns(x);
  visit<dtypes::kFloating>(x.dtype(), [&]<class T>() { factor_lu<T>(a, pivots, info, s); });
  transpose_each(lu, a);
  finish_lu(lu, pivots, info);
}

// y, x [B,N,N]; info [B]. In column-major order a lower L is an upper U = L^T, and vice versa.
void cholesky(Tensor& y, Tensor& info, const Tensor& x, bool upper) {
  if (x.numel() == 0) return fill(info, 0);
  const MatrixSizes s(x);
  copy(y, x);
  visit<dtypes::kFloating>(x.dtype(), [&]<class T>() { factor_cholesky<T>(y, info, s, upper); });
  finish_cholesky(y, info, upper);
}

// q [B,M,C]; r [B,C,N]; x [B,M,N]. NaN and inf, with which cuSOLVER fails, give factors of NaN.
void qr(Tensor& q, Tensor& r, const Tensor& x) {
  const int64_t C = r.size(1);
  if (x.numel() == 0) {
    if (q.defined()) set_identity(q, Tensor());
    return;
  }
  if (q.defined()) static_cast<void>(MatrixSizes(q));
  const Householder reflections(x, static_cast<int>(C));
  const Tensor marks = not_finite(x, Triangle::both);
  set_identity(reflections.columns(), marks);
  visit<dtypes::kFloating>(x.dtype(), [&]<class T>() { reflections.factor<T>(); });
  copy_upper(r, reflections.columns());
  set_nan(r, marks, Triangle::upper);
  if (!q.defined()) return;
  visit<dtypes::kFloating>(x.dtype(), [&]<class T>() { reflections.make_q<T>(); });
  const Tensor columns = reflections.part(C);
  copy(q, alias(columns, q.sizes(), {columns.stride(0), 1, columns.stride(1)}));
  set_nan(q, marks);
}

}  // namespace ambit::cuda
