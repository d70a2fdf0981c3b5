// getrf, potrf, geqrf and orgqr.
#include "handles.h"

namespace {

using namespace ambit::cuda::host;
using namespace ambit::cuda::host::cusolver;

template <class T>
cusolverStatus_t getrf(cusolverDnHandle_t handle, const Columns<T>& a, T* work, int* pivots,
                       int* info) {
  const cusolverStatus_t status = check(handle, a.is_valid() && work && info);
  if (status != CUSOLVER_STATUS_SUCCESS || a.rows * a.columns == 0) return status;
  if (!pivots) misuse("cusolverDn<t>getrf: expected pivots: the emulation always pivots");
  return queue(handle, "cusolverDn<t>getrf", work, work_size(a.rows, a.columns),
               [=] { factor_lu(a, pivots, info); });
}

// Factor in place. NaN is not detected: info remains 0. The other triangle is not read.
template <class T>
int factor_cholesky(T* a, int64_t n, bool lower) {
  const auto at = [&](int64_t i, int64_t j) -> T& { return lower ? a[j * n + i] : a[i * n + j]; };
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = j; i < n; ++i) {
      T sum = at(i, j);
      for (int64_t k = 0; k < j; ++k) sum -= at(i, k) * at(j, k);
      if (i == j && sum <= 0) return static_cast<int>(j + 1);
      at(i, j) = i == j ? std::sqrt(sum) : sum / at(j, j);
    }
  }
  return 0;
}

template <class T>
void run_potrf(const Columns<T>& a, bool lower, int* info) {
  std::vector<T> values = a.read();
  const int status = factor_cholesky(values.data(), a.rows, lower);
  a.write(values);
  write_info(info, status);
}

bool is_triangle(cublasFillMode_t uplo) {
  return uplo == CUBLAS_FILL_MODE_LOWER || uplo == CUBLAS_FILL_MODE_UPPER;
}

template <class T>
cusolverStatus_t potrf(cusolverDnHandle_t handle, cublasFillMode_t uplo, const Columns<T>& a,
                       T* work, int lwork, int* info) {
  const bool room = work && lwork >= work_size(a.rows, a.columns);
  const cusolverStatus_t status = check(handle, is_triangle(uplo) && a.is_valid() && room && info);
  if (status != CUSOLVER_STATUS_SUCCESS || a.rows == 0) return status;
  return queue(handle, "cusolverDn<t>potrf", work, lwork,
               [=] { run_potrf(a, uplo == CUBLAS_FILL_MODE_LOWER, info); });
}

template <class T>
cusolverStatus_t potrf_batched(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T* a[],
                               int lda, int* info, int batch) {
  const bool sizes = n >= 0 && batch >= 0 && lda >= std::max(n, 1);
  const cusolverStatus_t status = check(handle, is_triangle(uplo) && sizes && a && info);
  if (status != CUSOLVER_STATUS_SUCCESS || n == 0 || batch == 0) return status;
  return queue<T>(handle, "cusolverDn<t>potrfBatched", nullptr, 0, [=] {
    const auto matrices = read_addresses<T>(a, batch);
    for (int i = 0; i < batch; ++i) {
      run_potrf<T>({matrices[static_cast<size_t>(i)], n, n, lda}, uplo == CUBLAS_FILL_MODE_LOWER,
                   info + i);
    }
  });
}

template <class T>
void run_geqrf(const Columns<T>& a, T* tau, int* info) {
  std::vector<T> values = a.read();
  expect_finite("cusolverDn<t>geqrf", values);
  const auto m = static_cast<int32_t>(a.rows), n = static_cast<int32_t>(a.columns);
  std::vector<T> factors(static_cast<size_t>(std::min(m, n)));
  const auto lwork = static_cast<int32_t>(64 * n);
  std::vector<T> work(static_cast<size_t>(lwork));
  int32_t status = 0;
  lapack_of<T>().geqrf(&m, &n, values.data(), &m, factors.data(), work.data(), &lwork, &status);
  a.write(values);
  Columns<T>{tau, std::min(m, n), 1, std::min(m, n)}.write(factors);
  write_info(info, status);
}

template <class T>
cusolverStatus_t geqrf(cusolverDnHandle_t handle, const Columns<T>& a, T* tau, T* work, int lwork,
                       int* info) {
  const bool room = work && lwork >= work_size(a.rows, a.columns);
  const cusolverStatus_t status = check(handle, a.is_valid() && tau && room && info);
  if (status != CUSOLVER_STATUS_SUCCESS || a.rows * a.columns == 0) return status;
  return queue(handle, "cusolverDn<t>geqrf", work, lwork, [=] { run_geqrf(a, tau, info); });
}

