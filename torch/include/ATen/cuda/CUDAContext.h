// Streams of devices named "cuda". Handles of CUDA libraries are private to the backend.
#pragma once

#include <ambit/device.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/lacks.h>

namespace ambit::cuda {

AMBIT_TORCH_LACKS_FUNCTION(getCurrentCUDABlasHandle, "ambit has no cuBLAS handle for programs");
AMBIT_TORCH_LACKS_FUNCTION(getCurrentCUDASparseHandle, "ambit has no cuSPARSE handle for programs");
AMBIT_TORCH_LACKS_FUNCTION(getCurrentDeviceProperties, "ambit has device_properties(Device)");

}  // namespace ambit::cuda
