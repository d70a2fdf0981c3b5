// Environment variables of the emulated CUDA runtime; tests/README.md has the list. Read once.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ambit::cuda::host {

struct Settings {
  int gpus = 1;                                ///< AMBIT_CUDA_HOST; 0: no device
  uint64_t seed = 1;                           ///< AMBIT_CUDA_HOST_SEED, of all random choices
  bool checks = true;                          ///< AMBIT_CUDA_HOST_CHECKS, of all accesses
  bool peers = true;                           ///< AMBIT_CUDA_HOST_PEERS: links between GPUs
  size_t memory_bytes = size_t{1} << 30;       ///< AMBIT_CUDA_HOST_MEMORY, in MiB, per GPU
  int processors = 3;                          ///< AMBIT_CUDA_HOST_PROCESSORS
  int architecture = 90;                       ///< AMBIT_CUDA_HOST_ARCHITECTURE
  uint64_t failing_malloc = 0;                 ///< AMBIT_CUDA_HOST_FAIL_MALLOC: n-th one; 0: none
  uint64_t failing_launch = 0;                 ///< AMBIT_CUDA_HOST_FAIL_LAUNCH: n-th one; 0: none
  static constexpr size_t kQueueLimit = 1000;  ///< capacity of a stream, in pieces of work
};

const Settings& settings();

}  // namespace ambit::cuda::host
