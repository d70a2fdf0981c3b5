#include "cublas.h"

#include "backends/cuda/driver/error.h"
#include "backends/cuda/runtime/call.h"

namespace ambit::cuda::cublas {
namespace {

// NVIDIA's recommendation: 32 MiB from Hopper on, 4 MiB before.
size_t workspace_bytes() {
  const int major = Call::stream().gpu.properties().major;
  return size_t{major >= 9 ? 32u : 4u} << 20;
}

cublasHandle_t thread_handle() {
  GpuStream& own = Call::stream().gpu.own_stream();
  if (!own.cublas) {
    Call::expect_no_capture("a first call of cuBLAS");
    check(api().cublasCreate_v2(&own.cublas), "cublasCreate");
  }
  return own.cublas;
}

}  // namespace

const Functions& api() {
  static const auto* functions = new Functions;  // leaked: threads may use it at exit
  return *functions;
}

void check(cublasStatus_t status, const char* call, SourceLocation where) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw_failed(call, api().cublasGetStatusName(status), status, api().cublasGetStatusString(status),
               where);
}

// cublasSetStream resets the workspace.
Session::Session() : workspace_(workspace_bytes()), handle_(thread_handle()) {
  check(api().cublasSetStream_v2(handle_, Call::stream().handle), "cublasSetStream");
  check(api().cublasSetWorkspace_v2(handle_, workspace_.data(), workspace_bytes()),
        "cublasSetWorkspace");
}

}  // namespace ambit::cuda::cublas
