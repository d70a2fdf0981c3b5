// The one source of every random choice: blocks, threads, switches, which stream goes on.
#pragma once

#include <cstdint>

namespace ambit::cuda::host {

/// Return a number in [0, bound). Seeded by AMBIT_CUDA_HOST_SEED; any thread may ask.
uint32_t random_number(uint32_t bound);

}  // namespace ambit::cuda::host
