#include "capture.h"

#include <utility>

namespace ambit::cuda::host {
namespace {

thread_local cudaStreamCaptureMode thread_mode = cudaStreamCaptureModeGlobal;

std::vector<Capture*> captures(const Streams& all) {
  std::vector<Capture*> active;
  for (const Queue* q : all.live()) {
    if (q->capture && q->capture->origin == q) active.push_back(q->capture.get());
  }
  return active;
}

void leave(Queue& queue) {
  queue.capture = nullptr;
  queue.captured = Clock();
}

// Return true if the capture's origin is ordered after all work of the streams that have joined.
bool all_joined(const Streams& all, const Queue& origin) {
  for (const Queue* q : all.live()) {
    if (q->capture != origin.capture) continue;
    if (origin.captured.of(q->id) < q->captured.of(q->id)) return false;
  }
  return true;
}

}  // namespace

cudaError_t refuse_in_capture(Queue& queue) {
  invalidate(*queue.capture);
  return cudaErrorStreamCaptureUnsupported;
}

bool is_captured(const Event& event) { return event.last && event.last->capture; }

cudaError_t refuse_captured(const Event& event) {
  invalidate(*event.last->capture);
  return cudaErrorCapturedEvent;
}

cudaError_t capture_work(Queue& queue, Work work) {
  if (queue.capture->invalid) return cudaErrorStreamCaptureInvalidated;
  queue.capture->works.push_back(std::move(work));
  queue.captured.set(queue.id, queue.capture->works.size());
  return cudaSuccess;
}

cudaError_t capture_mark(Queue& queue, Mark& mark) {
  if (queue.capture->invalid) return cudaErrorStreamCaptureInvalidated;
  mark.capture = queue.capture;
  mark.before = queue.captured;
  return cudaSuccess;
}

// A stream that waits for captured work joins the capture; captured work cannot wait for other
// work.
cudaError_t capture_wait(Queue& queue, const Mark& mark) {
  if (mark.capture && mark.capture->ended) return cudaErrorCapturedEvent;
  if (queue.capture && queue.capture != mark.capture) {
    invalidate(*queue.capture);
    if (!mark.capture) return cudaErrorStreamCaptureIsolation;
    invalidate(*mark.capture);
    return cudaErrorStreamCaptureMerge;
  }
  if (mark.capture->invalid) return cudaErrorStreamCaptureInvalidated;
  queue.capture = mark.capture;
  queue.captured.join(mark.before);
  return cudaSuccess;
}

bool may_use_legacy(const Streams& all, int device) {
  for (const Queue* q : all.live()) {
    if (!q->capture || q->device != device || !q->is_blocking) continue;
    invalidate(*q->capture);
    return false;
  }
  return true;
}

cudaError_t prohibited_by_captures(const Streams& all, int device) {
  if (device >= 0 && !may_use_legacy(all, device)) return cudaErrorStreamCaptureImplicit;
  if (thread_mode == cudaStreamCaptureModeRelaxed) return cudaSuccess;
  cudaError_t status = cudaSuccess;
  for (Capture* c : captures(all)) {
    const bool own = c->thread == std::this_thread::get_id();
    const bool prohibits =
        own ? c->mode != cudaStreamCaptureModeRelaxed
            : c->mode == cudaStreamCaptureModeGlobal && thread_mode == cudaStreamCaptureModeGlobal;
    if (!prohibits) continue;
    invalidate(*c);
    status = cudaErrorStreamCaptureUnsupported;
  }
  return status;
}

cudaError_t begin_capture(Queue& queue, cudaStreamCaptureMode mode) {
  if (queue.is_legacy) return cudaErrorStreamCaptureUnsupported;
  if (queue.capture) return cudaErrorIllegalState;
  queue.capture = std::make_shared<Capture>();
  queue.capture->origin = &queue;
  queue.capture->mode = mode;
  queue.capture->thread = std::this_thread::get_id();
  return cudaSuccess;
}

cudaError_t end_capture(const Streams& all, Queue& queue, std::vector<Work>& works) {
  if (!queue.capture) return cudaErrorIllegalState;
  const std::shared_ptr<Capture> capture = queue.capture;
  if (capture->origin != &queue) return cudaErrorStreamCaptureUnmatched;
  const bool own = capture->thread == std::this_thread::get_id();
  if (!own && capture->mode != cudaStreamCaptureModeRelaxed) {
    return cudaErrorStreamCaptureWrongThread;
  }
  cudaError_t status = cudaSuccess;
  if (capture->invalid) {
    status = cudaErrorStreamCaptureInvalidated;
  } else if (!all_joined(all, queue)) {
    status = cudaErrorStreamCaptureUnjoined;
  } else {
    works = std::move(capture->works);
  }
  capture->ended = true;
  for (Queue* q : all.live()) {
    if (q->capture == capture) leave(*q);
  }
  return status;
}

cudaStreamCaptureMode exchange_mode(cudaStreamCaptureMode mode) {
  return std::exchange(thread_mode, mode);
}

}  // namespace ambit::cuda::host
