// Eigenvalues of symmetric matrices and singular values, by divide and conquer.
#include <ambit/backend/reference.h>

#include "backends/cpu/kernels.h"
#include "matrices.h"

namespace ambit::cpu {

// values [B,N]; vectors [B,N,N], column-major; info [B]; x [B,N,N].
void eigh(Tensor& values, Tensor& vectors, Tensor& info, const Tensor& x, bool upper) {
  const LapackUse library;
  if (!library) return reference::eigh(values, vectors, info, x, upper);
  const int32_t N = lapack_size("eigh", x.size(1));
  const int64_t n = N, numel = n * n;
  const bool all = vectors.defined();
  const char *job = all ? "V" : "N", *uplo = upper ? "L" : "U";
  int32_t* pi = info.data_ptr<int32_t>();
  visit<dtypes::kFloating>(x.dtype(), [&]<class T>() {
    const auto& f = library->of<T>();
    for_each_matrix(x.size(0), 4 * numel * n, [&](int64_t b) {
      const T* from = x.data_ptr<T>() + b * numel;
      bool finite = true;  // true if all elements that are read are finite
      for (int64_t i = 0; i < n; ++i) {
        finite =
            finite && (upper ? is_finite(from + i * n + i, n - i) : is_finite(from + i * n, i + 1));
      }
      pi[b] = 0;
      if (!finite) {
        constexpr T kNaN = std::numeric_limits<T>::quiet_NaN();
        std::fill_n(values.data_ptr<T>() + b * n, n, kNaN);
        if (all) std::fill_n(vectors.data_ptr<T>() + b * numel, numel, kNaN);
      }
      if (n == 0 || !finite) return;
      int32_t lwork = -1, liwork = -1, iwork_least = 0;
      T least = 0;
      f.syevd(job, uplo, &N, nullptr, &N, nullptr, &least, &lwork, &iwork_least, &liwork, pi + b, 1,
              1);
      lwork = work_size(least), liwork = iwork_least;
      const Scratch scratch(static_cast<size_t>(numel + lwork) * sizeof(T));
      const Scratch integers(static_cast<size_t>(liwork) * sizeof(int32_t));
      T *a = scratch.data<T>(), *work = a + numel;
      std::copy_n(from, numel, a);
      f.syevd(job, uplo, &N, a, &N, values.data_ptr<T>() + b * n, work, &lwork,
              integers.data<int32_t>(), &liwork, pi + b, 1, 1);
      if (all) transpose(vectors.data_ptr<T>() + b * numel, a, n, n);
    });
  });
}

// u [B,M,C]; s [B,K]; vh [B,D,N]; info [B]; x [B,M,N]. Read as column-major, x is x^T = V S U^T:
// LAPACK's U is our vh in row-major order, its V^T our u.
void svd(Tensor& u, Tensor& s, Tensor& vh, Tensor& info, const Tensor& x) {
  const LapackUse library;
  if (!library) return reference::svd(u, s, vh, info, x);
  const int32_t M = lapack_size("svd", x.size(1)), N = lapack_size("svd", x.size(2));
  const bool all = u.defined();
  const int32_t C = all ? lapack_size("svd", u.size(2)) : 1, K = std::min(M, N);
  const int64_t m = M, n = N, k = K;
  const bool full = all && (u.size(2) > k || vh.size(1) > k);
  const char* job = !all ? "N" : full ? "A" : "S";
  int32_t* pi = info.data_ptr<int32_t>();
  visit<dtypes::kFloating>(x.dtype(), [&]<class T>() {
    const auto& f = library->of<T>();
    for_each_matrix(x.size(0), 8 * m * n * k, [&](int64_t b) {
      const T* from = x.data_ptr<T>() + b * m * n;
      T* pu = all ? u.data_ptr<T>() + b * m * u.size(2) : nullptr;
      T* pv = all ? vh.data_ptr<T>() + b * vh.size(1) * n : nullptr;
      pi[b] = is_finite(from, m * n) ? 0 : 1;
      if (pi[b] != 0) return;
      if (k == 0) {
        if (all) set_identity(pu, m, u.size(2)), set_identity(pv, vh.size(1), n);
        return;
      }
      int32_t lwork = -1;
      T least = 0;
      f.gesdd(job, &N, &M, nullptr, &N, nullptr, nullptr, &N, nullptr, &C, &least, &lwork, nullptr,
              pi + b, 1);
      lwork = work_size(least);
      const Scratch scratch(static_cast<size_t>(m * n + lwork) * sizeof(T));
      const Scratch integers(static_cast<size_t>(8 * k) * sizeof(int32_t));
      T *a = scratch.data<T>(), *work = a + m * n;
      std::copy_n(from, m * n, a);
      f.gesdd(job, &N, &M, a, &N, s.data_ptr<T>() + b * k, pv, &N, pu, &C, work, &lwork,
              integers.data<int32_t>(), pi + b, 1);
    });
  });
}

}  // namespace ambit::cpu
