#include "error.h"

#include <ambit/error.h>
#include <fmt/format.h>

#include "call.h"

namespace ambit::cuda {
namespace {

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// Where there is no current device to name, the call alone says enough.
std::string on_device() {
  const Stream* stream = Call::stream_or_null();
  return stream ? " on " + stream->gpu.name() : "";
}

}  // namespace

void throw_failed(std::string_view call, std::string_view code_name, int code,
                  std::string_view text, SourceLocation where) {
  throw BackendError(fmt::format("{}: expected {} to succeed{}, got {} ({}): {} ({}:{})",
                                 Call::op(), call, on_device(), code_name, code, text,
                                 file_name(where.file_name()), where.line()));
}

void throw_failed(std::string_view call, cudaError_t status, SourceLocation where) {
  static_cast<void>(cudaGetLastError());  // or the next check would meet it again
  std::string text = cudaGetErrorString(status);
  if (is_sticky(status)) {
    text += "; the GPU's memory is lost to this process, which must be started again";
  }
  throw_failed(call, cudaGetErrorName(status), status, text, where);
}

// Source: the CUDA runtime's description of each code ("the process must be terminated and
// relaunched").
bool is_sticky(cudaError_t status) noexcept {
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
      return true;
    default:
      return false;
  }
}

}  // namespace ambit::cuda
