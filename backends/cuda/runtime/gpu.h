// One GPU of this process: its memory, its streams, and the faults that its kernels report.
#pragma once

#include <ambit/backend/backend.h>
#include <cuda_runtime_api.h>

#include <atomic>
#include <memory>
#include <mutex>
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

  /// Return the stream of the calling thread, which goes to another thread when this one ends.
  Stream& stream();
  /// Wait for all streams. Errors: what failed in their work, throw_faults().
  void synchronize();

  /// Return where kernels of the calling thread report bad data.
  FaultRecord& faults() { return *stream().faults; }
  /// Throw what kernels of the calling thread have reported, or of threads that have ended, whom
  /// nobody else asks; each is told once. What other threads have done is theirs. Requires: the
  /// host has waited.
  void throw_faults();

 private:
  friend class ThreadStreams;
  void order(int before, int after) override;
  Stream* take_stream();
  void give_back(Stream* stream) noexcept;
  Stream* take_done_stream();
  Stream* take_busy_stream();
  Stream* new_stream();
  void add_faults(std::unique_ptr<FaultRecord> faults);
  FaultRecord* take_faults() noexcept;
  void recycle_faults() noexcept;

  const int index_;
  const std::string name_;
  cudaDeviceProp properties_{};
  DeviceMemory memory_;
  BlockAllocator allocator_;
  std::mutex streams_mutex_;  // guards what follows
  std::vector<std::unique_ptr<Stream>> streams_;
  std::vector<Stream*> idle_streams_;
  std::vector<std::unique_ptr<FaultRecord>> faults_;  // of all streams, and those below
  std::vector<FaultRecord*> left_faults_;             // of threads that ended with work queued
  std::vector<FaultRecord*> spare_faults_;            // nobody's: that work is done, and told
  std::atomic<bool> has_ended_threads_{false};
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
