// Stream capture by CUDA's rules: calls that cannot be captured are refused and invalidate the
// capture. All functions require the runtime's lock.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <thread>
#include <vector>

#include "streams.h"

namespace ambit::cuda::host {

/// State of a capture.
struct Capture {
  Queue* origin = nullptr;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread;  ///< thread that started it
  bool invalid = false, ended = false;
  std::vector<Work> works;
};

inline void invalidate(Capture& capture) { capture.invalid = true; }

/// Return the error of a call that cannot be captured, such as a wait for the stream.
cudaError_t refuse_in_capture(Queue& queue);
bool is_captured(const Event& event);
/// As above, for a call that queries or waits for an event.
cudaError_t refuse_captured(const Event& event);

/// Add work, an event record or a wait to a capture, for Streams.
cudaError_t capture_work(Queue& queue, Work work);
cudaError_t capture_mark(Queue& queue, Mark& mark);
cudaError_t capture_wait(Queue& queue, const Mark& mark);

/// Return true if no stream that synchronises with the legacy stream of the device is being
/// captured; otherwise invalidate the capture.
bool may_use_legacy(const Streams& all, int device);
/// Return cudaSuccess, or the error of a call outside of streams, such as cudaMalloc, if the
/// calling thread's mode and captures prohibit it. If `device` is given, the call uses its legacy
/// stream.
cudaError_t prohibited_by_captures(const Streams& all, int device = -1);

cudaError_t begin_capture(Queue& queue, cudaStreamCaptureMode mode);
/// Fill `works` in the order in which they were queued.
cudaError_t end_capture(const Streams& all, Queue& queue, std::vector<Work>& works);
/// Set the calling thread's capture mode; return the previous one.
cudaStreamCaptureMode exchange_mode(cudaStreamCaptureMode mode);

}  // namespace ambit::cuda::host
