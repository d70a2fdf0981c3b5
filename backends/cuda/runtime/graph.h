// A CUDA graph: work that a thread queues between begin() and end() is recorded instead of
// executed; each replay() executes it as one launch. CUDA calls are recorded, with the addresses
// and numbers of the capture.
#pragma once

#include <ambit/params.h>
#include <ambit/random.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <string>

#include "backends/cuda/memory/graph_memory.h"
#include "gpu.h"

namespace ambit::cuda {

/// Parameters that a replay passes to random fills: the generator's seed, and the number of blocks
/// by which it has advanced since the capture.
struct RandomBase {
  uint64_t seed, moved;
};

/// Used by one thread at a time. All functions require that the GPU is current.
class Graph {
 public:
  explicit Graph(Gpu& gpu) : gpu_(gpu) {}
  ~Graph() { reset(); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  Gpu& gpu() const { return gpu_; }

  /// Errors: BackendError if the graph holds work, or the thread is capturing another one.
  void begin();
  /// Errors: BackendError if this thread is not capturing this graph, or something was refused; the
  /// graph is then empty.
  void end();
  /// Errors: BackendError if the graph holds no work; in a capture; on a thread whose fault record
  /// differs from that of the capture.
  void replay();
  /// Wait for replayed work, and discard the graph. Ends a capture.
  void reset() noexcept;

  /// Return the RandomBase for a captured fill of n elements. `set` queues a kernel that writes it,
  /// in the current call. Errors: BackendError for numbers other than the next ones of the GPU's
  /// own generator.
  const RandomBase* random_base(const RandomParams& p, int64_t n,
                                void (*set)(RandomBase* base, const RandomBase& value));

  /// Throw BackendError, now and again at end(): the thread's next operation cannot be captured.
  [[noreturn]] void refuse(const char* what);

 private:
  cudaGraph_t end_capture(cudaError_t& status) noexcept;
  void check_generator();
  void move_generator();

  /// The random numbers of the capture: a contiguous range of the generator's sequence.
  struct Random {
    Generator generator;
    RandomBase* base = nullptr;  ///< in the graph's memory
    /// Null until the capture uses random numbers.
    void (*set)(RandomBase* base, const RandomBase& value) = nullptr;
    uint64_t seed = 0, first = 0, end = 0;  ///< the range, in blocks
  };

  Gpu& gpu_;
  GpuStream* stream_ = nullptr;  // stream of the capture in progress
  std::unique_ptr<GraphMemory> memory_;
  std::string refused_;
  Random random_;
  cudaGraphExec_t work_ = nullptr;
  const FaultRecord* faults_ = nullptr;  // the record to which its kernels report
  cudaStream_t replayed_on_ = nullptr;   // stream of the last replay
};

}  // namespace ambit::cuda
