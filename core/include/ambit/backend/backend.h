// Backend: the runtime of a device: memory, copies, synchronization. A backend supplies this and
// the kernels of kernels.h; core handles shapes, dtypes, checks and gradients. Streams are internal
// to a backend. Modelled on c10/core/impl/DeviceGuardImplInterface.h and ggml-backend-impl.h.
#pragma once

#include <ambit/device.h>
#include <ambit/memory.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ambit {

struct PhysicalLayout;

/// Description of a device.
struct DeviceProperties {
  std::string name;         ///< "AMD EPYC 9654"
  size_t total_memory = 0;  ///< bytes; 0: unknown
  /// Further details for `ambit info`, by name: {"driver", "550.54"}, {"cuDNN", "9.1.0"}.
  std::vector<std::pair<std::string, std::string>> details;
};

/// An event in the work queued on a device.
class AMBIT_API TimeMark {
 public:
  virtual ~TimeMark();
  /// Wait for the work queued before the mark. Return its completion time in nanoseconds since a
  /// moment common to all marks of the device; -1 if unknown because work of the device failed;
  /// synchronize() then reports the failure.
  virtual int64_t nanoseconds() noexcept = 0;
};

/// All devices of one kind. Core never destroys a backend. Thread safety: every function and kernel
/// may be called from several threads at once. Functions that are not noexcept may throw an
/// ambit::Error. `index` is always in [0, device_count()).
class AMBIT_API Backend {
 public:
  virtual ~Backend();

  /// Return the name of the device kind: [a-z][a-z0-9_]*.
  virtual std::string name() const = 0;
  /// Return the number of usable devices. Must not fail, and must be cheap without hardware.
  virtual int device_count() const noexcept = 0;
  /// Return why device_count() is 0, for the load report; empty without a reason.
  virtual std::string reason_for_none() const;
  /// Describe a device for `ambit info`; default: its name, "cuda:0".
  virtual DeviceProperties properties(int index) const;
  /// Return true if best_device() may choose a device of this backend; the default. Backends that
  /// compute on the host (the CPU, a reference, a simulator) return false; a simulator registered
  /// under another backend's name returns true, as that backend would.
  virtual bool is_accelerator() const;

  /// Allocate `bytes` > 0, aligned to 64 bytes. Errors: OutOfMemoryError with requested, in use,
  /// cached, free.
  virtual void* allocate(int index, size_t bytes) = 0;
  /// Free memory from allocate(index, bytes). Work on it may still be queued: it must not be reused
  /// for other work before that is done.
  virtual void free(int index, void* p, size_t bytes) noexcept = 0;
  /// Return the statistics of a device's memory; default: all 0.
  virtual MemoryStats memory_stats(int index) const;
  /// Return cached memory to the system, except unused parts of blocks in use.
  virtual void empty_cache(int index);

  /// Copy between two devices of this kind, ordered after the work queued on both.
  virtual void copy(int to_index, void* to, int from_index, const void* from, size_t bytes) = 0;
  /// Copy from host memory; unless `non_blocking`, the host memory may be reused on return.
  virtual void copy_from_host(int index, void* to, const void* host, size_t bytes,
                              bool non_blocking) = 0;
  /// Copy to host memory; unless `non_blocking`, the copy is complete on return. Otherwise core
  /// calls wait_for_copies before the host memory is read.
  virtual void copy_to_host(int index, void* host, const void* from, size_t bytes,
                            bool non_blocking) = 0;
  /// Write `bytes` of elements to `to` in row-major order from a block that this backend's kernels
  /// wrote in a native layout (StorageImpl::adopt), ordered after the work queued on the device.
  /// Core calls it only for backends with native layouts.
  virtual void to_row_major(int index, void* to, const void* from, size_t bytes,
                            const PhysicalLayout& layout);
  /// Wait for the device's copies into the block of host memory that contains `host`, and report
  /// errors of its work; default: synchronize(index).
  virtual void wait_for_copies(int index, const void* host);
  /// Wait for all work queued on the device, and report its errors.
  virtual void synchronize(int index);
  /// Throw Error with the text `otherwise` (static lifetime) unless the bool at the device address
  /// `fact` is true: immediately (the default), or, to avoid waiting, when the host next
  /// synchronizes.
  virtual void expect_true(int index, const void* fact, const char* otherwise);
  /// Make the device current for the calling thread; called before each of its kernels.
  virtual void activate(int index);
  /// Enqueue a mark after the calling thread's work, for device times in profiles. Null (the
  /// default) if the device measures no times, or if kernels are complete on return.
  virtual std::unique_ptr<TimeMark> mark_time(int index);
  /// Allocate the host memory with the fastest copies to the device; default: plain memory.
  virtual void* allocate_pinned(size_t bytes);
  /// Free it. Copies may still use the memory: it must not be reused before they are done.
  virtual void free_pinned(void* p, size_t bytes) noexcept;
  /// Return true if the host memory comes from allocate_pinned(); default: false.
  virtual bool is_pinned(const void* host, size_t bytes);

  // --- memory shared with other libraries, by DLPack (dlpack.h)

  /// Return the DLPack device type: 1, kDLCPU, if the host can access the memory, 2, kDLCUDA, and
  /// so on; default: 12, kDLExtDev, a type that only ambit understands.
  virtual int32_t dlpack_device_type() const;
  /// Make later work of the other library wait for all work queued so far on the block that holds
  /// `p`: its work on `stream` (numbered as in the Python array API); without a stream, all its
  /// work. Default: wait on the host by synchronize(index).
  virtual void lend(int index, void* p, std::optional<int64_t> stream);
  /// Make all work of this backend on the `bytes` of memory at `p` wait for the work that another
  /// library enqueued on `stream`; without a stream, for all its work so far. No-op for 0 bytes.
  /// Errors: BackendError for memory that the device's kernels cannot use.
  virtual void borrow(int index, void* p, size_t bytes, std::optional<int64_t> stream);
  /// Wait for all work on the borrowed memory, which the other library will free next. Errors of
  /// that work are reported when the host next synchronizes. Default: synchronize(index).
  virtual void end_borrow(int index, void* p, size_t bytes) noexcept;

  // --- work captured for replay, as in a CUDA graph

  /// Refuse values that a replay would repeat wrongly, such as a step count, while the calling
  /// thread's work is being captured. Errors: BackendError naming the value, `what`; by default
  /// nothing is ever captured.
  virtual void expect_repeatable(int index, const char* what);
};

}  // namespace ambit