// The first k columns of A are read, and all are written.
template <class T>
void run_orgqr(const Columns<T>& a, int64_t reflections, const T* tau, int* info) {
  std::vector<T> values = Columns<T>{a.data, a.rows, reflections, a.ld}.read();
  values.resize(static_cast<size_t>(a.rows * a.columns));
  const auto m = static_cast<int32_t>(a.rows), n = static_cast<int32_t>(a.columns);
  const auto k = static_cast<int32_t>(reflections), lwork = 64 * n;
  const std::vector<T> factors = Columns<const T>{tau, k, 1, k}.read();
  std::vector<T> work(static_cast<size_t>(lwork));
  int32_t status = 0;
  lapack_of<T>().orgqr(&m, &n, &k, values.data(), &m, factors.data(), work.data(), &lwork, &status);
  a.write(values);
  write_info(info, status);
}

bool are_columns_of_q(int64_t m, int64_t n, int64_t k) { return k >= 0 && n >= k && m >= n; }

template <class T>
cusolverStatus_t orgqr(cusolverDnHandle_t handle, const Columns<T>& a, int k, const T* tau, T* work,
                       int lwork, int* info) {
  const bool room = work && lwork >= work_size(a.rows, a.columns);
  const bool sizes = a.is_valid() && are_columns_of_q(a.rows, a.columns, k);
  const cusolverStatus_t status = check(handle, sizes && tau && room && info);
  if (status != CUSOLVER_STATUS_SUCCESS || a.columns == 0 || k == 0) return status;
  return queue(handle, "cusolverDn<t>orgqr", work, lwork, [=] { run_orgqr(a, k, tau, info); });
}

}  // namespace

#define AMBIT_CUSOLVER_OF(letter, T)                                                               \
  cusolverStatus_t cusolverDn##letter##getrf_bufferSize(cusolverDnHandle_t h, int m, int n, T* a,  \
                                                        int lda, int* size) {                      \
    return query_size(h, Columns<T>{a, m, n, lda}.is_valid(), work_size(m, n), size);              \
  }                                                                                                \
  cusolverStatus_t cusolverDn##letter##getrf(cusolverDnHandle_t h, int m, int n, T* a, int lda,    \
                                             T* work, int* pivots, int* info) {                    \
    return getrf<T>(h, {a, m, n, lda}, work, pivots, info);                                        \
  }                                                                                                \
  cusolverStatus_t cusolverDn##letter##potrf_bufferSize(                                           \
      cusolverDnHandle_t h, cublasFillMode_t uplo, int n, T* a, int lda, int* size) {              \
    const bool valid = is_triangle(uplo) && Columns<T>{a, n, n, lda}.is_valid();                   \
    return query_size(h, valid, work_size(n, n), size);                                            \
  }                                                                                                \
  cusolverStatus_t cusolverDn##letter##potrf(cusolverDnHandle_t h, cublasFillMode_t uplo, int n,   \
                                             T* a, int lda, T* work, int lwork, int* info) {       \
    return potrf<T>(h, uplo, {a, n, n, lda}, work, lwork, info);                                   \
  }                                                                                                \
  cusolverStatus_t cusolverDn##letter##potrfBatched(                                               \
      cusolverDnHandle_t h, cublasFillMode_t uplo, int n, T* a[], int lda, int* info, int batch) { \
    return potrf_batched<T>(h, uplo, n, a, lda, info, batch);                                      \
  }                                                                                                \
  cusolverStatus_t cusolverDn##letter##geqrf_bufferSize(cusolverDnHandle_t h, int m, int n, T* a,  \
                                                        int lda, int* size) {                      \
    return query_size(h, Columns<T>{a, m, n, lda}.is_valid(), work_size(m, n), size);              \
  }                                                                                                \
  cusolverStatus_t cusolverDn##letter##geqrf(cusolverDnHandle_t h, int m, int n, T* a, int lda,    \
                                             T* tau, T* work, int lwork, int* info) {              \
    return geqrf<T>(h, {a, m, n, lda}, tau, work, lwork, info);                                    \
  }                                                                                                \
  cusolverStatus_t cusolverDn##letter##orgqr_bufferSize(                                           \
      cusolverDnHandle_t h, int m, int n, int k, const T* a, int lda, const T* tau, int* size) {   \
    const bool valid = Columns<const T>{a, m, n, lda}.is_valid() && are_columns_of_q(m, n, k);     \
    return query_size(h, valid && tau, work_size(m, n), size);                                     \
  }                                                                                                \
  cusolverStatus_t cusolverDn##letter##orgqr(cusolverDnHandle_t h, int m, int n, int k, T* a,      \
                                             int lda, const T* tau, T* work, int lwork,            \
                                             int* info) {                                          \
    return orgqr<T>(h, {a, m, n, lda}, k, tau, work, lwork, info);                                 \
  }

extern "C" {
AMBIT_CUSOLVER_OF(S, float)
AMBIT_CUSOLVER_OF(D, double)
}
