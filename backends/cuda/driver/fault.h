// How a kernel tells of bad data that it meets: an index out of range, a divisor of 0. It skips the
// element and writes a note into host memory; the next time the host waits for the GPU, the note
// becomes the exception that other backends throw at once.
#pragma once

#include <ambit/api.h>

#include <cstdint>

namespace ambit::cuda {

enum class FaultKind : int32_t { none, index, target, divisor, quotient, pivot, claim };

/// Written by kernels, read by the host after it has waited.
struct Fault {
  FaultKind kind;
  const char* op;  // the host's address of a name that stays, or of a claim's words
  int64_t got;
  int64_t limit;  // the bound of an index, target or pivot; for a quotient its DType
};

/// What a kernel is given to report with.
struct FaultSink {
  volatile Fault* fault;
  const char* op;

  /// Any thread may; of several in one kernel it is open which is told. The first kernel's stays.
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

/// Throw the exception of a fault: IndexError for an index, target or pivot, else Error.
[[noreturn]] void throw_fault(const Fault& fault);

}  // namespace ambit::cuda
