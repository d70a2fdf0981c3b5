#include "cusolver.h"

#include <ambit/error.h>
#include <fmt/format.h>

#include "backends/cuda/driver/error.h"
#include "backends/cuda/runtime/call.h"
#include "cublas.h"

namespace ambit::cuda::cusolver {
namespace {

// The library has no function for status names.
const char* name_of(cusolverStatus_t status) {
  switch (status) {
#define AMBIT_NAME(name) \
  case name:             \
    return #name;
    AMBIT_NAME(CUSOLVER_STATUS_NOT_INITIALIZED)
    AMBIT_NAME(CUSOLVER_STATUS_ALLOC_FAILED)
    AMBIT_NAME(CUSOLVER_STATUS_INVALID_VALUE)
    AMBIT_NAME(CUSOLVER_STATUS_ARCH_MISMATCH)
    AMBIT_NAME(CUSOLVER_STATUS_EXECUTION_FAILED)
    AMBIT_NAME(CUSOLVER_STATUS_INTERNAL_ERROR)
    AMBIT_NAME(CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED)
    AMBIT_NAME(CUSOLVER_STATUS_NOT_SUPPORTED)
#undef AMBIT_NAME
    default:
      return "a status of cuSOLVER";
  }
}

}  // namespace

const Functions& api() {
  static const auto* functions = new Functions;  // leaked: threads may use it at exit
  return *functions;
}

const std::string& missing() {
  static const auto* const reason = [] {
    try {
      api();
      cublas::api();
    } catch (const BackendError& e) {
      return new std::string(e.what());
    }
    return new std::string;
  }();
  return *reason;
}

std::string version() {
  if (!missing().empty()) return fmt::format("none ({}); the CPU's kernels run instead", missing());
  int version = 0;
  check(api().cusolverGetVersion(&version), "cusolverGetVersion");
  return fmt::format("{}.{}.{}", version / 1000, version / 100 % 10, version % 100);
}

void check(cusolverStatus_t status, const char* call, SourceLocation where) {
  if (status == CUSOLVER_STATUS_SUCCESS) return;
  throw_failed(call, name_of(status), status, "", where);
}

cusolverDnHandle_t handle() {
  Call::expect_no_capture("factors of matrices by cuSOLVER, which waits for the GPU");
  GpuStream& own = Call::stream().gpu.own_stream();
  if (!own.cusolver) check(api().cusolverDnCreate(&own.cusolver), "cusolverDnCreate");
  if (own.cusolver_works_on != Call::stream().handle) {
    check(api().cusolverDnSetStream(own.cusolver, Call::stream().handle), "cusolverDnSetStream");
    own.cusolver_works_on = Call::stream().handle;
  }
  return own.cusolver;
}

syevjInfo_t syevj_parameters() {
  GpuStream& own = Call::stream().gpu.own_stream();
  if (!own.syevj) check(api().cusolverDnCreateSyevjInfo(&own.syevj), "cusolverDnCreateSyevjInfo");
  return own.syevj;
}

gesvdjInfo_t gesvdj_parameters() {
  GpuStream& own = Call::stream().gpu.own_stream();
  if (!own.gesvdj) {
    check(api().cusolverDnCreateGesvdjInfo(&own.gesvdj), "cusolverDnCreateGesvdjInfo");
  }
  return own.gesvdj;
}

}  // namespace ambit::cuda::cusolver
