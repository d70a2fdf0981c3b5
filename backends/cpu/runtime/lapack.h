// LAPACK and BLAS, opened on first use, so that programs do not load them at start: the library
// named by $AMBIT_LAPACK, else the system's liblapack.so.3 (on Debian OpenBLAS or the reference).
// The interface is Fortran's with 32-bit integers: matrices are column-major, and the lengths of
// character arguments follow at the end of the argument list.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>

#include "library_use.h"

namespace ambit::cpu {

/// The functions for one dtype, and for complex numbers with its parts. Documentation:
/// netlib.org/lapack.
template <class T>
struct LapackOf {
  using Int = const int32_t*;
  void (*getrf)(Int m, Int n, T* a, Int lda, int32_t* pivots, int32_t* info);
  void (*potrf)(const char* uplo, Int n, T* a, Int lda, int32_t* info, size_t);
  void (*trsm)(const char* side, const char* uplo, const char* transpose, const char* diagonal,
               Int m, Int n, const T* alpha, const T* a, Int lda, T* b, Int ldb, size_t, size_t,
               size_t, size_t);
  void (*geqrf)(Int m, Int n, T* a, Int lda, T* tau, T* work, Int lwork, int32_t* info);
  void (*orgqr)(Int m, Int n, Int k, T* a, Int lda, const T* tau, T* work, Int lwork,
                int32_t* info);
  void (*syevd)(const char* job, const char* uplo, Int n, T* a, Int lda, T* values, T* work,
                Int lwork, int32_t* iwork, Int liwork, int32_t* info, size_t, size_t);
  void (*gesdd)(const char* job, Int m, Int n, T* a, Int lda, T* s, T* u, Int ldu, T* vt, Int ldvt,
                T* work, Int lwork, int32_t* iwork, int32_t* info, size_t);
  void (*geev)(const char* left, const char* right, Int n, T* a, Int lda, T* values, T* imaginary,
               T* vl, Int ldvl, T* vr, Int ldvr, T* work, Int lwork, int32_t* info, size_t, size_t);
  void (*complex_geev)(const char* left, const char* right, Int n, std::complex<T>* a, Int lda,
                       std::complex<T>* values, std::complex<T>* vl, Int ldvl, std::complex<T>* vr,
                       Int ldvr, std::complex<T>* work, Int lwork, T* rwork, int32_t* info, size_t,
                       size_t);
};

struct Lapack {
  LapackOf<float> of_float;
  LapackOf<double> of_double;
  template <class T>
  const LapackOf<T>& of() const {
    if constexpr (sizeof(T) == 4) {
      return of_float;
    } else {
      return of_double;
    }
  }
};

/// Access to the library for a kernel; false if there is none or exit() has begun: kernels then run
/// the reference loops, which are correct but slow. Errors: OutOfMemoryError.
class LapackUse {
 public:
  LapackUse() : library_(use_ ? find() : nullptr) {}
  explicit operator bool() const { return library_ != nullptr; }
  const Lapack* operator->() const { return library_; }

 private:
  static const Lapack* find();

  LibraryUse use_;
  const Lapack* library_;
};
/// Return the library's file, or why none was found, for `ambit info`.
std::string lapack_name();

}  // namespace ambit::cpu
