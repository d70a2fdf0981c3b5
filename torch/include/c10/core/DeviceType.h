// Kinds of devices by libtorch's names: any of them is one of ambit's where a backend bears its
// name.
#pragma once

#include <ambit/tensor_options.h>
#include <torch/namespaces.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

namespace c10 {

using DeviceIndex = int8_t;

inline constexpr ambit::DeviceType kHIP{"hip"}, kFPGA{"fpga"}, kORT{"ort"}, kXLA{"xla"},
    kMPS{"mps"}, kVulkan{"vulkan"}, kMetal{"metal"}, kXPU{"xpu"}, kHPU{"hpu"}, kVE{"ve"},
    kLazy{"lazy"}, kIPU{"ipu"}, kPrivateUse1{"privateuseone"};

}  // namespace c10

namespace ambit {

/// Options of the cuda device of that index.
inline TensorOptions device_index(int16_t index) { return TensorOptions(Device(kCUDA, index)); }

}  // namespace ambit

template <>
struct std::hash<ambit::DeviceType> {
  size_t operator()(ambit::DeviceType type) const noexcept {
    return std::hash<std::string_view>()(type);
  }
};
