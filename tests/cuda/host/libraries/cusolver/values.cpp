// syevd, gesvd, and Jacobi's methods for batches. Vectors have the opposite sign of LAPACK's,
// because programs must not depend on the sign.
#include "handles.h"

namespace {

using namespace ambit::cuda::host;
using namespace ambit::cuda::host::cusolver;

template <class T>
void negate(std::vector<T>& values) {
  for (T& x : values) x = -x;
}

struct SymmetricJob {
  const char* name;
  cusolverEigMode_t mode;
  cublasFillMode_t uplo;

  bool has_vectors() const { return mode == CUSOLVER_EIG_MODE_VECTOR; }
  bool is_valid() const {
    return (has_vectors() || mode == CUSOLVER_EIG_MODE_NOVECTOR) &&
           (uplo == CUBLAS_FILL_MODE_LOWER || uplo == CUBLAS_FILL_MODE_UPPER);
  }
};

// The triangle that is not read counts as 0.
template <class T>
void clear_unread(std::vector<T>& a, int64_t n, cublasFillMode_t uplo) {
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = 0; i < n; ++i) {
      const bool read = uplo == CUBLAS_FILL_MODE_LOWER ? i >= j : i <= j;
      if (!read) a[static_cast<size_t>(j * n + i)] = 0;
    }
  }
}

template <class T>
void run_syev(const SymmetricJob& job, const Columns<T>& a, T* values, int* info) {
  std::vector<T> matrix = a.read();
  const auto n = static_cast<int32_t>(a.rows);
  clear_unread(matrix, n, job.uplo);
  expect_finite(job.name, matrix);
  std::vector<T> found(static_cast<size_t>(n));
  const int32_t lwork = 1 + 6 * n + 2 * n * n, liwork = 3 + 5 * n;
  std::vector<T> work(static_cast<size_t>(lwork));
  std::vector<int32_t> integers(static_cast<size_t>(liwork));
  int32_t status = 0;
  lapack_of<T>().syevd(job.has_vectors() ? "V" : "N",
                       job.uplo == CUBLAS_FILL_MODE_LOWER ? "L" : "U", &n, matrix.data(), &n,
                       found.data(), work.data(), &lwork, integers.data(), &liwork, &status, 1, 1);
  negate(matrix);
  a.write(job.has_vectors() ? matrix : nan_in_place_of(matrix));
  Columns<T>{values, n, 1, n}.write(found);
  write_info(info, status);
}

template <class T>
cusolverStatus_t syev(cusolverDnHandle_t handle, const SymmetricJob& job, const Columns<T>& a,
                      T* values, T* work, int lwork, int* info, int batch) {
  const bool room = work && lwork >= work_size(a.rows, a.rows, batch);
  const bool valid = job.is_valid() && a.is_valid() && batch >= 0 && values && room && info;
  const cusolverStatus_t status = check(handle, valid);
  if (status != CUSOLVER_STATUS_SUCCESS || a.rows == 0 || batch == 0) return status;
  return queue(handle, job.name, work, lwork, [=] {
    for (int64_t i = 0; i < batch; ++i) {
      const Columns<T> one{a.data + i * a.ld * a.rows, a.rows, a.rows, a.ld};
      run_syev(job, one, values + i * a.rows, info + i);
    }
  });
}

/// Write the singular vectors, if requested; gesvdj returns V, the other functions V^T.
template <class T>
struct Vectors {
  T *u, *v;
  int64_t ldu, ldv;
  bool full, transposed;
};

