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

/// Created on first use, with the CUDA context; leaked, because tensors in globals may outlive
/// main. Thread-safe. All functions require that the GPU is current, as after gpu(index).
class Gpu final : private StreamOrder {
 public:
  /// Errors: BackendError if the device cannot be used (exclusive mode, ECC error, ...).
  explicit Gpu(int index);
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  int index() const { return index_; }
  const std::string& name() const { return name_; }  ///< "cuda:0"
  const cudaDeviceProp& properties() const { return properties_; }
  BlockAllocator& allocator() { return allocator_; }

  /// Return the calling thread's current stream: its own, unless it has selected one of the pool.
  GpuStream& stream();
  /// Return the calling thread's own stream, which passes to another thread when this one ends.
  GpuStream& own_stream();
  /// Return a stream for any thread: one of 32, round-robin, of high or normal priority.
  GpuStream& pool_stream(bool high_priority);
  /// Make `stream`, the calling thread's own or one of the pool, its current stream. Errors:
  /// BackendError, without any change, if another thread has selected it.
  void set_stream(GpuStream& stream);
  /// As set_stream(), until leave_stream(); the previous stream remains reserved for this thread.
  /// Return the previous stream.
  GpuStream& enter_stream(GpuStream& stream);
  void leave_stream(GpuStream& before) noexcept;
  /// Order later work on `stream`, which the calling thread may select, after all work on the
  /// memory around p, and later uses of that memory after the work now queued on the stream.
  void use_outside(const void* p, GpuStream& stream);
  /// Wait for all streams. Errors: the error of their work, throw_faults(); BackendError in a
  /// capture.
  void synchronize();
  /// Wait for all streams; errors are reported by later calls.
  void wait_quietly() noexcept;

  /// Capture the work that the calling thread queues from now on in a graph, on a dedicated stream;
  /// return that stream. Errors: BackendError.
  GpuStream& begin_capture(Graph& graph, GraphMemory& memory);
  /// Restore the thread's stream. Return the status of cudaStreamEndCapture.
  cudaError_t end_capture(GpuStream& stream, cudaGraph_t& graph) noexcept;

  /// Return the record to which kernels of the calling thread report invalid data.
  FaultRecord& faults() { return *own_stream().faults; }
  /// Throw the faults reported by kernels of the calling thread, or of threads that have ended;
  /// each is thrown once. Faults of other running threads are thrown by those threads. Requires
  /// that the host has waited.
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
  std::mutex streams_mutex_;  // guards the members below
  std::vector<std::unique_ptr<GpuStream>> streams_;
  std::vector<GpuStream*> idle_streams_;
  std::array<std::vector<GpuStream*>, 2> pools_;  // streams of normal and of high priority
  std::array<size_t, 2> next_in_pool_{};
  std::vector<std::unique_ptr<FaultRecord>> faults_;  // all records, also those below
  std::vector<FaultRecord*> retired_faults_;  // records of threads that ended with work queued
  std::vector<FaultRecord*> spare_faults_;    // unused: work done, faults thrown
  std::vector<std::unique_ptr<GpuStream>> capture_streams_;
  std::vector<GpuStream*> idle_capture_streams_;
  std::atomic<bool> has_ended_threads_{false};
  std::shared_mutex captures_mutex_;  // held (shared) while the host waits for all streams
  int captures_ = 0;                  // in progress; the host then waits for the other streams
};

/// The newest CUDA version of the driver, "0.0" without one, and that of the linked runtime.
struct CudaVersions {
  std::string driver, runtime;
};
CudaVersions cuda_versions() noexcept;
/// Return the number of visible GPUs, 0 if CUDA cannot be used. Queries the driver once.
int gpu_count() noexcept;
/// Return the driver's reason why gpu_count() is 0; empty if it is not.
const std::string& no_gpu_reason() noexcept;
/// Return the GPU with index in [0, gpu_count()) and make it current for the calling thread.
/// Errors: BackendError.
Gpu& gpu(int index);
/// Return a GPU that gpu() has returned before, without a CUDA call.
Gpu& known_gpu(int index) noexcept;

}  // namespace ambit::cuda
