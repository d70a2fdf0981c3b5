// Common parts of the emulated cuSOLVER functions: check the handle, compute the workspace size,
// and queue work.
#pragma once

#include <cusolverDn.h>

#include "tests/cuda/host/libraries/by_columns.h"
#include "tests/cuda/host/libraries/live.h"

/// A handle, bound to the device that was current.
struct cusolverDnContext {
  int device = 0;
  cudaStream_t stream = nullptr;
};
struct syevjInfo {};
struct gesvdjInfo {};

namespace ambit::cuda::host::cusolver {

Live<cusolverDnContext>& handles();
Live<syevjInfo>& syevj_parameters();
Live<gesvdjInfo>& gesvdj_parameters();

/// Return the workspace size, in elements, of every function for m rows and n columns; each fills
/// it with NaN.
inline int64_t work_size(int64_t m, int64_t n, int64_t batch = 1) {
  return 32 + 16 * (m + n) * batch;
}

/// NOT_INITIALIZED without a handle, INVALID_VALUE if `valid` is false.
inline cusolverStatus_t check(cusolverDnHandle_t handle, bool valid) {
  if (!handle) return CUSOLVER_STATUS_NOT_INITIALIZED;
  handles().get(handle);
  return valid ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_INVALID_VALUE;
}

/// Return the workspace size of a function, if the query is valid.
inline cusolverStatus_t query_size(cusolverDnHandle_t handle, bool valid, int64_t elements,
                                   int* to) {
  const cusolverStatus_t status = check(handle, valid && to);
  if (status == CUSOLVER_STATUS_SUCCESS) *to = static_cast<int>(elements);
  return status;
}

template <class T, class Work>
cusolverStatus_t queue(cusolverDnHandle_t handle, const char* name, T* workspace, int64_t elements,
                       const Work& work) {
  const auto all = [=] {
    scribble(workspace, static_cast<size_t>(elements) * sizeof(T));
    const cpu::OneThread one;
    work();
  };
  return enqueue(handles().get(handle).stream, name, all) == cudaSuccess
             ? CUSOLVER_STATUS_SUCCESS
             : CUSOLVER_STATUS_EXECUTION_FAILED;
}

/// Abort for NaN and inf, with which the real iterative functions fail or do not terminate.
template <class T>
void expect_finite(const char* name, const std::vector<T>& values) {
  if (!is_finite(values)) misuse(std::string(name) + ": expected finite numbers");
}

template <class T>
std::vector<T> nan_in_place_of(const std::vector<T>& values) {
  return std::vector<T>(values.size(), std::numeric_limits<T>::quiet_NaN());
}

}  // namespace ambit::cuda::host::cusolver
