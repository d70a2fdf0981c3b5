// Guards of devices named "cuda" and of their streams.
#pragma once

#include <ambit/device.h>
#include <c10/cuda/CUDAStream.h>

#include <optional>

namespace ambit::cuda {

class CUDAGuard : public DeviceGuard {
 public:
  explicit CUDAGuard(int device_index) : DeviceGuard(Device(kCUDA, device_index)) {}
  explicit CUDAGuard(Device device) : DeviceGuard(device) {}
};
/// A guard, or none.
class OptionalCUDAGuard {
 public:
  OptionalCUDAGuard() = default;
  explicit OptionalCUDAGuard(std::optional<Device> device) {
    if (device) guard_.emplace(*device);
  }

 private:
  std::optional<CUDAGuard> guard_;
};
using CUDAStreamGuard = StreamGuard;

}  // namespace ambit::cuda
