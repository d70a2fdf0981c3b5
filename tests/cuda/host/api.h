// Prologue and epilogue of all functions of this CUDA runtime.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <mutex>

#include "settings.h"
#include "streams.h"

namespace ambit::cuda::host {

/// Return true during static destruction, when the driver is gone.
bool is_unloading();

/// Store an error for the thread's cudaGetLastError(); return it.
cudaError_t remember(cudaError_t status);

/// The current device of the calling thread.
int& current_device();

/// Run f(streams), which returns a status, unless a sticky error makes all calls fail.
template <class F>
cudaError_t call(const F& f) {
  if (is_unloading()) return remember(cudaErrorCudartUnloading);
  if (settings().gpus == 0) return remember(cudaErrorNoDevice);
  Streams& all = streams();
  const std::lock_guard lock(all.mutex);
  if (all.sticky() != cudaSuccess) return remember(all.sticky());
  const cudaError_t status = f(all);
  return remember(status == cudaSuccess ? all.sticky() : status);
}

}  // namespace ambit::cuda::host
