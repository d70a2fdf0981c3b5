#include "report_unless.h"

#include "backends/cuda/runtime/launch.h"

namespace ambit::cuda {
namespace {

__global__ void report_if_false(const bool* fact, FaultSink faults) {
  if (!*fact) faults.report(FaultKind::claim, 0, 0);
}

}  // namespace

void report_unless(const void* fact, FaultSink faults) {
  launch(report_if_false, Grid{1, 1}, static_cast<const bool*>(fact), faults);
}

}  // namespace ambit::cuda
