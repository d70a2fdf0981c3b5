// Looks up GPUs for the public functions.
#pragma once

#include <ambit/error.h>
#include <fmt/format.h>

#include "gpu.h"

namespace ambit::cuda {

/// Return a GPU and make it current; -1 means cuda:0. Errors: BackendError if there is no such GPU.
inline Gpu& public_device(int device) {
  const int index = device == -1 ? 0 : device;
  if (index < 0 || index >= gpu_count()) {
    throw BackendError(
        fmt::format("cuda: expected the index of a GPU in [0, {}), got {}", gpu_count(), index));
  }
  return gpu(index);
}

}  // namespace ambit::cuda
