// torch::mps: devices named "mps", if a backend has that name.
#pragma once

#include <ambit/device.h>
#include <ambit/random.h>
#include <torch/lacks.h>

#include <cstdint>

namespace torch::mps {

inline bool is_available() { return ambit::is_available("mps"); }
/// Set the seed of the mps device; without such a device do nothing.
inline void manual_seed(uint64_t seed) {
  if (is_available()) ambit::default_generator(ambit::Device("mps")).set_seed(seed);
}
inline void synchronize() {
  if (is_available()) ambit::synchronize(ambit::Device("mps"));
}
AMBIT_TORCH_LACKS_FUNCTION(commit, "ambit has no Metal command buffers");
AMBIT_TORCH_LACKS_FUNCTION(get_command_buffer, "ambit has no Metal command buffers");
AMBIT_TORCH_LACKS_FUNCTION(get_dispatch_queue, "ambit has no Metal command buffers");

}  // namespace torch::mps
