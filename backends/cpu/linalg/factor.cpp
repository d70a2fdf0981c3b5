// Cholesky and Householder (QR) factorisations.
#include <ambit/backend/reference.h>

#include "backends/cpu/kernels.h"
#include "matrices.h"

namespace ambit::cpu {

// y, x [B,N,N]; info [B]. In column-major order a lower L is an upper U = L^T, and vice versa.
void cholesky(Tensor& y, Tensor& info, const Tensor& x, bool upper) {
  const LapackUse library;
  if (!library) return reference::cholesky(y, info, x, upper);
  const int32_t N = lapack_size("cholesky", x.size(1)), lda = leading(N);
  const int64_t n = x.size(1), numel = n * n;
  int32_t* pi = info.data_ptr<int32_t>();
  visit<dtypes::kFloating>(x.dtype(), [&]<class T>() {
    for_each_matrix(x.size(0), numel * n / 6, [&](int64_t b) {
      const T* from = x.data_ptr<T>() + b * numel;
      T* to = y.data_ptr<T>() + b * numel;
      for (int64_t i = 0; i < n; ++i) {  // copy the triangle, set the other one to 0
        const int64_t first = upper ? i : 0, past = upper ? n : i + 1;
        std::fill_n(to + i * n, first, T(0));
        std::copy_n(from + i * n + first, past - first, to + i * n + first);
        std::fill_n(to + i * n + past, n - past, T(0));
      }
      pi[b] = 0;
      if (n != 0) library->of<T>().potrf(upper ? "L" : "U", &N, to, &lda, pi + b, 1);
    });
  });
}

// q [B,M,C]; r [B,C,N]; x [B,M,N]. x is copied to column-major order: the LQ factorisation of x^T
// needs no copy, but LAPACK needs 1.5 times as long for it.
void qr(Tensor& q, Tensor& r, const Tensor& x) {
  const LapackUse library;
  if (!library) return reference::qr(q, r, x);
  const int32_t M = lapack_size("qr", x.size(1)), N = lapack_size("qr", x.size(2));
  const int32_t C = lapack_size("qr", r.size(1)), K = std::min(M, N);
  const int64_t m = M, n = N, c = C, k = K;
  visit<dtypes::kFloating>(x.dtype(), [&]<class T>() {
    const auto& f = library->of<T>();
    for_each_matrix(x.size(0), 2 * m * n * k, [&](int64_t b) {
      T* pr = r.data_ptr<T>() + b * c * n;
      T* pq = q.defined() ? q.data_ptr<T>() + b * m * c : nullptr;
      if (k == 0) {
        if (pq) set_identity(pq, m, c);
        return;
      }
      int32_t info = 0, lwork = -1;
      T least[2] = {};
      f.geqrf(&M, &N, nullptr, &M, nullptr, least, &lwork, &info);
      f.orgqr(&M, &C, &K, nullptr, &M, nullptr, least + 1, &lwork, &info);
      lwork = static_cast<int32_t>(std::max(least[0], least[1]));
      const int64_t columns = std::max(n, c);  // columns of x, then of q
      const Scratch scratch(static_cast<size_t>(m * columns + k + lwork) * sizeof(T));
      T *a = scratch.data<T>(), *tau = a + m * columns, *work = tau + k;
      transpose(a, x.data_ptr<T>() + b * m * n, m, n);
      f.geqrf(&M, &N, a, &M, tau, work, &lwork, &info);
      for (int64_t i = 0; i < c; ++i) {
        for (int64_t j = 0; j < n; ++j) pr[i * n + j] = i <= j ? a[j * m + i] : T(0);
      }
      if (!pq) return;
      f.orgqr(&M, &C, &K, a, &M, tau, work, &lwork, &info);
      transpose(pq, a, c, m);
    });
  });
}

}  // namespace ambit::cpu
