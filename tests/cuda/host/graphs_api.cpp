// CUDA's functions for captured graphs. The works of a graph run one after
// the other in the order of the capture, whichever of its streams they were queued on.
#include <ambit/api.h>

#include <set>
#include <utility>

#include "api.h"
#include "capture.h"

namespace ambit::cuda::host {
namespace {

/// Targets of cudaGraph_t and cudaGraphExec_t.
struct Graph {
  int device;
  std::vector<Work> works;
  Event last;  ///< after the last launch: launches of one graph do not overlap
};

auto* const graphs = new std::set<Graph*>;
auto* const executables = new std::set<Graph*>;

template <class Handle>
Graph* find(const std::set<Graph*>& among, Handle handle) {
  auto* const graph = reinterpret_cast<Graph*>(handle);
  return among.contains(graph) ? graph : nullptr;
}

template <class Handle>
cudaError_t destroy(std::set<Graph*>& among, Handle handle) {
  Graph* const graph = find(among, handle);
  if (!graph) return cudaErrorInvalidValue;
  among.erase(graph);
  delete graph;
  return cudaSuccess;
}

}  // namespace
}  // namespace ambit::cuda::host

using namespace ambit::cuda::host;

extern "C" {

AMBIT_API cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return call([&](Streams& all) {
    Queue* queue = all.find(stream, current_device());
    return queue ? begin_capture(*queue, mode) : cudaErrorInvalidResourceHandle;
  });
}

AMBIT_API cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return call([&](Streams& all) {
    *graph = nullptr;
    Queue* queue = all.find(stream, current_device());
    if (!queue) return cudaErrorInvalidResourceHandle;
    std::vector<Work> works;
    const cudaError_t status = end_capture(all, *queue, works);
    if (status != cudaSuccess) return status;
    auto* const made = new Graph{queue->device, std::move(works), {}};
    graphs->insert(made);
    *graph = reinterpret_cast<cudaGraph_t>(made);
    return cudaSuccess;
  });
}

AMBIT_API cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return call([&](Streams& all) {
    const Queue* queue = all.find(stream, current_device());
    if (!queue) return cudaErrorInvalidResourceHandle;
    *status = !queue->capture           ? cudaStreamCaptureStatusNone
              : queue->capture->invalid ? cudaStreamCaptureStatusInvalidated
                                        : cudaStreamCaptureStatusActive;
    return cudaSuccess;
  });
}

AMBIT_API cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return call([&](Streams&) {
    *mode = exchange_mode(*mode);
    return cudaSuccess;
  });
}

AMBIT_API cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t handle,
                                           unsigned long long) {
  return call([&](Streams&) {
    *executable = nullptr;
    const Graph* graph = find(*graphs, handle);
    if (!graph) return cudaErrorInvalidValue;
    auto* const made = new Graph{graph->device, graph->works, {}};
    executables->insert(made);
    *executable = reinterpret_cast<cudaGraphExec_t>(made);
    return cudaSuccess;
  });
}

AMBIT_API cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return call([&](Streams&) { return destroy(*graphs, graph); });
}

// Launched work still runs.
AMBIT_API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  return call([&](Streams&) { return destroy(*executables, executable); });
}

AMBIT_API cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  return call([&](Streams& all) {
    Graph* const graph = find(*executables, executable);
    Queue* const queue = all.find(stream, current_device());
    if (!graph) return cudaErrorInvalidValue;
    if (!queue || queue->device != graph->device) return cudaErrorInvalidResourceHandle;
    cudaError_t status = queue->capture ? cudaSuccess : all.wait(*queue, graph->last);
    for (size_t i = 0; status == cudaSuccess && i < graph->works.size(); ++i) {
      status = all.add(*queue, graph->works[i]);
    }
    if (status != cudaSuccess || queue->capture) return status;
    graph->last.device = queue->device;
    return all.record(graph->last, *queue);
  });
}
}
