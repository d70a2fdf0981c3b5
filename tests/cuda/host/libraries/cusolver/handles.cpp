#include "handles.h"

#include <memory>

#include "tests/cuda/host/libraries/handle.h"

namespace ambit::cuda::host::cusolver {

// All these objects are leaked, because programs use their handles until exit.
Live<cusolverDnContext>& handles() {
  static auto* live = new Live<cusolverDnContext>("cusolverDnHandle_t");
  return *live;
}
Live<syevjInfo>& syevj_parameters() {
  static auto* live = new Live<syevjInfo>("syevjInfo_t");
  return *live;
}
Live<gesvdjInfo>& gesvdj_parameters() {
  static auto* live = new Live<gesvdjInfo>("gesvdjInfo_t");
  return *live;
}

}  // namespace ambit::cuda::host::cusolver

using namespace ambit::cuda::host;
using namespace ambit::cuda::host::cusolver;

extern "C" {

cusolverStatus_t cusolverGetVersion(int* version) {
  if (!version) return CUSOLVER_STATUS_INVALID_VALUE;
  *version = CUSOLVER_VERSION;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle) {
  if (!handle) return CUSOLVER_STATUS_INVALID_VALUE;
  return create_handle(handles(), handle) ? CUSOLVER_STATUS_SUCCESS
                                          : CUSOLVER_STATUS_NOT_INITIALIZED;
}

cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream) {
  if (!handle) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (!set_stream(handles().get(handle), stream)) {
    misuse("cusolverDnSetStream: expected a stream of the handle's device");
  }
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnCreateSyevjInfo(syevjInfo_t* info) {
  *info = syevj_parameters().add(std::make_unique<syevjInfo>());
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnCreateGesvdjInfo(gesvdjInfo_t* info) {
  *info = gesvdj_parameters().add(std::make_unique<gesvdjInfo>());
  return CUSOLVER_STATUS_SUCCESS;
}

}  // extern "C"
