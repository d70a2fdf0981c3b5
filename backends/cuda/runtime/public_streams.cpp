// The function table of <ambit/cuda.h>.
#include <ambit/cuda.h>

#include <utility>

#include "backends/cuda/driver/counters.h"
#include "backends/cuda/driver/error.h"
#include "gpu.h"
#include "graph.h"
#include "public_device.h"

namespace ambit::cuda {
namespace {

GpuStream& stream_of(void* stream) { return *static_cast<GpuStream*>(stream); }
// Return the stream, with its GPU made current.
GpuStream& current(void* stream) {
  static_cast<void>(gpu(stream_of(stream).device));
  return stream_of(stream);
}
// As current(), for operations that are not allowed on a stream being captured.
GpuStream& working(void* stream, const char* what) {
  GpuStream& s = current(stream);
  if (s.capture) s.capture->refuse(what);
  return s;
}
cudaEvent_t event_of(void* event) { return static_cast<cudaEvent_t>(event); }

// Convert the status of a query: true if the work is done, false if not ready; throw on errors.
bool is_done(cudaError_t status, const char* call) {
  if (status == cudaErrorNotReady) {
    static_cast<void>(cudaGetLastError());
    return false;
  }
  check(status, call);
  return true;
}

constexpr detail::StreamFunctions kFunctions{
    .from_pool = [](int device, bool high_priority) -> void* {
      return &public_device(device).pool_stream(high_priority);
    },
    .current = [](int device) -> void* { return &public_device(device).stream(); },
    .own = [](int device) -> void* { return &public_device(device).own_stream(); },
    .set_current = [](void* s) { current(s).gpu.set_stream(stream_of(s)); },
    .enter = [](void* s) -> void* { return &current(s).gpu.enter_stream(stream_of(s)); },
    .leave = [](void* before) { stream_of(before).gpu.leave_stream(stream_of(before)); },
    .device = [](void* s) { return stream_of(s).device; },
    .id = [](void* s) -> int64_t { return stream_of(s).clock.id; },
    .handle = [](void* s) -> void* { return stream_of(s).handle; },
    .query =
        [](void* s) {
          return is_done(cudaStreamQuery(working(s, "a query").handle), "cudaStreamQuery");
        },
    .synchronize =
        [](void* s) {
          GpuStream& stream = working(s, "a wait of the host");
          count(counted_waits);
          check(cudaStreamSynchronize(stream.handle), "cudaStreamSynchronize");
          stream_of(s).gpu.throw_faults();
        },
    .use = [](void* s, const void* memory) { current(s).gpu.use_outside(memory, stream_of(s)); },

    .make_event = [](int device, bool timing) -> void* {
      static_cast<void>(gpu(device));
      cudaEvent_t made = nullptr;
      check(cudaEventCreateWithFlags(&made, timing ? cudaEventDefault : cudaEventDisableTiming),
            "cudaEventCreateWithFlags");
      return made;
    },
    .destroy_event = [](void* e) { static_cast<void>(cudaEventDestroy(event_of(e))); },
    .record =
        [](void* e, void* s) {
          check(cudaEventRecord(event_of(e), working(s, "an event").handle), "cudaEventRecord");
        },
    .block =
        [](void* e, void* s) {
          check(cudaStreamWaitEvent(working(s, "a wait for an event").handle, event_of(e), 0),
                "cudaStreamWaitEvent");
        },
    .query_event =
        [](int device, void* e) {
          static_cast<void>(gpu(device));
          return is_done(cudaEventQuery(event_of(e)), "cudaEventQuery");
        },
    .synchronize_event =
        [](int device, void* e) {
          Gpu& where = gpu(device);
          count(counted_waits);
          check(cudaEventSynchronize(event_of(e)), "cudaEventSynchronize");
          where.throw_faults();
        },
    .elapsed =
        [](int device, void* from, void* to) {
          static_cast<void>(gpu(device));
          float ms = 0;
          check(cudaEventElapsedTime(&ms, event_of(from), event_of(to)), "cudaEventElapsedTime");
          return ms;
        },
};

}  // namespace
}  // namespace ambit::cuda

extern "C" AMBIT_API const ambit::cuda::detail::StreamFunctions* ambit_cuda_streams() {
  return &ambit::cuda::kFunctions;
}
