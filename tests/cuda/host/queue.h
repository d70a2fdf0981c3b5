// Interface of the emulated CUDA runtime for the emulations of NVIDIA's libraries: asynchronous
// work on a stream, and checks of every byte that it accesses.
#pragma once

#include <ambit/api.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <string>

namespace ambit::cuda::host {

/// Queue `work` on `stream` (null: the legacy stream of the current device). It runs once, when a
/// thread waits, in stream order, with the stream's device current, on any thread and under the
/// runtime's lock: it must not call CUDA. `name` is for reports, such as "cublasLtMatmul". Return
/// the status of a launch: cudaErrorInvalidResourceHandle for a stream that is unknown or not of
/// the current device, or the sticky error of the process.
AMBIT_API cudaError_t enqueue(cudaStream_t stream, std::string name, std::function<void()> work);

/// Called by work before it accesses the bytes [p, p + bytes). They must be memory of the current
/// device, of a peer with enabled access, or pinned host memory; allocated, within one allocation;
/// initialised, if read; and not used by other work that is not ordered before this one. An error
/// is printed with the work's name, and the process aborts. No checks with
/// AMBIT_CUDA_HOST_CHECKS=0.
AMBIT_API void check_read(const void* p, size_t bytes);
AMBIT_API void check_write(void* p, size_t bytes);

/// Return the device index of a stream (null: the current device), or -1 if the stream does not
/// exist.
AMBIT_API int device_of(cudaStream_t stream);

/// Return the sticky error that all calls of the process return after a fatal failure, or
/// cudaSuccess.
AMBIT_API cudaError_t sticky_error();

/// Return a number in [0, bound) from the runtime's seeded generator (AMBIT_CUDA_HOST_SEED), for
/// choices that the real library does not specify. May be called inside and outside of work.
AMBIT_API unsigned random_below(unsigned bound);

}  // namespace ambit::cuda::host