template <class T>
void run_gesvd(const char* name, const Columns<T>& a, T* values, const Vectors<T>& to, int* info) {
  std::vector<T> matrix = a.read();
  expect_finite(name, matrix);
  const auto m = static_cast<int32_t>(a.rows), n = static_cast<int32_t>(a.columns);
  const int32_t k = std::min(m, n), columns = to.full ? m : k, rows = to.full ? n : k;
  std::vector<T> s(static_cast<size_t>(k)), u(static_cast<size_t>(m * columns)),
      vt(static_cast<size_t>(rows * n));
  const int32_t lwork = 8 * k * k + 64 * (m + n) + 7 * k;
  std::vector<T> work(static_cast<size_t>(lwork));
  std::vector<int32_t> integers(static_cast<size_t>(8 * k));
  int32_t status = 0;
  lapack_of<T>().gesdd(!to.u     ? "N"
                       : to.full ? "A"
                                 : "S",
                       &m, &n, matrix.data(), &m, s.data(), u.data(), &m, vt.data(), &rows,
                       work.data(), &lwork, integers.data(), &status, 1);
  a.write(nan_in_place_of(matrix));
  Columns<T>{values, k, 1, k}.write(s);
  write_info(info, status);
  if (!to.u) return;
  negate(u), negate(vt);
  Columns<T>{to.u, m, columns, to.ldu}.write(u);
  if (to.transposed) return Columns<T>{to.v, rows, n, to.ldv}.write(vt);
  std::vector<T> v(vt.size());
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      v[static_cast<size_t>(i * n + j)] = vt[static_cast<size_t>(j * rows + i)];
    }
  }
  Columns<T>{to.v, n, rows, to.ldv}.write(v);
}

template <class T>
cusolverStatus_t gesvd(cusolverDnHandle_t handle, signed char job_u, signed char job_v,
                       const Columns<T>& a, T* s, Vectors<T> to, T* work, int lwork, int* info) {
  const bool none = job_u == 'N' && job_v == 'N';
  const bool some = (job_u == 'S' || job_u == 'A') && (job_v == 'S' || job_v == 'A');
  const bool vectors = none || (to.u && to.v && to.ldu >= a.rows && to.ldv >= a.columns);
  const bool room = work && lwork >= work_size(a.rows, a.columns);
  const bool tall = a.rows >= a.columns;
  const bool valid = (none || some) && vectors && a.is_valid() && tall && s && room && info;
  const cusolverStatus_t status = check(handle, valid);
  if (status != CUSOLVER_STATUS_SUCCESS || a.columns == 0) return status;
  if (none) to.u = to.v = nullptr;
  to.full = job_u == 'A', to.transposed = true;
  return queue(handle, "cusolverDn<t>gesvd", work, lwork,
               [=] { run_gesvd("cusolverDn<t>gesvd", a, s, to, info); });
}

constexpr int kMostRows = 32;

template <class T>
bool is_small(const Columns<const T>& a, int batch) {
  return a.is_valid() && a.rows <= kMostRows && a.columns <= kMostRows && batch >= 0;
}

template <class T>
cusolverStatus_t gesvdj_batched(cusolverDnHandle_t handle, cusolverEigMode_t mode,
                                const Columns<T>& a, T* s, Vectors<T> to, T* work, int lwork,
                                int* info, int batch) {
  constexpr const char* kName = "cusolverDn<t>gesvdjBatched";
  const bool none = mode == CUSOLVER_EIG_MODE_NOVECTOR;
  const bool vectors = none || (to.u && to.v && to.ldu >= a.rows && to.ldv >= a.columns);
  const bool room = work && lwork >= work_size(a.rows, a.columns, batch);
  const bool small = is_small<T>({a.data, a.rows, a.columns, a.ld}, batch);
  const cusolverStatus_t status = check(handle, vectors && room && small && s && info);
  if (status != CUSOLVER_STATUS_SUCCESS || a.rows * a.columns * batch == 0) return status;
  if (none) to.u = to.v = nullptr;
  return queue(handle, kName, work, lwork, [=] {
    for (int64_t i = 0; i < batch; ++i) {
      Vectors<T> one{to.u ? to.u + i * to.ldu * a.rows : nullptr,
                     to.v ? to.v + i * to.ldv * a.columns : nullptr,
                     to.ldu,
                     to.ldv,
                     true,
                     false};
      const Columns<T> matrix{a.data + i * a.ld * a.columns, a.rows, a.columns, a.ld};
      run_gesvd(kName, matrix, s + i * std::min(a.rows, a.columns), one, info + i);
    }
  });
}

}  // namespace

