#include "fault_record.h"

#include <new>

#include "error.h"

namespace ambit::cuda {

FaultRecord::FaultRecord() {
  check(cudaEventCreateWithFlags(&last_use_, cudaEventDisableTiming), "cudaEventCreateWithFlags");
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

void FaultRecord::retire(cudaStream_t stream) {
  check(cudaEventRecord(last_use_, stream), "cudaEventRecord");
}

// A status other than success and "not ready" is an error, after which no work is running.
bool FaultRecord::is_done() const noexcept {
  return cudaEventQuery(last_use_) != cudaErrorNotReady;
}

}  // namespace ambit::cuda
