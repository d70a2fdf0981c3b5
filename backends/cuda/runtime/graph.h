// A CUDA graph: what a thread queues between begin() and end() is not done, but kept, and done as
// one launch at each replay(). It is the calls of CUDA that are kept, with the addresses and
// numbers of the capture.
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

/// What a replay tells the fills with random numbers: the generator's seed, and how many blocks of
/// numbers it has gone on since the capture.
struct RandomBase {
  uint64_t seed, moved;
};

/// Of one thread at a time. Requires of all functions: the GPU is current.
class Graph {
 public:
  explicit Graph(Gpu& gpu) : gpu_(gpu) {}
  ~Graph() { reset(); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  Gpu& gpu() const { return gpu_; }

  /// Errors: BackendError where it holds work, or the thread captures another.
  void begin();
  /// Errors: BackendError where this thread does not capture it, or something was refused: it then
  /// holds nothing.
  void end();
  /// Errors: BackendError where it holds no work; in a capture; in a thread whose kernels report
  /// bad data to another place than those of the capture.
  void replay();
  /// Wait for what was replayed, and hold nothing any more. A capture ends.
  void reset() noexcept;

  /// Return where a fill that is captured, of n elements, finds its numbers' base. `set` queues a
  /// kernel that writes it, in the call at work. Errors: BackendError for numbers that are not the
  /// next ones of the GPU's own generator.
  const RandomBase* random_base(const RandomParams& p, int64_t n,
                                void (*set)(RandomBase* base, const RandomBase& value));

  /// Throw BackendError, and again at end(): what the thread is about to do cannot be captured.
  [[noreturn]] void refuse(const char* what);

 private:
  cudaGraph_t end_capture(cudaError_t& status) noexcept;
  void check_generator();
  void move_generator();

  /// The random numbers of the capture, which are those of one stretch of the generator.
  struct Random {
    Generator generator;
    RandomBase* base = nullptr;  ///< in the graph's memory
    /// Null until the capture takes some.
    void (*set)(RandomBase* base, const RandomBase& value) = nullptr;
    uint64_t seed = 0, first = 0, end = 0;  ///< the stretch, in blocks
  };

  Gpu& gpu_;
  GpuStream* stream_ = nullptr;  // while it is captured
  std::unique_ptr<GraphMemory> memory_;
  std::string refused_;
  Random random_;
  cudaGraphExec_t work_ = nullptr;
  const FaultRecord* faults_ = nullptr;  // that its kernels report to
  cudaStream_t replayed_on_ = nullptr;   // last
};

}  // namespace ambit::cuda
