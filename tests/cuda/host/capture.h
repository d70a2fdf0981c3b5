// Streams whose work a graph takes, by CUDA's rules: what cannot be taken is refused, and makes the
// whole capture invalid. Requires of all functions: the lock of the runtime.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <thread>
#include <vector>

#include "streams.h"

namespace ambit::cuda::host {

/// From the begin of a capture to its end.
struct Capture {
  Queue* origin = nullptr;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread;  ///< that has begun it
  bool invalid = false, ended = false;
  std::vector<Work> works;
};

inline void invalidate(Capture& capture) { capture.invalid = true; }

/// What a call that cannot be taken returns, such as a wait for the stream.
cudaError_t refuse_in_capture(Queue& queue);
bool is_captured(const Event& event);
/// The same for a call that asks for what an event stands for.
cudaError_t refuse_captured(const Event& event);

/// What Streams does with work, a recording and a wait that are of a capture.
cudaError_t capture_work(Queue& queue, Work work);
cudaError_t capture_mark(Queue& queue, Mark& mark);
cudaError_t capture_wait(Queue& queue, const Mark& mark);

/// Whether no capture on the device is of a stream that waits for the legacy one; or it is invalid
/// from here on.
bool may_use_legacy(const Streams& all, int device);
/// Return cudaSuccess, or what a call that no stream sees, cudaMalloc for one, returns to the
/// calling thread while its mode and captures prohibit it. With a `device`, of a call that uses the
/// legacy stream there.
cudaError_t prohibited_by_captures(const Streams& all, int device = -1);

cudaError_t begin_capture(Queue& queue, cudaStreamCaptureMode mode);
/// Fill `works` in the order in which they were queued.
cudaError_t end_capture(const Streams& all, Queue& queue, std::vector<Work>& works);
/// Set the calling thread's mode; return what it was.
cudaStreamCaptureMode exchange_mode(cudaStreamCaptureMode mode);

}  // namespace ambit::cuda::host
