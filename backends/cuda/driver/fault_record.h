// The note that the kernels of one thread leave, in host memory that all GPUs reach.
#pragma once

#include <cuda_runtime_api.h>

#include "fault.h"

namespace ambit::cuda {

/// Its memory is never freed: kernels may report as long as the process lives.
class FaultRecord {
 public:
  /// For kernels of the current GPU. Errors: BackendError.
  FaultRecord();
  FaultRecord(const FaultRecord&) = delete;
  FaultRecord& operator=(const FaultRecord&) = delete;

  FaultSink sink(const char* op) { return {fault_, op}; }
  /// Whether a kernel has reported something. It may yet, while the host has not waited.
  bool is_set() const;
  /// Throw what a kernel has reported, and forget it. Requires: the host has waited.
  void throw_if_set();

  /// Say that no kernel gets this record any more: the last ones that have it are those on `stream`
  /// now. Errors: BackendError.
  void leave(cudaStream_t stream);
  /// Whether these are done; then is_set() stays as it is. Requires: leave().
  bool is_left() const noexcept;

 private:
  Fault* fault_ = nullptr;
  cudaEvent_t left_ = nullptr;
};

}  // namespace ambit::cuda
