// A kernel that no op of core is: what must be true, and is not, is told when the host next waits.
#pragma once

#include "backends/cuda/driver/fault.h"

namespace ambit::cuda {

/// Queue a report of FaultKind::claim unless the bool at `fact` is true then.
void report_unless(const void* fact, FaultSink faults);

}  // namespace ambit::cuda
