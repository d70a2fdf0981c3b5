// cuSOLVER's dense functions. Uses the typed functions, not the generic 64-bit ones: they have
// int32 pivots as ours, exist for orgqr and batches, and need no host workspace. The library is
// opened on first use.
#pragma once

#include <cusolverDn.h>

#include <string>

#include "backends/cuda/driver/source_location.h"
#include "library.h"

/// All functions to load, by their name in the library: row(name) for those without a dtype, then
/// row(letter, name) for cusolverDn<letter><name>.
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

/// Function pointers, named as in the library.
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

/// The functions for one dtype.
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

/// Return why linear algebra is unavailable; empty if cuSOLVER and cuBLAS could be opened. Opens
/// them.
const std::string& missing();
/// Return the version, or the reason of missing(), for `ambit info`.
std::string version();

/// Throw BackendError for any status but success.
void check(cusolverStatus_t status, const char* call,
           SourceLocation where = SourceLocation::current());

/// Return the thread's handle, set to the stream of the current call. Errors: BackendError, also in
/// a capture.
cusolverDnHandle_t handle();

/// Return parameters of Jacobi's methods, with the library's defaults: tolerance epsilon, sorted
/// values.
syevjInfo_t syevj_parameters();
gesvdjInfo_t gesvdj_parameters();

}  // namespace ambit::cuda::cusolver
