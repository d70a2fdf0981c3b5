// Descriptions of GPUs, from which cuDNN selects engines without the GPU.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "backends/cuda/libraries/conv_plan.h"

namespace ambit::cuda {

/// Properties of a GPU; shared memory and caches in bytes, clocks in kHz.
struct GpuFigures {
  const char* name;
  int version;  ///< 900 for sm_90
  int64_t memory;
  int processors, blocks, threads, shared, shared_optin, l2, clock, memory_clock;
};
inline constexpr std::array kDescribedGpus{
    GpuFigures{"NVIDIA H200", 900, 150000000000, 132, 32, 2048, 49152, 232448, 62914560, 1980000,
               3201000},
    GpuFigures{"NVIDIA A100-SXM4-80GB", 800, 85000000000, 108, 32, 2048, 49152, 166912, 41943040,
               1410000, 1593000},
    GpuFigures{"Tesla T4", 750, 15600000000, 40, 16, 1024, 49152, 65536, 4194304, 1590000, 5001000},
};

/// Format the description for cuDNN 9.8 and newer.
inline std::string description(const GpuFigures& g) {
  const auto field = [](const char* name, int64_t value) {
    return '"' + std::string(name) + "\": " + std::to_string(value) + ", ";
  };
  return R"({"driverVer": 13000, "cudaDeviceId": 0, "pciDeviceId": 0, "isTccDriver": 0,
  "maxGridSize": [2147483647, 65535, 65535], "maxBlockSize": [1024, 1024, 64],
  "regsPerBlock": 65536, "maxRegistersPerSM": 65536, "warpSize": 32, "maxThreadsPerBlock": 1024,
  "supportCoopLaunch": 1, )" +
         field("deviceVer", g.version) + field("totalGlobalMem", g.memory) +
         field("multiProcessorCount", g.processors) + field("maxSharedMemoryPerBlock", g.shared) +
         field("maxSharedMemoryPerBlockOptin", g.shared_optin) +
         field("reservedSharedMemoryPerBlock", g.version >= 800 ? 1024 : 0) +
         field("maxCtasPerSM", g.blocks) + field("maxThreadsPerSM", g.threads) +
         field("smClockRateKHz", g.clock) + field("memClockRateKHz", g.memory_clock) +
         field("l2CacheSize", g.l2) + "\"deviceName\": \"" + g.name + "\"}";
}

/// Return one of kDescribedGpus, by default the first.
inline ConvTarget described_gpu(size_t which = 0) {
  static const auto* all = [] {
    auto* list = new std::vector<cudnn::Descriptor>;
    for (const GpuFigures& figures : kDescribedGpus) {
      const std::string text = description(figures);
      cudnn::Descriptor& d = list->emplace_back(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
      d.set(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION,
            std::span<const char>(text.data(), text.size()));
      d.finalize();
    }
    return list;
  }();
  return {nullptr, &(*all)[which]};
}

inline ConvProblem conv_problem(Dims x, Dims w, const ConvParams& params = {}) {
  const Dims y = params.out_sizes("conv2d", x, w);
  return {ConvKind::forward, kFloat32, std::move(x), std::move(w), y, params};
}

}  // namespace ambit::cuda
