// CUDA graphs, named as at::cuda's. Capture the work of a thread on a GPU once, then replay it as a
// single launch, which saves the host's time for launching each kernel.
//   for (int i = 0; i < 3; ++i) train(x, y);  // warm-up
//   cuda::CUDAGraph graph;
//   graph.capture_begin();
//   train(x, y);  // forward, backward() and an optimizer step: captured, not executed
//   graph.capture_end();
//   for (...) {
//     x.copy_(...), y.copy_(...);  // into the memory that was captured
//     graph.replay();
//   }
// Rules:
// - Warm-up. Run everything once before, on any stream: the handles of cuDNN and cuBLASLt, their
//   plans under set_benchmark(true), and the optimizer's state are created at first use.
// - Static inputs. A replay reads and writes the captured tensors at their captured addresses: copy
//   new data into them with copy_(). Sizes, numbers such as a learning rate, and decisions made on
//   the host remain those of the capture, whatever changes afterwards.
// - Memory. Allocations during the capture come from a pool private to the graph, which lives as
//   long as the graph; a loss or gradient allocated there has its new value after each replay.
//   Other memory that the graph uses is kept alive as long.
// - Order. A replay is queued on the thread's current stream. As for every op, it is ordered after
//   earlier uses of its memory, and later uses are ordered after it. No events are needed.
// - Optimizers. Steps of Adam and AdamW can be captured if they are counted on the GPU
//   (AdamOptions::capturable); otherwise each replay would use the same step number, as it would a
//   decaying learning rate of Adagrad: run those steps after replay(). The "step" that Adagrad and
//   RMSprop store but do not need does not count replays.
// - Not capturable: the following throw BackendError, at once and again at capture_end(). Host
//   waits (item(), copies to the host, synchronize()), copies from host memory and between GPUs,
//   optimizer steps counted on the host, first optimizer steps, which create the state, other
//   streams and events, DLPack, empty_cache(), and random numbers of a user's Generator. The GPU's
//   own generator advances with each replay; a small kernel before the launch sets its position.
#pragma once

#include <ambit/cuda_table.h>

#include <utility>

namespace ambit::cuda {
namespace detail {

/// Function table that the plugin exports as ambit_cuda_graphs(). Errors: BackendError.
struct GraphFunctions {
  void* (*make)(int device);
  void (*destroy)(void* graph) noexcept;
  void (*begin)(void* graph);
  void (*end)(void* graph);
  void (*replay)(void* graph);
  void (*reset)(void* graph);
};

inline const GraphFunctions& graphs() {
  static const auto* const found = find_table<GraphFunctions>("ambit_cuda_graphs");
  return *found;
}

}  // namespace detail

/// A graph of one GPU, captured and replayed by one thread. The destructor waits for the graph's
/// work and frees its memory; it discards an unfinished capture.
class CUDAGraph {
 public:
  /// Device -1 means cuda:0. Errors: BackendError if there is no such GPU.
  explicit CUDAGraph(int device_index = -1) : graph_(detail::graphs().make(device_index)) {}
  ~CUDAGraph() {
    if (graph_) detail::graphs().destroy(graph_);
  }
  /// Move the graph; the other object may only be assigned to or destroyed.
  /// @{
  CUDAGraph(CUDAGraph&& other) noexcept : graph_(std::exchange(other.graph_, nullptr)) {}
  CUDAGraph& operator=(CUDAGraph&& other) noexcept {
    std::swap(graph_, other.graph_);
    return *this;
  }
  /// @}

  /// Start capturing the work that this thread queues on the GPU, without executing it. Errors:
  /// BackendError if this object already holds a graph, or the thread is already capturing.
  void capture_begin() { detail::graphs().begin(graph_); }
  /// End the capture. Errors: BackendError if this thread is not capturing this graph, if any call
  /// since capture_begin() was refused, or if CUDA failed; the object then holds no graph.
  void capture_end() { detail::graphs().end(graph_); }
  /// Queue the whole graph as one launch. Errors: BackendError if the object holds no graph, in a
  /// capture, and on a thread other than the capturing one. Invalid data: as for other kernels.
  void replay() { detail::graphs().replay(graph_); }
  /// Destroy the graph, or discard the capture; the object is then as newly constructed.
  void reset() { detail::graphs().reset(graph_); }

 private:
  void* graph_;
};

}  // namespace ambit::cuda
