// The note that the kernels of one thread leave, in host memory that all GPUs reach.
#pragma once

#include "fault.h"

namespace ambit::cuda {

/// Its memory is never freed: kernels may report as long as the process lives.
class FaultRecord {
 public:
  /// Errors: BackendError.
  FaultRecord();
  FaultRecord(const FaultRecord&) = delete;
  FaultRecord& operator=(const FaultRecord&) = delete;

  FaultSink sink(const char* op) { return {fault_, op}; }
  /// Whether a kernel has reported something. It may yet, while the host has not waited.
  bool is_set() const;
  /// Throw what a kernel has reported, and forget it. Requires: the host has waited.
  void throw_if_set();

 private:
  Fault* fault_ = nullptr;
};

}  // namespace ambit::cuda
