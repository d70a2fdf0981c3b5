// LAPACK and BLAS, opened when they are first needed, so that no program starts with them: the
// library that $AMBIT_LAPACK names, else the system's (liblapack.so.3, which Debian lets be
// OpenBLAS's or the reference). Functions are Fortran's, with 32-bit integers: matrices lie by
// columns, a character is followed by its length at the end of the list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "library_use.h"

namespace ambit::cpu {

/// The functions of one dtype. What they do and their arguments: netlib.org/lapack.
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

/// The library while a kernel uses it, null where there is none or exit() has begun: kernels then
/// run the reference's loops, which are right and slow. Errors: OutOfMemoryError.
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
/// Return the file of the library, or why there is none: for `ambit info`.
std::string lapack_name();

}  // namespace ambit::cpu
