#include "error.h"

#include <ambit/error.h>
#include <fmt/format.h>

#include "stream.h"

namespace ambit::cuda {
namespace {

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// Return " on cuda:<index>" for error messages; empty outside of a call.
std::string on_device() {
  const GpuStream* stream = current_work().stream;
  return stream ? fmt::format(" on cuda:{}", stream->device) : "";
}

// Return the sticky error of earlier work, if any. It makes cuDNN and cuBLASLt fail, too, with
// status codes that do not name the cause.
cudaError_t final_error(cudaError_t status) {
  if (is_sticky(status)) return status;
  const GpuStream* stream = current_work().stream;
  if (stream && stream->capture) return cudaSuccess;  // captured work does not run
  const cudaError_t earlier = stream ? cudaStreamQuery(stream->handle) : cudaSuccess;
  return is_sticky(earlier) ? earlier : cudaSuccess;
}

[[noreturn]] void throw_text(std::string_view call, std::string_view code_name, int code,
                             std::string text, cudaError_t status, const SourceLocation& where) {
  const cudaError_t final = final_error(status);
  static_cast<void>(cudaGetLastError());  // clear it, or the next check would report it again
  if (final != cudaSuccess) {
    if (final != status) text += fmt::format(", after {}", cudaGetErrorName(final));
    text += "; this process can no longer use the GPU; start it again";
  }
  throw BackendError(fmt::format("{}: expected {} to succeed{}, got {} ({}): {} ({}:{})",
                                 current_work().op, call, on_device(), code_name, code, text,
                                 file_name(where.file_name()), where.line()));
}

}  // namespace

void throw_failed(std::string_view call, std::string_view code_name, int code,
                  std::string_view text, SourceLocation where) {
  throw_text(call, code_name, code, std::string(text), cudaSuccess, where);
}

void throw_failed(std::string_view call, cudaError_t status, SourceLocation where) {
  throw_text(call, cudaGetErrorName(status), status, cudaGetErrorString(status), status, where);
}

// Source: the CUDA runtime's documentation of each code ("the process must be terminated and
// relaunched").
bool is_sticky(cudaError_t status) noexcept {
  // CUDA 12.0 does not define their names: cudaErrorContained, cudaErrorTensorMemoryLeak.
  if (status == static_cast<cudaError_t>(226) || status == static_cast<cudaError_t>(721)) {
    return true;
  }
  switch (status) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorECCUncorrectable:
    case cudaErrorMpsClientTerminated:
    case cudaErrorExternalDevice:
      return true;
    default:
      return false;
  }
}

}  // namespace ambit::cuda
