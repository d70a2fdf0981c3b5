// Eigenvalues of symmetric matrices and singular values: one matrix at a time by QR iteration or
// divide and conquer (syevd, gesvd), batches of small ones by Jacobi's method (syevjBatched,
// gesvdjBatched). Not used: cuSOLVER's gesvdj of single matrices may stop before it converges, and
// gesvda and gesvdp lose small singular values.
#include <ambit/backend/alias.h>
#include <ambit/ops/creation.h>

#include <algorithm>

#include "backends/cuda/kernels.h"
#include "backends/cuda/libraries/cusolver.h"
#include "matrices.h"

namespace ambit::cuda {
namespace {

bool is_batch_for_jacobi(const MatrixSizes& s) {
  return is_batch_of_small(s.batch, std::max(s.rows, s.columns), kMostJacobi);
}

// a [B,N,N]: symmetric matrices, overwritten with column-major eigenvectors if with_vectors.
template <class T>
void find_eigenvalues(Tensor& a, Tensor& values, Tensor& info, bool with_vectors, bool upper) {
  const cusolver::Typed<T> f;
  const cusolverDnHandle_t handle = cusolver::handle();
  const MatrixSizes s(a);
  const int N = s.rows;
  const auto job = with_vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR;
  const auto uplo = upper ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
  T *pa = a.data_ptr<T>(), *pv = values.data_ptr<T>();
  int32_t* pi = info.data_ptr<int32_t>();
  int size = 0;
  if (is_batch_for_jacobi(s)) {
    const syevjInfo_t parameters = cusolver::syevj_parameters();
    const int batch = static_cast<int>(s.batch);
    cusolver::check(
        f.syevjBatched_bufferSize(handle, job, uplo, N, pa, N, pv, &size, parameters, batch),
        "cusolverDn<t>syevjBatched_bufferSize");
    const Workspace work(static_cast<size_t>(size) * sizeof(T));
    return cusolver::check(
        f.syevjBatched(handle, job, uplo, N, pa, N, pv, work.as<T>(), size, pi, parameters, batch),
        "cusolverDn<t>syevjBatched");
  }
  cusolver::check(f.syevd_bufferSize(handle, job, uplo, N, pa, N, pv, &size),
                  "cusolverDn<t>syevd_bufferSize");
  const Workspace work(static_cast<size_t>(size) * sizeof(T));
  for (int64_t b = 0; b < s.batch; ++b) {
    cusolver::check(f.syevd(handle, job, uplo, N, pa + b * s.numel(), N, pv + b * N, work.as<T>(),
                            size, pi + b),
                    "cusolverDn<t>syevd");
  }
}

/// Column-major U, and V^T or V, of a column-major a.
struct Vectors {
  Tensor u, v;  ///< both undefined if only values are needed
  template <class T>
  static T* data(const Tensor& t, int64_t step = 0) {
    return t.defined() ? t.data_ptr<T>() + step * t.stride(0) : nullptr;
  }
};

// a [B,n,m] column-major, m >= n; u [B,m or n,m], v [B,n,n]: column-major U and V^T.
template <class T>
void decompose_each(Tensor& a, Tensor& values, const Vectors& to, Tensor& info) {
  const cusolver::Typed<T> f;
  const cusolverDnHandle_t handle = cusolver::handle();
  const MatrixSizes s(a);
  const int m = s.columns, n = s.rows;
  const bool all = to.u.defined();
  const signed char job_u = !all ? 'N' : to.u.size(1) > n ? 'A' : 'S', job_v = all ? 'S' : 'N';
  int size = 0;
  cusolver::check(f.gesvd_bufferSize(handle, m, n, &size), "cusolverDn<t>gesvd_bufferSize");
  const Workspace work(static_cast<size_t>(size) * sizeof(T));
  for (int64_t b = 0; b < s.batch; ++b) {
    cusolver::check(f.gesvd(handle, job_u, job_v, m, n, a.data_ptr<T>() + b * s.numel(), m,
                            values.data_ptr<T>() + b * n, Vectors::data<T>(to.u, b), m,
                            Vectors::data<T>(to.v, b), n, work.as<T>(), size, nullptr,
                            info.data_ptr<int32_t>() + b),
                    "cusolverDn<t>gesvd");
  }
}

// a [B,n,m] column-major; u [B,m,m], v [B,n,n]: column-major U and V.
template <class T>
void decompose_at_once(Tensor& a, Tensor& values, const Vectors& to, Tensor& info) {
  const cusolver::Typed<T> f;
  const cusolverDnHandle_t handle = cusolver::handle();
  const gesvdjInfo_t parameters = cusolver::gesvdj_parameters();
  const MatrixSizes s(a);
  const int m = s.columns, n = s.rows, batch = static_cast<int>(s.batch);
  const auto job = to.u.defined() ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR;
  T *pa = a.data_ptr<T>(), *ps = values.data_ptr<T>();
  T *pu = Vectors::data<T>(to.u), *pv = Vectors::data<T>(to.v);
  int size = 0;
  cusolver::check(f.gesvdjBatched_bufferSize(handle, job, m, n, pa, m, ps, pu, m, pv, n, &size,
                                             parameters, batch),
                  "cusolverDn<t>gesvdjBatched_bufferSize");
  const Workspace work(static_cast<size_t>(size) * sizeof(T));
  cusolver::check(f.gesvdjBatched(handle, job, m, n, pa, m, ps, pu, m, pv, n, work.as<T>(), size,
                                  info.data_ptr<int32_t>(), parameters, batch),
                  "cusolverDn<t>gesvdjBatched");
}

// Return the first rows of square matrices [B,N,N].
Tensor first_rows(const Tensor& t, int64_t rows) {
  return alias(t, {t.size(0), rows, t.size(2)}, t.strides());
}
Tensor transposed(const Tensor& t) {
  return alias(t, {t.size(0), t.size(2), t.size(1)}, {t.stride(0), t.stride(2), t.stride(1)});
}

// The following compute u [B,M,C], s [B,K] and vh [B,D,N] of x [B,M,N]. Read as column-major, x is
// x^T = V S U^T: cuSOLVER's U has the rows of our vh, its V is our u.
void svd_of_small(Tensor& u, Tensor& s, Tensor& vh, Tensor& info, Tensor& rows) {
  const int64_t B = rows.size(0), M = rows.size(1), N = rows.size(2);
  Vectors to;
  if (u.defined()) to = {empty({B, N, N}, rows.options()), empty({B, M, M}, rows.options())};
  visit<dtypes::kFloating>(rows.dtype(),
                           [&]<class T>() { decompose_at_once<T>(rows, s, to, info); });
  if (!u.defined()) return;
  copy(vh, first_rows(to.u, vh.size(1)));
  copy(u, transposed(first_rows(to.v, u.size(2))));
}

void svd_of_wide(Tensor& u, Tensor& s, Tensor& vh, Tensor& info, Tensor& rows) {
  visit<dtypes::kFloating>(rows.dtype(), [&]<class T>() {
    decompose_each<T>(rows, s, {vh, u}, info);
  });
}

// gesvd requires rows >= columns, so x is converted to column-major, as are U and V^T.
void svd_of_tall(Tensor& u, Tensor& s, Tensor& vh, Tensor& info, const Tensor& rows) {
  Tensor columns = by_columns(rows);
  Vectors to;
  if (u.defined()) {
    to = {empty({u.size(0), u.size(2), u.size(1)}, u.options()), empty(vh.sizes(), vh.options())};
  }
  visit<dtypes::kFloating>(rows.dtype(),
                           [&]<class T>() { decompose_each<T>(columns, s, to, info); });
  if (!u.defined()) return;
  transpose_each(u, to.u);
  transpose_each(vh, to.v);
}

Tensor copied(const Tensor& x) {
  Tensor y = empty(x.sizes(), x.options());
  copy(y, x);
  return y;
}

}  // namespace

// values [B,N]; vectors [B,N,N], column-major; info [B]; x [B,N,N]. Matrices with NaN or inf get
// values of NaN.
void eigh(Tensor& values, Tensor& vectors, Tensor& info, const Tensor& x, bool upper) {
  if (x.numel() == 0) return fill(info, 0);
  static_cast<void>(MatrixSizes(x));
  Tensor a = copied(x);
  const bool all = vectors.defined();
  const Tensor marks = not_finite(x, upper ? Triangle::upper : Triangle::lower);
  set_identity(a, marks);
  visit<dtypes::kFloating>(x.dtype(),
                           [&]<class T>() { find_eigenvalues<T>(a, values, info, all, upper); });
  set_nan(values, marks);
  if (!all) return;
  transpose_each(vectors, a);
  set_nan(vectors, marks);
}

// u [B,M,C]; s [B,K]; vh [B,D,N]; info [B]; x [B,M,N]. NaN and inf set info to 1.
void svd(Tensor& u, Tensor& s, Tensor& vh, Tensor& info, const Tensor& x) {
  const auto set_empty = [&] {
    fill(info, 0);
    if (u.defined()) set_identity(u, Tensor()), set_identity(vh, Tensor());
  };
  if (x.numel() == 0) return set_empty();
  const MatrixSizes sizes(x);
  Tensor rows = copied(x);
  const Tensor marks = not_finite(x, Triangle::both);
  set_identity(rows, marks);
  if (is_batch_for_jacobi(sizes)) {
    svd_of_small(u, s, vh, info, rows);
  } else if (sizes.rows <= sizes.columns) {
    svd_of_wide(u, s, vh, info, rows);
  } else {
    svd_of_tall(u, s, vh, info, rows);
  }
  set_marked(info, marks);
}

}  // namespace ambit::cuda
