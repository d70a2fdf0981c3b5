// Number of devices named "cuda", and the current one, Device(kCUDA).
#pragma once

#include <ambit/device.h>
#include <c10/core/DeviceType.h>

namespace ambit::cuda {

inline c10::DeviceIndex current_device() {
  return static_cast<c10::DeviceIndex>(Device(kCUDA).index());
}

}  // namespace ambit::cuda