#define AMBIT_CUSOLVER_OF(letter, T)                                                               \
  cusolverStatus_t cusolverDn##letter##syevd_bufferSize(                                           \
      cusolverDnHandle_t h, cusolverEigMode_t mode, cublasFillMode_t uplo, int n, const T* a,      \
      int lda, const T* w, int* size) {                                                            \
    const bool valid =                                                                             \
        SymmetricJob{"", mode, uplo}.is_valid() && Columns<const T>{a, n, n, lda}.is_valid() && w; \
    return query_size(h, valid, work_size(n, n), size);                                            \
  }                                                                                                \
  cusolverStatus_t cusolverDn##letter##syevd(cusolverDnHandle_t h, cusolverEigMode_t mode,         \
                                             cublasFillMode_t uplo, int n, T* a, int lda, T* w,    \
                                             T* work, int lwork, int* info) {                      \
    return syev<T>(h, {"cusolverDn<t>syevd", mode, uplo}, {a, n, n, lda}, w, work, lwork, info,    \
                   1);                                                                             \
  }                                                                                                \
  cusolverStatus_t cusolverDn##letter##syevjBatched_bufferSize(                                    \
      cusolverDnHandle_t h, cusolverEigMode_t mode, cublasFillMode_t uplo, int n, const T* a,      \
      int lda, const T* w, int* size, syevjInfo_t parameters, int batch) {                         \
    syevj_parameters().get(parameters);                                                            \
    const bool valid = SymmetricJob{"", mode, uplo}.is_valid() &&                                  \
                       Columns<const T>{a, n, n, lda}.is_valid() && w && batch >= 0;               \
    return query_size(h, valid, work_size(n, n, batch), size);                                     \
  }                                                                                                \
  cusolverStatus_t cusolverDn##letter##syevjBatched(                                               \
      cusolverDnHandle_t h, cusolverEigMode_t mode, cublasFillMode_t uplo, int n, T* a, int lda,   \
      T* w, T* work, int lwork, int* info, syevjInfo_t parameters, int batch) {                    \
    syevj_parameters().get(parameters);                                                            \
    return syev<T>(h, {"cusolverDn<t>syevjBatched", mode, uplo}, {a, n, n, lda}, w, work, lwork,   \
                   info, batch);                                                                   \
  }                                                                                                \
  cusolverStatus_t cusolverDn##letter##gesvd_bufferSize(cusolverDnHandle_t h, int m, int n,        \
                                                        int* size) {                               \
    return query_size(h, m >= n && n >= 0, work_size(m, n), size);                                 \
  }                                                                                                \
  cusolverStatus_t cusolverDn##letter##gesvd(                                                      \
      cusolverDnHandle_t h, signed char job_u, signed char job_v, int m, int n, T* a, int lda,     \
      T* s, T* u, int ldu, T* vt, int ldvt, T* work, int lwork, T*, int* info) {                   \
    return gesvd<T>(h, job_u, job_v, {a, m, n, lda}, s, {u, vt, ldu, ldvt, false, true}, work,     \
                    lwork, info);                                                                  \
  }                                                                                                \
  cusolverStatus_t cusolverDn##letter##gesvdjBatched_bufferSize(                                   \
      cusolverDnHandle_t h, cusolverEigMode_t, int m, int n, const T* a, int lda, const T* s,      \
      const T*, int, const T*, int, int* size, gesvdjInfo_t parameters, int batch) {               \
    gesvdj_parameters().get(parameters);                                                           \
    return query_size(h, is_small<T>({a, m, n, lda}, batch) && s, work_size(m, n, batch), size);   \
  }                                                                                                \
  cusolverStatus_t cusolverDn##letter##gesvdjBatched(                                              \
      cusolverDnHandle_t h, cusolverEigMode_t mode, int m, int n, T* a, int lda, T* s, T* u,       \
      int ldu, T* v, int ldv, T* work, int lwork, int* info, gesvdjInfo_t parameters, int batch) { \
    gesvdj_parameters().get(parameters);                                                           \
    return gesvdj_batched<T>(h, mode, {a, m, n, lda}, s, {u, v, ldu, ldv, true, false}, work,      \
                             lwork, info, batch);                                                  \
  }

extern "C" {
AMBIT_CUSOLVER_OF(S, float)
AMBIT_CUSOLVER_OF(D, double)
}
