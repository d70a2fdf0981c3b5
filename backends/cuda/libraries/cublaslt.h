// cuBLASLt's functions, and owners of its descriptors. The library is opened on first use.
#pragma once

#include <cublasLt.h>

#include <memory>

#include "backends/cuda/driver/source_location.h"
#include "library.h"

namespace ambit::cuda::cublaslt {

/// Function pointers, named as in the library.
struct Functions {
  Library library{"libcublasLt.so.13", "libcublasLt.so.12"};
#define AMBIT_CUBLASLT(name) decltype(::name)* name = library.find<decltype(::name)>(#name)
  AMBIT_CUBLASLT(cublasLtCreate);
  AMBIT_CUBLASLT(cublasLtGetStatusName);
  AMBIT_CUBLASLT(cublasLtGetStatusString);
  AMBIT_CUBLASLT(cublasLtMatmul);
  AMBIT_CUBLASLT(cublasLtMatmulAlgoGetHeuristic);
  AMBIT_CUBLASLT(cublasLtMatmulDescCreate);
  AMBIT_CUBLASLT(cublasLtMatmulDescDestroy);
  AMBIT_CUBLASLT(cublasLtMatmulDescSetAttribute);
  AMBIT_CUBLASLT(cublasLtMatrixLayoutCreate);
  AMBIT_CUBLASLT(cublasLtMatrixLayoutDestroy);
  AMBIT_CUBLASLT(cublasLtMatrixLayoutSetAttribute);
  AMBIT_CUBLASLT(cublasLtMatmulPreferenceCreate);
  AMBIT_CUBLASLT(cublasLtMatmulPreferenceDestroy);
  AMBIT_CUBLASLT(cublasLtMatmulPreferenceSetAttribute);
#undef AMBIT_CUBLASLT
};
const Functions& api();

/// Throw BackendError for any status but success.
void check(cublasStatus_t status, const char* call,
           SourceLocation where = SourceLocation::current());

/// Return the thread's handle.
cublasLtHandle_t handle();

struct Destroy {
  void operator()(cublasLtMatmulDesc_t d) const { api().cublasLtMatmulDescDestroy(d); }
  void operator()(cublasLtMatrixLayout_t d) const { api().cublasLtMatrixLayoutDestroy(d); }
  void operator()(cublasLtMatmulPreference_t d) const { api().cublasLtMatmulPreferenceDestroy(d); }
};
template <class Handle>
using Owner = std::unique_ptr<std::remove_pointer_t<Handle>, Destroy>;
using MatmulDesc = Owner<cublasLtMatmulDesc_t>;
using MatrixLayout = Owner<cublasLtMatrixLayout_t>;
using Preference = Owner<cublasLtMatmulPreference_t>;

/// Errors of all: BackendError.
MatmulDesc matmul_desc(cublasComputeType_t compute, cudaDataType_t scale);
MatrixLayout matrix_layout(cudaDataType_t type, int64_t rows, int64_t columns, int64_t ld);
Preference preference();

template <class T>
void set(const MatmulDesc& d, cublasLtMatmulDescAttributes_t name, const T& value) {
  check(api().cublasLtMatmulDescSetAttribute(d.get(), name, &value, sizeof(value)),
        "cublasLtMatmulDescSetAttribute");
}
template <class T>
void set(const MatrixLayout& d, cublasLtMatrixLayoutAttribute_t name, const T& value) {
  check(api().cublasLtMatrixLayoutSetAttribute(d.get(), name, &value, sizeof(value)),
        "cublasLtMatrixLayoutSetAttribute");
}
template <class T>
void set(const Preference& d, cublasLtMatmulPreferenceAttributes_t name, const T& value) {
  check(api().cublasLtMatmulPreferenceSetAttribute(d.get(), name, &value, sizeof(value)),
        "cublasLtMatmulPreferenceSetAttribute");
}

}  // namespace ambit::cuda::cublaslt
