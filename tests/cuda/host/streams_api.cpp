// CUDA's functions for streams and events.
#include <ambit/api.h>

#include "api.h"
#include "capture.h"

using namespace ambit::cuda::host;

namespace {

// Run f(queue) of a stream.
template <class F>
cudaError_t with(cudaStream_t stream, const F& f) {
  return call([&](Streams& all) {
    Queue* queue = all.find(stream, current_device());
    return queue ? f(all, *queue) : cudaErrorInvalidResourceHandle;
  });
}
template <class F>
cudaError_t with(cudaEvent_t handle, const F& f) {
  return call([&](Streams& all) {
    Event* event = all.find(handle);
    return event ? f(all, *event) : cudaErrorInvalidResourceHandle;
  });
}

}  // namespace

extern "C" {

AMBIT_API cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return call([&](Streams& all) {
    if (flags != cudaStreamDefault && flags != cudaStreamNonBlocking) return cudaErrorInvalidValue;
    const bool is_blocking = flags == cudaStreamDefault;
    *stream = reinterpret_cast<cudaStream_t>(all.create(current_device(), is_blocking));
    return cudaSuccess;
  });
}

// The order is random here: priorities have no effect. Priorities out of range are clamped.
AMBIT_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) {
  return cudaStreamCreateWithFlags(stream, flags);
}

AMBIT_API cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return call([&](Streams&) {
    *least = 0;
    *greatest = -5;
    return cudaSuccess;
  });
}

AMBIT_API cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

AMBIT_API cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return with(stream, [](Streams& all, Queue& queue) {
    all.destroy(&queue);
    return cudaSuccess;
  });
}

AMBIT_API cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return with(stream, [](Streams& all, Queue& queue) {
    if (queue.capture) return refuse_in_capture(queue);
    all.finish(queue);
    return cudaSuccess;
  });
}

AMBIT_API cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return with(stream, [](Streams& all, Queue& queue) {
    if (queue.capture) return refuse_in_capture(queue);
    all.advance();
    if (!all.is_empty(queue)) return cudaErrorNotReady;
    all.know(queue.before);
    return cudaSuccess;
  });
}

AMBIT_API cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  return with(event, [&](Streams& all, Event& e) {
    Queue* queue = all.find(stream, current_device());
    return queue ? all.wait(*queue, e) : cudaErrorInvalidResourceHandle;
  });
}

AMBIT_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return call([&](Streams& all) {
    const bool timing = (flags & cudaEventDisableTiming) == 0;
    *event = reinterpret_cast<cudaEvent_t>(all.create_event(current_device(), timing));
    return cudaSuccess;
  });
}

AMBIT_API cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

AMBIT_API cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return with(event, [](Streams& all, Event& e) {
    all.destroy(&e);
    return cudaSuccess;
  });
}

AMBIT_API cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return with(event, [&](Streams& all, Event& e) {
    Queue* queue = all.find(stream, current_device());
    if (!queue || queue->device != e.device) return cudaErrorInvalidResourceHandle;
    return all.record(e, *queue);
  });
}

AMBIT_API cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return with(event, [](Streams& all, Event& e) {
    if (is_captured(e)) return refuse_captured(e);
    if (e.last) all.finish(e.last);
    return cudaSuccess;
  });
}

AMBIT_API cudaError_t cudaEventQuery(cudaEvent_t event) {
  return with(event, [](Streams& all, Event& e) {
    if (is_captured(e)) return refuse_captured(e);
    const cudaError_t prohibited = prohibited_by_captures(all);
    if (prohibited != cudaSuccess) return prohibited;
    all.advance();
    if (e.last && !e.last->reached) return cudaErrorNotReady;
    if (e.last) all.know(e.last->before);
    return cudaSuccess;
  });
}

// Each item of work counts as a microsecond.
AMBIT_API cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin,
                                           cudaEvent_t end) {
  return with(begin, [&](Streams& all, Event& first) {
    Event* last = all.find(end);
    if (!last || first.device != last->device || !first.timing || !last->timing || !first.last ||
        !last->last) {
      return cudaErrorInvalidResourceHandle;
    }
    if (is_captured(first) || is_captured(*last)) return cudaErrorCapturedEvent;
    if (!first.last->reached || !last->last->reached) return cudaErrorNotReady;
    const auto works = static_cast<int64_t>(last->last->at - first.last->at);
    *milliseconds = 1e-3f * static_cast<float>(works);
    return cudaSuccess;
  });
}
}
