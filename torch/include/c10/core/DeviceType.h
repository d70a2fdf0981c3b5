// Device types under libtorch's names; each is available if a backend has its name.
#pragma once

#include <ambit/device.h>
#include <ambit/tensor_options.h>
#include <torch/namespaces.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace c10 {

using DeviceIndex = int8_t;

inline constexpr ambit::DeviceType kHIP{"hip"}, kFPGA{"fpga"}, kORT{"ort"}, kXLA{"xla"},
    kMPS{"mps"}, kVulkan{"vulkan"}, kMetal{"metal"}, kXPU{"xpu"}, kHPU{"hpu"}, kVE{"ve"},
    kLazy{"lazy"}, kIPU{"ipu"}, kPrivateUse1{"privateuseone"};

/// A DeviceGuard that is inactive until reset_device() sets a device.
class OptionalDeviceGuard {
 public:
  OptionalDeviceGuard() = default;
  explicit OptionalDeviceGuard(std::optional<ambit::Device> device) {
    if (device) guard_.emplace(*device);
  }

  void reset_device(ambit::Device device) {
    if (guard_) {
      guard_->reset_device(device);
    } else {
      guard_.emplace(device);
    }
  }
  std::optional<ambit::Device> original_device() const {
    return guard_ ? std::optional(guard_->original_device()) : std::nullopt;
  }
  std::optional<ambit::Device> current_device() const {
    return guard_ ? std::optional(guard_->current_device()) : std::nullopt;
  }

 private:
  std::optional<ambit::DeviceGuard> guard_;
};

}  // namespace c10

namespace ambit {

/// Return options with the cuda device of that index.
inline TensorOptions device_index(int16_t index) { return TensorOptions(Device(kCUDA, index)); }

}  // namespace ambit

template <>
struct std::hash<ambit::DeviceType> {
  size_t operator()(ambit::DeviceType type) const noexcept {
    return std::hash<std::string_view>()(type);
  }
};
