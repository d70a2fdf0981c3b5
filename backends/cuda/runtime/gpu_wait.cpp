// Host waits for a GPU, and their interaction with captures.
#include <exception>

#include "backends/cuda/driver/counters.h"
#include "backends/cuda/driver/error.h"
#include "gpu.h"
#include "graph.h"
#include "thread_streams.h"

namespace ambit::cuda {

void Gpu::synchronize() {
  if (Graph* graph = stream().capture) graph->refuse("a wait of the host");
  count(counted_waits);
  const char* call = "";
  cudaError_t status = cudaSuccess;
  wait_for_all(call, status);
  check(status, call);
  throw_faults();
}

void Gpu::wait_quietly() noexcept try {
  count(counted_waits);
  const char* call = "";
  cudaError_t status = cudaSuccess;
  wait_for_all(call, status);
  static_cast<void>(cudaGetLastError());
} catch (const std::exception&) {  // out of memory for the list
}

// During a capture cudaDeviceSynchronize fails and invalidates the capture, so no capture may begin
// while a thread waits. Captured work does not run and needs no wait.
void Gpu::wait_for_all(const char*& call, cudaError_t& status) {
  const std::shared_lock lock(captures_mutex_);
  if (captures_ == 0) {
    call = "cudaDeviceSynchronize";
    status = cudaDeviceSynchronize();
    return;
  }
  std::vector<cudaStream_t> handles;
  {
    const std::lock_guard streams_lock(streams_mutex_);
    for (const auto& s : streams_) handles.push_back(s->handle);
  }
  call = "cudaStreamSynchronize";
  for (size_t i = 0; i < handles.size() && status == cudaSuccess; ++i) {
    status = cudaStreamSynchronize(handles[i]);
  }
}

GpuStream* Gpu::take_capture_stream() {
  const std::lock_guard lock(streams_mutex_);
  if (!idle_capture_streams_.empty()) {
    GpuStream* s = idle_capture_streams_.back();
    idle_capture_streams_.pop_back();
    return s;
  }
  auto s = std::make_unique<GpuStream>(*this, index_, -1);
  check(cudaStreamCreateWithFlags(&s->handle, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  idle_capture_streams_.reserve(capture_streams_.size() + 1);
  capture_streams_.push_back(std::move(s));
  return capture_streams_.back().get();
}

// The stream is not in streams_, because no work can be ordered after captured work. The capture
// mode is relaxed, because calls that are not stream-ordered, such as cudaMalloc, must execute
// immediately.
GpuStream& Gpu::begin_capture(Graph& graph, GraphMemory& memory) {
  GpuStream* const s = take_capture_stream();
  cudaError_t status = cudaSuccess;
  {
    const std::unique_lock lock(captures_mutex_);
    status = cudaStreamBeginCapture(s->handle, cudaStreamCaptureModeRelaxed);
    if (status == cudaSuccess) ++captures_;
  }
  if (status != cudaSuccess) {
    const std::lock_guard lock(streams_mutex_);
    idle_capture_streams_.push_back(s);
  }
  check(status, "cudaStreamBeginCapture");
  s->capture = &graph;
  s->clock.graph = &memory;
  ThreadStreams::mine().begin_capture(*s);
  return *s;
}

cudaError_t Gpu::end_capture(GpuStream& stream, cudaGraph_t& graph) noexcept {
  ThreadStreams::mine().end_capture(stream);
  stream.capture = nullptr;
  stream.clock.graph = nullptr;
  cudaError_t status = cudaSuccess;
  {
    const std::unique_lock lock(captures_mutex_);
    status = cudaStreamEndCapture(stream.handle, &graph);
    --captures_;
  }
  const std::lock_guard lock(streams_mutex_);
  idle_capture_streams_.push_back(&stream);
  return status;
}

}  // namespace ambit::cuda
