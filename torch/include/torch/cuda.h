// torch::cuda: devices named "cuda", also a simulated one.
#pragma once

#include <ambit/device.h>
#include <ambit/memory.h>
#include <ambit/random.h>
#include <torch/namespaces.h>

#include <cstdint>

namespace ambit::cuda {

/// Whether convolutions have a library there, as they have wherever the backend has a device.
inline bool cudnn_is_available() { return is_available(); }
/// Seed one device's generator, the first one's without an index. Without devices it does nothing.
inline void manual_seed(uint64_t seed) {
  if (is_available()) default_generator(Device(kCUDA)).set_seed(seed);
}
/// Seed the generators of all of them.
inline void manual_seed_all(uint64_t seed) {
  for (int i = 0; i < device_count(); ++i) default_generator(Device(kCUDA, i)).set_seed(seed);
}

}  // namespace ambit::cuda
