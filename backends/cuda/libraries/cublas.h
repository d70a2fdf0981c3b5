// cuBLAS's functions, of which cuBLASLt has products alone: triangular systems, and factors of many
// small matrices at once. The library is opened at the first use of anything here.
#pragma once

#include <cublas_v2.h>

#include "backends/cuda/driver/source_location.h"
#include "backends/cuda/runtime/workspace.h"
#include "library.h"

/// Every function that is opened, by its name in the library, as row(name).
#define AMBIT_CUBLAS_FUNCTIONS(row)                                                                \
  row(cublasCreate_v2) row(cublasSetStream_v2) row(cublasSetWorkspace_v2) row(cublasGetStatusName) \
      row(cublasGetStatusString) row(cublasStrsm_v2) row(cublasDtrsm_v2) row(cublasStrsmBatched)   \
          row(cublasDtrsmBatched) row(cublasSgetrfBatched) row(cublasDgetrfBatched)

namespace ambit::cuda::cublas {

/// The functions, by their own names.
struct Functions {
  Library library{"libcublas.so.13", "libcublas.so.12"};
#define AMBIT_ROW(name) decltype(::name)* name = library.find<decltype(::name)>(#name);
  AMBIT_CUBLAS_FUNCTIONS(AMBIT_ROW)
#undef AMBIT_ROW
};
const Functions& api();

/// Those of one dtype.
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

/// The thread's handle, at work on the stream of the Call at work, with scratch memory of that
/// call: the library's own would be shared by the streams that one handle serves in turn.
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
