// Guards of devices named "cuda".
#pragma once

#include <ambit/device.h>
#include <torch/namespaces.h>

namespace c10::cuda {

using CUDAGuard = ambit::DeviceGuard;

}  // namespace c10::cuda

namespace at::cuda {

using CUDAGuard = ambit::DeviceGuard;

}  // namespace at::cuda
