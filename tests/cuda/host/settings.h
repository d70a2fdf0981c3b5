// The environment variables that say how the CUDA runtime on the host behaves; README.md of tests
// has the list. Read once.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ambit::cuda::host {

struct Settings {
  int gpus = 1;                                ///< AMBIT_CUDA_HOST; 0: no device
  uint64_t seed = 1;                           ///< AMBIT_CUDA_HOST_SEED, of every random choice
  bool checks = true;                          ///< AMBIT_CUDA_HOST_CHECKS, of every access
  bool peers = true;                           ///< AMBIT_CUDA_HOST_PEERS: links between the GPUs
  size_t memory_bytes = size_t{1} << 30;       ///< AMBIT_CUDA_HOST_MEMORY, in MiB, of each GPU
  int processors = 3;                          ///< AMBIT_CUDA_HOST_PROCESSORS
  int architecture = 90;                       ///< AMBIT_CUDA_HOST_ARCHITECTURE
  uint64_t failing_malloc = 0;                 ///< AMBIT_CUDA_HOST_FAIL_MALLOC: the n-th; 0: none
  uint64_t failing_launch = 0;                 ///< AMBIT_CUDA_HOST_FAIL_LAUNCH: the n-th; 0: none
  static constexpr size_t kQueueLimit = 1000;  ///< pieces of work that a stream holds
};

const Settings& settings();

}  // namespace ambit::cuda::host
