// Reports invalid data found by kernels: an index out of range, a divisor of 0. The kernel skips
// the element and writes a record to host memory; the next time the host waits for the GPU, the
// record becomes the exception that other backends throw at once.
#pragma once

#include <ambit/api.h>

#include <cstdint>

namespace ambit::cuda {

enum class FaultKind : int32_t { none, index, target, divisor, quotient, pivot, claim };

/// Written by kernels; read by the host after it has waited.
struct Fault {
  FaultKind kind;
  const char* op;  // host address of a name with static lifetime, or the text of a claim
  int64_t got;
  int64_t limit;  // the bound of an index, target or pivot; for a quotient its DType
};

/// Passed to kernels for reporting.
struct FaultSink {
  volatile Fault* fault;
  const char* op;

  /// Any thread may call it. If one kernel makes several reports, any one of them is kept. Reports
  /// of later kernels are dropped.
  AMBIT_HOST_DEVICE void report(FaultKind kind, int64_t got, int64_t limit) const {
    if (fault->kind != FaultKind::none) return;
    fault->op = op;
    fault->got = got;
    fault->limit = limit;
#ifdef __CUDA_ARCH__
    __threadfence_system();
#endif
    fault->kind = kind;
  }
};

/// Throw the exception of a fault: IndexError for an index, target or pivot, otherwise Error.
[[noreturn]] void throw_fault(const Fault& fault);

}  // namespace ambit::cuda
