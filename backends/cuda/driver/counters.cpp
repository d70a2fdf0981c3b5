#include "counters.h"

#include "backends/cuda/include/ambit/cuda_counters.h"

extern "C" AMBIT_API void ambit_cuda_counters(ambit::cuda::Counters* to) {
  using namespace ambit::cuda;
  *to = {counted_allocations, counted_waits, counted_calls, counted_fault_records};
}
