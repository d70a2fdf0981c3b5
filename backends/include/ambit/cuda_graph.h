// CUDA graphs, named as at::cuda's: work of a thread on a GPU that was captured once is done again
// and again as one launch, so that the GPU need not wait for a host that names one kernel after the
// other.
//   for (int i = 0; i < 3; ++i) train(x, y);  // warm-up
//   cuda::CUDAGraph graph;
//   graph.capture_begin();
//   train(x, y);  // forward, backward() and a step of the optimizer: nothing is done
//   graph.capture_end();
//   for (...) {
//     x.copy_(...), y.copy_(...);  // into the memory that was captured
//     graph.replay();
//   }
// Rules:
// - Warm-up. What is made at first use must be there before: the handles of cuDNN and cuBLASLt,
//   their plans under set_benchmark(true), the state of the optimizer. It may be on any stream.
// - Static inputs. A replay reads and writes the tensors of the capture, with their addresses:
//   bring new data by copy_() into them. Sizes, numbers such as a learning rate, whatever changes
//   it, and what the host decided stay those of the capture.
// - Memory. What is allocated in the capture comes from memory of the graph's own, which nobody
//   else gets as long as it lives; a loss or a gradient that was made there is found there after
//   each replay. What it uses of others is kept as long, too, even when all tensors there are gone.
// - Order. As for every op: a replay is queued on the thread's current stream, after all that uses
//   the memory, and others come after it. No events are needed.
// - Optimizers. Steps of Adam and AdamW are captured where they are counted on the GPU
//   (AdamOptions::capturable); else their number would be the same at each replay, as would a rate
//   of Adagrad's that decays: take these steps behind replay(). The "step" that Adagrad and RMSprop
//   keep, but do not need, counts no replays.
// - Not captured, but refused with a BackendError, then and at capture_end(): what the host waits
//   for (item(), copies to it, synchronize()), copies from host memory and between GPUs, steps that
//   the host counts, first steps that make an optimizer's state, other streams and events, DLPack,
//   empty_cache(), random numbers of a Generator of one's own. The numbers of the GPU's own
//   generator are at each replay the next ones; to set where they begin is a small kernel before
//   the launch.
#pragma once

#include <ambit/cuda_table.h>

#include <utility>

namespace ambit::cuda {
namespace detail {

/// The table that the plugin exports as ambit_cuda_graphs(). Errors: BackendError.
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

/// A graph of one GPU, captured and replayed by one thread. Destroying it waits for its work, and
/// gives its memory back; a capture that has not ended is dropped.
class CUDAGraph {
 public:
  /// Device -1 is cuda:0. Errors: BackendError for no such GPU.
  explicit CUDAGraph(int device_index = -1) : graph_(detail::graphs().make(device_index)) {}
  ~CUDAGraph() {
    if (graph_) detail::graphs().destroy(graph_);
  }
  CUDAGraph(CUDAGraph&& other) noexcept : graph_(std::exchange(other.graph_, nullptr)) {}
  CUDAGraph& operator=(CUDAGraph&& other) noexcept {
    std::swap(graph_, other.graph_);
    return *this;
  }

  /// From now on what this thread queues on the GPU is captured, not done. Other threads go on.
  /// Errors: BackendError where it holds a graph, or the thread is capturing one.
  void capture_begin() { detail::graphs().begin(graph_); }
  /// Errors: BackendError where this thread is not capturing it, or where anything was refused
  /// since capture_begin(), or CUDA has failed: it then holds nothing.
  void capture_end() { detail::graphs().end(graph_); }
  /// Queue all of it, as one launch. Errors: BackendError where it holds nothing, in a capture, and
  /// in another thread than that of the capture. Bad data is told as that of other kernels.
  void replay() { detail::graphs().replay(graph_); }
  /// Hold nothing any more, as a new one; a capture is dropped.
  void reset() { detail::graphs().reset(graph_); }

 private:
  void* graph_;
};

}  // namespace ambit::cuda
