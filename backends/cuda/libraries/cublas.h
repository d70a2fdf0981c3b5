// cuBLAS functions that cuBLASLt lacks: triangular systems, and factors of batches of small
// matrices. The library is opened on first use.
#pragma once

#include <cublas_v2.h>

#include "backends/cuda/driver/source_location.h"
#include "backends/cuda/runtime/workspace.h"
#include "library.h"

/// All functions to load, by their name in the library, as row(name).
#define AMBIT_CUBLAS_FUNCTIONS(row)                                                                \
  row(cublasCreate_v2) row(cublasSetStream_v2) row(cublasSetWorkspace_v2) row(cublasGetStatusName) \
      row(cublasGetStatusString) row(cublasStrsm_v2) row(cublasDtrsm_v2) row(cublasStrsmBatched)   \
          row(cublasDtrsmBatched) row(cublasSgetrfBatched) row(cublasDgetrfBatched)

namespace ambit::cuda::cublas {

/// Function pointers, named as in the library.
struct Functions {
  Library library{"libcublas.so.13", "libcublas.so.12"};
#define AMBIT_ROW(name) decltype(::name)* name = library.find<decltype(::name)>(#name);
  AMBIT_CUBLAS_FUNCTIONS(AMBIT_ROW)
#undef AMBIT_ROW
};
const Functions& api();

/// The functions for one dtype.
template <class T>
struct Typed;
#define AMBIT_TYPED(T, letter)                                                                    \
  template <>                                                                                     \
  struct Typed<T> {                                                                               \
    decltype(::cublas##letter##trsm_v2)* trsm = api().cublas##letter##trsm_v2;                    \
    decltype(::cublas##letter##trsmBatched)* trsm_batched = api().cublas##letter##trsmBatched;    \
    decltype(::cublas##letter##getrfBatched)* getrf_batched = api().cublas##letter##getrfBatched; \
  };
AMBIT_TYPED(float, S)
AMBIT_TYPED(double, D)
#undef AMBIT_TYPED

/// Throw BackendError for any status but success.
void check(cublasStatus_t status, const char* call,
           SourceLocation where = SourceLocation::current());

/// The thread's handle, set to the stream and to scratch memory of the current call: the library's
/// own workspace would be shared by all streams of a handle.
class Session {
 public:
  /// Errors: BackendError, also in a capture; OutOfMemoryError.
  Session();
  cublasHandle_t handle() const { return handle_; }

 private:
  Workspace workspace_;
  cublasHandle_t handle_;
};

}  // namespace ambit::cuda::cublas
