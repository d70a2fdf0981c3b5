// cuSOLVER's functions of dense matrices. Those with a type in their name are taken, not the
// generic ones of 64-bit sizes: their pivots are int32 as ours, orgqr and the batched ones have no
// other form, and they need no workspace on the host. The library is opened at the first use of
// anything here.
#pragma once

#include <cusolverDn.h>

#include <string>

#include "backends/cuda/driver/source_location.h"
#include "library.h"

/// Every function that is opened, by its name in the library, as row(name): first those without a
/// dtype, then row(letter, name) for cusolverDn<letter><name>.
#define AMBIT_CUSOLVER_FUNCTIONS(row, typed)                             \
  row(cusolverGetVersion) row(cusolverDnCreate) row(cusolverDnSetStream) \
      row(cusolverDnCreateSyevjInfo) row(cusolverDnCreateGesvdjInfo)     \
          AMBIT_CUSOLVER_TYPED(typed, S) AMBIT_CUSOLVER_TYPED(typed, D)
#define AMBIT_CUSOLVER_TYPED(typed, letter)                                            \
  typed(letter, getrf_bufferSize) typed(letter, getrf) typed(letter, potrf_bufferSize) \
      typed(letter, potrf) typed(letter, potrfBatched) typed(letter, geqrf_bufferSize) \
          typed(letter, geqrf) typed(letter, orgqr_bufferSize) typed(letter, orgqr)    \
              typed(letter, syevd_bufferSize) typed(letter, syevd)                     \
                  typed(letter, syevjBatched_bufferSize) typed(letter, syevjBatched)   \
                      typed(letter, gesvd_bufferSize) typed(letter, gesvd)             \
                          typed(letter, gesvdjBatched_bufferSize) typed(letter, gesvdjBatched)

namespace ambit::cuda::cusolver {

/// The functions, by their own names.
struct Functions {
  Library library{"libcusolver.so.12", "libcusolver.so.11"};
#define AMBIT_ROW(name) decltype(::name)* name = library.find<decltype(::name)>(#name);
#define AMBIT_ROW_OF(letter, name)                        \
  decltype(::cusolverDn##letter##name)* letter##_##name = \
      library.find<decltype(::cusolverDn##letter##name)>("cusolverDn" #letter #name);
  AMBIT_CUSOLVER_FUNCTIONS(AMBIT_ROW, AMBIT_ROW_OF)
#undef AMBIT_ROW
#undef AMBIT_ROW_OF
};
const Functions& api();

/// Those of one dtype.
template <class T>
struct Typed;
#define AMBIT_FIELD(letter, name) decltype(Functions::letter##_##name) name = api().letter##_##name;
template <>
struct Typed<float> {
  AMBIT_CUSOLVER_TYPED(AMBIT_FIELD, S)
};
template <>
struct Typed<double> {
  AMBIT_CUSOLVER_TYPED(AMBIT_FIELD, D)
};
#undef AMBIT_FIELD

/// Return why linear algebra cannot be done here, empty where cuSOLVER and cuBLAS are there. Opens
/// them.
const std::string& missing();
/// Return the version, or what is missing: for `ambit info`.
std::string version();

/// Throw BackendError for any status but success.
void check(cusolverStatus_t status, const char* call,
           SourceLocation where = SourceLocation::current());

/// Return the thread's handle, at work on the stream of the Call at work. Errors: BackendError,
/// also in a capture.
cusolverDnHandle_t handle();

/// Return parameters of Jacobi's methods, which are the library's own: up to epsilon, values
/// sorted.
syevjInfo_t syevj_parameters();
gesvdjInfo_t gesvdj_parameters();

}  // namespace ambit::cuda::cusolver
