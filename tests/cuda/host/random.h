// The single source of random choices: of blocks, threads, switches and streams.
#pragma once

#include <cstdint>

namespace ambit::cuda::host {

/// Return a number in [0, bound). Seeded by AMBIT_CUDA_HOST_SEED; thread-safe.
uint32_t random_number(uint32_t bound);

}  // namespace ambit::cuda::host
