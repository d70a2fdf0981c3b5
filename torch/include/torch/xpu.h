// torch::xpu: devices named "xpu", if a backend has that name.
#pragma once

#include <ambit/device.h>
#include <ambit/random.h>
#include <torch/namespaces.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace torch::xpu {

inline size_t device_count() { return static_cast<size_t>(ambit::device_count("xpu")); }
inline bool is_available() { return device_count() > 0; }
/// Seed the first device, or all. Without devices do nothing.
inline void manual_seed(uint64_t seed) {
  if (is_available()) ambit::default_generator(ambit::Device("xpu")).set_seed(seed);
}
inline void manual_seed_all(uint64_t seed) {
  for (int i = 0; i < ambit::device_count("xpu"); ++i) {
    ambit::default_generator(ambit::Device("xpu:" + std::to_string(i))).set_seed(seed);
  }
}
/// Errors: BackendError if the device does not exist.
inline void synchronize(int64_t device_index) {
  ambit::synchronize(ambit::Device("xpu:" + std::to_string(device_index)));
}

}  // namespace torch::xpu
