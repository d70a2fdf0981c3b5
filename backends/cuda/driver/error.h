// Exceptions for failed calls of the CUDA runtime and libraries, with a common message format. Each
// library has a check(status, call) that calls throw_failed().
#pragma once

#include <cuda_runtime_api.h>

#include <string>
#include <string_view>

#include "source_location.h"

namespace ambit::cuda {

/// Throw BackendError: "convolution: expected cudnnBackendExecute to succeed on cuda:0, got
/// CUDNN_STATUS_EXECUTION_FAILED (5000): <text> (conv.cpp:81)". The op is that of the current Call.
[[noreturn]] void throw_failed(std::string_view call, std::string_view code_name, int code,
                               std::string_view text,
                               SourceLocation where = SourceLocation::current());

/// As above, for a CUDA error; the message says if it is sticky.
[[noreturn]] void throw_failed(std::string_view call, cudaError_t status,
                               SourceLocation where = SourceLocation::current());

/// Return true if no CUDA call of this process can succeed after the error.
bool is_sticky(cudaError_t status) noexcept;

/// Check the status of a CUDA runtime function: check(cudaSetDevice(1), "cudaSetDevice").
inline void check(cudaError_t status, const char* call,
                  SourceLocation where = SourceLocation::current()) {
  if (status != cudaSuccess) [[unlikely]] {
    throw_failed(call, status, where);
  }
}

}  // namespace ambit::cuda
