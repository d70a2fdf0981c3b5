// The fault reports of one thread's kernels, in host memory that all GPUs can access.
#pragma once

#include <cuda_runtime_api.h>

#include "fault.h"

namespace ambit::cuda {

/// The memory of a record is never freed, because kernels may report until the process ends.
class FaultRecord {
 public:
  /// Create a record for kernels of the current GPU. Errors: BackendError.
  FaultRecord();
  FaultRecord(const FaultRecord&) = delete;
  FaultRecord& operator=(const FaultRecord&) = delete;

  FaultSink sink(const char* op) { return {fault_, op}; }
  /// Return true if a kernel has reported a fault; final only after the host has waited.
  bool is_set() const;
  /// Throw the reported fault, if any, and clear it. Requires that the host has waited.
  void throw_if_set();

  /// Declare that no further kernels use this record; the last ones are those queued on `stream`
  /// now. Errors: BackendError.
  void retire(cudaStream_t stream);
  /// Return true if these kernels are done; is_set() is then final. Requires retire().
  bool is_done() const noexcept;

 private:
  Fault* fault_ = nullptr;
  cudaEvent_t last_use_ = nullptr;
};

}  // namespace ambit::cuda
