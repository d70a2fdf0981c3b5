#include "fault_record.h"

#include <new>

#include "error.h"

namespace ambit::cuda {

FaultRecord::FaultRecord() {
  check(cudaEventCreateWithFlags(&left_, cudaEventDisableTiming), "cudaEventCreateWithFlags");
  void* p = nullptr;
  check(cudaHostAlloc(&p, sizeof(Fault), cudaHostAllocMapped | cudaHostAllocPortable),
        "cudaHostAlloc");
  fault_ = new (p) Fault{};
}

bool FaultRecord::is_set() const {
  const volatile Fault& f = *fault_;
  return f.kind != FaultKind::none;
}

void FaultRecord::throw_if_set() {
  volatile Fault& f = *fault_;
  const Fault found{f.kind, f.op, f.got, f.limit};
  if (found.kind == FaultKind::none) return;
  f.kind = FaultKind::none;
  throw_fault(found);
}

void FaultRecord::leave(cudaStream_t stream) {
  check(cudaEventRecord(left_, stream), "cudaEventRecord");
}

// If the GPU has failed, no work is running either.
bool FaultRecord::is_left() const noexcept { return cudaEventQuery(left_) != cudaErrorNotReady; }

}  // namespace ambit::cuda
