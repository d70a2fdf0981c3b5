// What a failed call of the CUDA runtime or a library throws: one text for all of them. Each
// library has one check(status, call) that leads here.
#pragma once

#include <cuda_runtime_api.h>

#include <string>
#include <string_view>

#include "source_location.h"

namespace ambit::cuda {

/// Throw BackendError: "convolution: expected cudnnBackendExecute to succeed on cuda:0, got
/// CUDNN_STATUS_EXECUTION_FAILED (5000): <text> (conv.cpp:81)". The op is that of the Call at work.
[[noreturn]] void throw_failed(std::string_view call, std::string_view code_name, int code,
                               std::string_view text,
                               SourceLocation where = SourceLocation::current());

/// The same of a CUDA error, which is told to be final where it is.
[[noreturn]] void throw_failed(std::string_view call, cudaError_t status,
                               SourceLocation where = SourceLocation::current());

/// Whether no CUDA call of this process can succeed after the error.
bool is_sticky(cudaError_t status) noexcept;

/// Check what a function of the CUDA runtime returned: check(cudaSetDevice(1), "cudaSetDevice").
inline void check(cudaError_t status, const char* call,
                  SourceLocation where = SourceLocation::current()) {
  if (status != cudaSuccess) [[unlikely]] {
    throw_failed(call, status, where);
  }
}

}  // namespace ambit::cuda
