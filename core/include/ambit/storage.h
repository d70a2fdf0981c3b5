// The bytes behind tensors. Tensors that alias each other share one Storage and its version.
#pragma once

#include <ambit/device.h>
#include <ambit/intrusive_ptr.h>
#include <ambit/pooled.h>

#include <atomic>
#include <cstddef>
#include <functional>

namespace ambit {

class Backend;

/// One block of memory on one device; freed with the last tensor that uses it.
class AMBIT_API StorageImpl final : public RefCounted, public Pooled {
 public:
  /// Allocate. On meta, and for 0 bytes, data() is null. Errors: those of Backend::allocate.
  StorageImpl(Device device, size_t size_bytes);
  /// Borrow memory that the host owns; `deleter` may be empty.
  StorageImpl(void* data, size_t size_bytes, std::function<void(void*)> deleter);

  void* data() const { return data_; }
  size_t size_bytes() const { return size_bytes_; }
  Device device() const { return device_; }

  /// Count of the writes so far, by which saved tensors notice a change.
  uint32_t version() const { return version_.load(std::memory_order_relaxed); }
  void bump_version() { version_.fetch_add(1, std::memory_order_relaxed); }

  static void destroy(StorageImpl* s) noexcept;

 private:
  ~StorageImpl();

  void* data_ = nullptr;
  size_t size_bytes_;
  Backend* backend_ = nullptr;  // null: borrowed or empty
  Device device_;
  std::atomic<uint32_t> version_{0};
  std::function<void(void*)> deleter_;
};

using Storage = intrusive_ptr<StorageImpl>;

}  // namespace ambit
