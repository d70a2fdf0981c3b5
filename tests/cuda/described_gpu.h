// A GPU that is only described, which is enough for cuDNN to say what it would run there.
#pragma once

#include <string_view>

#include "backends/cuda/libraries/conv_plan.h"

namespace ambit::cuda {

/// An H200, in the form that cuDNN 9.8 and newer write and read.
inline constexpr std::string_view kDescribedGpu = R"({
  "deviceVer": 900, "driverVer": 13000, "cudaDeviceId": 0, "totalGlobalMem": 150000000000,
  "maxGridSize": [2147483647, 65535, 65535], "maxBlockSize": [1024, 1024, 64],
  "regsPerBlock": 65536, "multiProcessorCount": 132, "warpSize": 32,
  "maxSharedMemoryPerBlock": 49152, "maxSharedMemoryPerBlockOptin": 232448,
  "reservedSharedMemoryPerBlock": 1024, "maxRegistersPerSM": 65536, "maxCtasPerSM": 32,
  "maxThreadsPerBlock": 1024, "maxThreadsPerSM": 2048, "pciDeviceId": 0, "isTccDriver": 0,
  "supportCoopLaunch": 1, "smClockRateKHz": 1980000, "memClockRateKHz": 3201000,
  "l2CacheSize": 62914560, "deviceName": "NVIDIA H200"})";

inline ConvTarget described_gpu() {
  static const auto* properties = [] {
    auto* d = new cudnn::Descriptor(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
    d->set(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION,
           std::span<const char>(kDescribedGpu.data(), kDescribedGpu.size()));
    d->finalize();
    return d;
  }();
  return {nullptr, properties};
}

inline ConvProblem conv_problem(Dims x, Dims w, const ConvParams& params = {}) {
  const Dims y = params.out_sizes("conv2d", x, w);
  return {ConvKind::forward, kFloat32, std::move(x), std::move(w), y, params};
}

}  // namespace ambit::cuda
