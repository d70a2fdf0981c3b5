// The note that the kernels of one GPU leave, in host memory that they reach.
#pragma once

#include "fault.h"

namespace ambit::cuda {

class FaultRecord {
 public:
  /// Errors: BackendError.
  FaultRecord();
  FaultRecord(const FaultRecord&) = delete;
  FaultRecord& operator=(const FaultRecord&) = delete;

  FaultSink sink(const char* op) { return {fault_, op}; }
  /// Throw what a kernel has reported, and forget it. Requires: the host has waited.
  void throw_if_set();

 private:
  Fault* fault_ = nullptr;
};

}  // namespace ambit::cuda
