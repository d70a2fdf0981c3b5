#include "cublaslt.h"

#include "backends/cuda/driver/error.h"
#include "backends/cuda/runtime/call.h"

namespace ambit::cuda::cublaslt {

const Functions& api() {
  static const auto* functions = new Functions;  // leaked: descriptors are destroyed until exit
  return *functions;
}

void check(cublasStatus_t status, const char* call, SourceLocation where) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw_failed(call, api().cublasLtGetStatusName(status), status,
               api().cublasLtGetStatusString(status), where);
}

cublasLtHandle_t handle() {
  GpuStream& own = Call::stream().gpu.own_stream();  // the handle is independent of the stream
  if (!own.cublaslt) {
    Call::expect_no_capture("a first call of cuBLASLt");
    check(api().cublasLtCreate(&own.cublaslt), "cublasLtCreate");
  }
  return own.cublaslt;
}

MatmulDesc matmul_desc(cublasComputeType_t compute, cudaDataType_t scale) {
  cublasLtMatmulDesc_t d = nullptr;
  check(api().cublasLtMatmulDescCreate(&d, compute, scale), "cublasLtMatmulDescCreate");
  return MatmulDesc(d);
}

MatrixLayout matrix_layout(cudaDataType_t type, int64_t rows, int64_t columns, int64_t ld) {
  cublasLtMatrixLayout_t d = nullptr;
  check(api().cublasLtMatrixLayoutCreate(&d, type, static_cast<uint64_t>(rows),
                                         static_cast<uint64_t>(columns), ld),
        "cublasLtMatrixLayoutCreate");
  return MatrixLayout(d);
}

Preference preference() {
  cublasLtMatmulPreference_t d = nullptr;
  check(api().cublasLtMatmulPreferenceCreate(&d), "cublasLtMatmulPreferenceCreate");
  return Preference(d);
}

}  // namespace ambit::cuda::cublaslt
