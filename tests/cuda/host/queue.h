// What the emulations of NVIDIA's libraries need of the CUDA runtime on the host: work of their own
// on a stream, done as late as a kernel would be, and the checks of every byte that it touches.
#pragma once

#include <ambit/api.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <string>

namespace ambit::cuda::host {

/// Queue `work` on `stream` (null: the legacy stream of the current device). It runs once, when
/// somebody waits, in the order of the stream, with the stream's device as the one at work, on any
/// thread and under the runtime's lock: it must not call CUDA. `name` is for reports, such as
/// "cublasLtMatmul". Return what a launch would: cudaErrorInvalidResourceHandle for a stream that
/// is unknown or of another device than the current one, or the sticky error of the process.
AMBIT_API cudaError_t enqueue(cudaStream_t stream, std::string name, std::function<void()> work);

/// Called by work, before it touches the bytes [p, p + bytes): they must be memory of the device at
/// work, of a peer that it was given access to, or pinned memory of the host; alive, within one
/// allocation; read only where something was written, and used by no other work that this one is
/// not ordered behind. What is wrong is printed with the work's name, and the process aborted.
/// Nothing is checked under AMBIT_CUDA_HOST_CHECKS=0.
AMBIT_API void check_read(const void* p, size_t bytes);
AMBIT_API void check_write(void* p, size_t bytes);

/// Return the index of the device that a stream belongs to (null: the current one), or -1 when
/// there is no such stream.
AMBIT_API int device_of(cudaStream_t stream);

/// Return the error that all calls of the process give since its work failed for good, or
/// cudaSuccess.
AMBIT_API cudaError_t sticky_error();

/// A number in [0, bound) from the runtime's seeded generator (AMBIT_CUDA_HOST_SEED): for choices
/// that the real library makes as it likes. Call it outside of work as well as in it.
AMBIT_API unsigned random_below(unsigned bound);

}  // namespace ambit::cuda::host
