// A kernel without an op in core: reports a violated claim when the host next waits.
#pragma once

#include "backends/cuda/driver/fault.h"

namespace ambit::cuda {

/// Queue a kernel that reports FaultKind::claim unless the bool at `fact` is true when it runs.
void report_unless(const void* fact, FaultSink faults);

}  // namespace ambit::cuda
