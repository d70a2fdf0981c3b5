// The Backend interface of the `cuda` devices, implemented with Gpu and Call.
#pragma once

#include <ambit/backend/backend.h>

#include <string>

#include "backends/cuda/driver/fault.h"

namespace ambit::cuda {

class CudaBackend final : public Backend {
 public:
  /// Functions of the folders libraries and kernels, which this folder does not include:
  /// `cusolver_version` for properties(), and `report_unless`, which queues a kernel that reports a
  /// fault of kind `claim` unless the bool at `fact` is true.
  CudaBackend(std::string (*cusolver_version)(),
              void (*report_unless)(const void* fact, FaultSink faults))
      : cusolver_version_(cusolver_version), report_unless_(report_unless) {}

  std::string name() const override { return "cuda"; }
  int device_count() const noexcept override;
  std::string reason_for_none() const override;
  DeviceProperties properties(int index) const override;

  void* allocate(int index, size_t bytes) override;
  void free(int index, void* p, size_t bytes) noexcept override;
  MemoryStats memory_stats(int index) const override;
  void empty_cache(int index) override;

  void copy(int to_index, void* to, int from_index, const void* from, size_t bytes) override;
  void copy_from_host(int index, void* to, const void* host, size_t bytes,
                      bool non_blocking) override;
  void copy_to_host(int index, void* host, const void* from, size_t bytes,
                    bool non_blocking) override;
  void wait_for_copies(int index, const void* host) override;
  void synchronize(int index) override;
  void expect_true(int index, const void* fact, const char* otherwise) override;
  void activate(int index) override;
  std::unique_ptr<TimeMark> mark_time(int index) override;
  void expect_repeatable(int index, const char* what) override;
  void* allocate_pinned(size_t bytes) override;
  void free_pinned(void* p, size_t bytes) noexcept override;
  bool is_pinned(const void* host, size_t bytes) override;

  int32_t dlpack_device_type() const override { return 2; }  // kDLCUDA
  void lend(int index, void* p, std::optional<int64_t> stream) override;
  void borrow(int index, void* p, size_t bytes, std::optional<int64_t> stream) override;
  void end_borrow(int index, void* p, size_t bytes) noexcept override;

 private:
  std::string (*cusolver_version_)();
  void (*report_unless_)(const void* fact, FaultSink faults);
};

}  // namespace ambit::cuda
