// One GPU of this process: its memory, its streams, and the faults that its kernels report.
#pragma once

#include <ambit/backend/backend.h>
#include <cuda_runtime_api.h>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

#include "backends/cuda/driver/fault_record.h"
#include "backends/cuda/driver/stream.h"
#include "backends/cuda/memory/block_allocator.h"
#include "backends/cuda/memory/device_memory.h"

namespace ambit::cuda {

/// Made when it is first used, with its context; leaked, since tensors in globals may outlive main.
/// Thread-safe. Requires of every function: the GPU is current, as gpu(index) leaves it.
class Gpu final : private StreamOrder {
 public:
  /// Errors: BackendError when the device cannot be used (exclusive mode, ECC fault, ...).
  explicit Gpu(int index);
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  int index() const { return index_; }
  const std::string& name() const { return name_; }  ///< "cuda:0"
  const cudaDeviceProp& properties() const { return properties_; }
  BlockAllocator& allocator() { return allocator_; }

  /// Return the stream that the calling thread queues work on: its own, unless it has chosen one of
  /// the pool.
  GpuStream& stream();
  /// Return its own, which goes to another thread when this one ends.
  GpuStream& own_stream();
  /// Return a stream that any thread may choose, in turn one of 32, of high priority or normal.
  GpuStream& pool_stream(bool high_priority);
  /// Let the calling thread queue its work on `stream`, its own or one of the pool, from now on.
  /// Errors: BackendError, and nothing has changed, where another thread has chosen it.
  void set_stream(GpuStream& stream);
  /// The same until leave_stream(): what was chosen before stays this thread's meanwhile. Return
  /// that.
  GpuStream& enter_stream(GpuStream& stream);
  void leave_stream(GpuStream& before) noexcept;
  /// Order what comes on `stream`, one that the calling thread may choose, behind all work on the
  /// memory around p, and whoever uses it from now on behind what the stream holds now.
  void use_outside(const void* p, GpuStream& stream);
  /// Wait for all streams. Errors: what failed in their work, throw_faults(); BackendError in a
  /// capture.
  void synchronize();
  /// Wait for them, and leave what has failed for another time.
  void wait_quietly() noexcept;

  /// Let a graph take the work that the calling thread queues from now on, from a stream that is
  /// nobody else's; return that. Errors: BackendError.
  GpuStream& begin_capture(Graph& graph, GraphMemory& memory);
  /// The thread's stream is again what it was. Return what cudaStreamEndCapture does.
  cudaError_t end_capture(GpuStream& stream, cudaGraph_t& graph) noexcept;

  /// Return where kernels of the calling thread report bad data.
  FaultRecord& faults() { return *own_stream().faults; }
  /// Throw what kernels of the calling thread have reported, or of threads that have ended, whom
  /// nobody else asks; each is told once. What other threads have done is theirs. Requires: the
  /// host has waited.
  void throw_faults();

 private:
  friend class ThreadStreams;
  void order(int before, int after) override;
  GpuStream* take_stream();
  void give_back(GpuStream* stream) noexcept;
  GpuStream* take_done_stream();
  GpuStream* take_busy_stream();
  GpuStream* new_stream();
  GpuStream* add_stream(int priority);
  void add_faults(std::unique_ptr<FaultRecord> faults);
  FaultRecord* take_faults() noexcept;
  void recycle_faults() noexcept;
  GpuStream* take_capture_stream();
  void wait_for_all(const char*& call, cudaError_t& status);

  const int index_;
  const std::string name_;
  cudaDeviceProp properties_{};
  DeviceMemory memory_;
  BlockAllocator allocator_;
  std::mutex streams_mutex_;  // guards what follows
  std::vector<std::unique_ptr<GpuStream>> streams_;
  std::vector<GpuStream*> idle_streams_;
  std::array<std::vector<GpuStream*>, 2> pools_;  // of normal and of high priority
  std::array<size_t, 2> next_in_pool_{};
  std::vector<std::unique_ptr<FaultRecord>> faults_;  // of all streams, and those below
  std::vector<FaultRecord*> left_faults_;             // of threads that ended with work queued
  std::vector<FaultRecord*> spare_faults_;            // nobody's: that work is done, and told
  std::vector<std::unique_ptr<GpuStream>> capture_streams_;
  std::vector<GpuStream*> idle_capture_streams_;
  std::atomic<bool> has_ended_threads_{false};
  std::shared_mutex captures_mutex_;  // held while the host waits for all streams
  int captures_ = 0;                  // at work; then it must wait for the others alone
};

/// The newest CUDA that the driver knows, "0.0" without one, and that of the runtime linked.
struct CudaVersions {
  std::string driver, runtime;
};
CudaVersions cuda_versions() noexcept;
/// Return how many GPUs the process sees, 0 where CUDA cannot be used. Asks the driver once.
int gpu_count() noexcept;
/// Return why gpu_count() is 0, in the driver's words; empty when it is not.
const std::string& no_gpu_reason() noexcept;
/// Return a GPU, with index in [0, gpu_count()), and make it current for the calling thread.
/// Errors: BackendError.
Gpu& gpu(int index);
/// Return a GPU that gpu() returned before, without a call of CUDA.
Gpu& known_gpu(int index) noexcept;

}  // namespace ambit::cuda
