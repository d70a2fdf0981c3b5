// The runtime of a device: memory, copies, waiting. With the kernels of kernels.h this is all that
// a backend supplies; shapes, dtypes, checks and gradients are core's. Streams are its own affair.
// Written after c10/core/impl/DeviceGuardImplInterface.h and ggml-backend-impl.h.
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

/// What a device is, for those who ask what the machine has.
struct DeviceProperties {
  std::string name;         ///< "AMD EPYC 9654"
  size_t total_memory = 0;  ///< bytes; 0: unknown
  /// What else `ambit info` shows, by name: {"driver", "550.54"}, {"cuDNN", "9.1.0"}.
  std::vector<std::pair<std::string, std::string>> details;
};

/// A place in the work of a device, between what was queued before and after it.
class AMBIT_API TimeMark {
 public:
  virtual ~TimeMark();
  /// Wait for the work before it. Return when that was done, in nanoseconds since a moment that all
  /// marks of the device share; -1 where that is not known, since work of the device failed: what
  /// failed is told by synchronize(), as ever.
  virtual int64_t nanoseconds() noexcept = 0;
};

/// All devices of one kind, alive until the process ends: core never destroys a backend. Thread
/// safety: every function, and every kernel, may be called from any thread, also at the same time.
/// What is not noexcept may throw an ambit::Error. `index` is always in [0, device_count()).
class AMBIT_API Backend {
 public:
  virtual ~Backend();

  /// Return the name that devices bear: [a-z][a-z0-9_]*.
  virtual std::string name() const = 0;
  /// Return how many devices can be used now. Must not fail, and stays cheap without hardware.
  virtual int device_count() const noexcept = 0;
  /// Say why device_count() is 0, for the load report; empty when there is nothing to say.
  virtual std::string reason_for_none() const;
  virtual DeviceProperties properties(int index) const;
  /// Return whether best_device() may choose a device of this backend, as it may by default.
  /// Backends that compute on the host, as the CPU, an oracle or a simulator, return false; but not
  /// a simulator that was asked for under another's name, whose part it plays in this, too.
  virtual bool is_accelerator() const;

  /// Allocate `bytes` > 0, aligned to 64. Errors: OutOfMemoryError with requested, in use, cached,
  /// free.
  virtual void* allocate(int index, size_t bytes) = 0;
  virtual void free(int index, void* p, size_t bytes) noexcept = 0;
  virtual MemoryStats memory_stats(int index) const;
  /// Give cached memory back to the system: all of it but for rests of what is in use.
  virtual void empty_cache(int index);

  /// Copy between two devices of this kind, in the order of the work queued on both.
  virtual void copy(int to_index, void* to, int from_index, const void* from, size_t bytes) = 0;
  /// Copy from host memory, which may be reused when this returns unless `non_blocking`.
  virtual void copy_from_host(int index, void* to, const void* host, size_t bytes,
                              bool non_blocking) = 0;
  /// Copy to host memory, complete when this returns unless `non_blocking`: then core calls
  /// wait_for_copies before anybody looks there.
  virtual void copy_to_host(int index, void* host, const void* from, size_t bytes,
                            bool non_blocking) = 0;
  /// Write `bytes` of elements in row-major order to `to`, from a block that kernels of this
  /// backend have laid out (StorageImpl::adopt), in the order of the work queued on the device.
  /// Backends whose kernels never do have none.
  virtual void to_row_major(int index, void* to, const void* from, size_t bytes,
                            const PhysicalLayout& layout);
  /// Wait for the copies from the device into the block of host memory around `host`, and report
  /// what failed in its work; by default synchronize(index).
  virtual void wait_for_copies(int index, const void* host);
  /// Wait for all work queued on the device, and report what failed in it.
  virtual void synchronize(int index);
  /// Throw Error with these words, which stay, unless the bool at `fact`, of the device, is true:
  /// at once, as by default, or where the host would wait for what makes it, when it next waits.
  virtual void expect_true(int index, const void* fact, const char* otherwise);
  /// Make the device current for the calling thread; called before each of its kernels.
  virtual void activate(int index);
  /// Queue a mark behind the work of the calling thread, for a profile's times of the device; null,
  /// as by default, where it keeps none, or where work is done before the call of it returns.
  virtual std::unique_ptr<TimeMark> mark_time(int index);
  /// Allocate host memory that the device copies fastest from; plain memory by default.
  virtual void* allocate_pinned(size_t bytes);
  /// Free it. Copies may still be at work there: it must not be reused before they are done.
  virtual void free_pinned(void* p, size_t bytes) noexcept;
  /// Return whether the host memory is such as allocate_pinned() gives; by default it is not.
  virtual bool is_pinned(const void* host, size_t bytes);

  // --- memory shared with other libraries, by DLPack (dlpack.h)

  /// Return what DLPack calls these devices: 1, kDLCPU, where the host follows their addresses, 2,
  /// kDLCUDA, and so on; by default 12, kDLExtDev, which means something to ambit alone.
  virtual int32_t dlpack_device_type() const;
  /// Have all work queued so far on the block around `p` come before what another library does
  /// there: what it queues on `stream` from now on, a number as the Python array API's, or without
  /// a stream anything. By default wait on the host: synchronize(index).
  virtual void lend(int index, void* p, std::optional<int64_t> stream);
  /// Have what another library has queued on `stream`, or without a stream what it has done so far,
  /// come before all work of this backend on its `bytes` of memory at `p`, 0 on none. Errors:
  /// BackendError for memory that kernels of the device cannot use.
  virtual void borrow(int index, void* p, size_t bytes, std::optional<int64_t> stream);
  /// Wait for all work on what was borrowed: the other library is about to free it. What failed in
  /// that work is still reported when the host next waits. By default synchronize(index).
  virtual void end_borrow(int index, void* p, size_t bytes) noexcept;

  // --- work that is kept, to be done again and again, as a CUDA graph's

  /// Refuse what would be the same each time, such as a step's number, while the calling thread's
  /// work on the device is kept. Errors: BackendError that says `what` it would be; by default no
  /// work is ever kept.
  virtual void expect_repeatable(int index, const char* what);
};

}  // namespace ambit
