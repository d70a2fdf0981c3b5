// torch::cuda: devices named "cuda", including a simulated one.
#pragma once

#include <ambit/device.h>
#include <ambit/memory.h>
#include <ambit/random.h>
#include <torch/namespaces.h>

#include <cstdint>

namespace ambit::cuda {

/// Return true if there is a device: its backend always has a convolution library.
inline bool cudnn_is_available() { return is_available(); }
/// Seed the generator of one device, by default the first one. Without devices do nothing.
inline void manual_seed(uint64_t seed) {
  if (is_available()) default_generator(Device(kCUDA)).set_seed(seed);
}
/// Seed the generators of all cuda devices.
inline void manual_seed_all(uint64_t seed) {
  for (int i = 0; i < device_count(); ++i) default_generator(Device(kCUDA, i)).set_seed(seed);
}

}  // namespace ambit::cuda
