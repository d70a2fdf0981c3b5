// Eigenvalues and eigenvectors of general matrices, by LAPACK's geev.
#include <ambit/backend/reference.h>

#include <complex>

#include "backends/cpu/kernels.h"
#include "matrices.h"

namespace ambit::cpu {
namespace {

/// One matrix: the number of rows, and the outputs' elements; vectors may be null.
template <class T>
struct Eigen {
  int32_t N;
  std::complex<T>* values;
  std::complex<T>* vectors;
  int32_t* info;
};

// LAPACK's column j of v is a real eigenvector; for a pair of conjugate eigenvalues j and j + 1
// have the real and the imaginary part of the first eigenvector.
template <class T>
void unpack(const Eigen<T>& e, const T* imaginary, const T* v) {
  const int64_t n = e.N;
  for (int64_t j = 0; j < n; ++j) {
    const bool pair = imaginary[j] != 0 && j + 1 < n;
    for (int64_t i = 0; i < n; ++i) {
      std::complex<T>* to = e.vectors + i * n + j;
      *to = {v[j * n + i], pair ? v[(j + 1) * n + i] : T(0)};
      if (pair) to[1] = std::conj(*to);
    }
    if (pair) ++j;
  }
}

template <class T>
void run(const LapackOf<T>& f, const Eigen<T>& e, const T* x) {
  const int32_t N = e.N, one = 1, ldv = e.vectors ? N : 1;
  const int64_t n = N, numel = n * n;
  const char* job = e.vectors ? "V" : "N";
  int32_t lwork = -1;
  T least = 0;
  f.geev("N", job, &N, nullptr, &N, nullptr, nullptr, nullptr, &one, nullptr, &ldv, &least, &lwork,
         e.info, 1, 1);
  lwork = work_size(least);
  const Scratch scratch(static_cast<size_t>(2 * numel + 2 * n + lwork) * sizeof(T));
  T *a = scratch.data<T>(), *v = a + numel, *re = v + numel, *im = re + n, *work = im + n;
  transpose(a, x, n, n);
  f.geev("N", job, &N, a, &N, re, im, nullptr, &one, v, &ldv, work, &lwork, e.info, 1, 1);
  for (int64_t i = 0; i < n; ++i) e.values[i] = {re[i], im[i]};
  if (e.vectors) unpack(e, im, v);
}

template <class T>
void run(const LapackOf<T>& f, const Eigen<T>& e, const std::complex<T>* x) {
  using Complex = std::complex<T>;
  const int32_t N = e.N, one = 1, ldv = e.vectors ? N : 1;
  const int64_t n = N, numel = n * n;
  const char* job = e.vectors ? "V" : "N";
  int32_t lwork = -1;
  Complex least = 0;
  T ignored = 0;  // LAPACK writes a second size to rwork
  f.complex_geev("N", job, &N, nullptr, &N, nullptr, nullptr, &one, nullptr, &ldv, &least, &lwork,
                 &ignored, e.info, 1, 1);
  lwork = work_size(least.real());
  const Scratch scratch(static_cast<size_t>(2 * numel + n + lwork) * sizeof(Complex));
  Complex *a = scratch.data<Complex>(), *v = a + numel, *rwork = v + numel, *work = rwork + n;
  transpose(a, x, n, n);
  f.complex_geev("N", job, &N, a, &N, e.values, nullptr, &one, v, &ldv, work, &lwork,
                 reinterpret_cast<T*>(rwork), e.info, 1, 1);
  if (e.vectors) transpose(e.vectors, v, n, n);
}

}  // namespace

// values [B,N,2]; vectors [B,N,N,2]; info [B]; x [B,N,N,P].
void eig(Tensor& values, Tensor& vectors, Tensor& info, const Tensor& x) {
  const LapackUse library;
  if (!library) return reference::eig(values, vectors, info, x);
  const int32_t N = lapack_size("eig", x.size(1));
  const int64_t n = N, numel = n * n, parts = x.size(3);
  const bool all = vectors.defined();
  visit<dtypes::kFloating>(x.dtype(), [&]<class T>() {
    using Complex = std::complex<T>;
    auto* const to_values = reinterpret_cast<Complex*>(values.data_ptr<T>());
    auto* const to_vectors = all ? reinterpret_cast<Complex*>(vectors.data_ptr<T>()) : nullptr;
    for_each_matrix(x.size(0), 10 * numel * n * parts, [&](int64_t b) {
      const T* from = x.data_ptr<T>() + b * numel * parts;
      const Eigen<T> e{N, to_values + b * n, all ? to_vectors + b * numel : nullptr,
                       info.data_ptr<int32_t>() + b};
      *e.info = is_finite(from, numel * parts) ? 0 : 1;
      if (n == 0 || *e.info != 0) return;
      if (parts == 1) return run(library->of<T>(), e, from);
      run(library->of<T>(), e, reinterpret_cast<const Complex*>(from));
    });
  });
}

}  // namespace ambit::cpu
