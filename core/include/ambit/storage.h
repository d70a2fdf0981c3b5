// The bytes behind tensors. Tensors that alias each other share one Storage and its version.
#pragma once

#include <ambit/device.h>
#include <ambit/intrusive_ptr.h>

#include <atomic>
#include <cstddef>
#include <functional>

namespace ambit {

class Backend;

/// One block of memory on one device; freed with the last tensor that uses it.
class AMBIT_API StorageImpl final : public RefCounted {
 public:
  /// Allocate. On meta, and for 0 bytes, data() is null. Errors: those of Backend::allocate.
  StorageImpl(Device device, size_t size_bytes);
  /// Borrow memory that the host owns; `deleter` may be empty.
  StorageImpl(void* data, size_t size_bytes, std::function<void(void*)> deleter);

  /// Return the address; while a copy that await() told of is on its way there, wait for it first.
  /// Errors: what failed in that device's work.
  void* data() const {
    if (!awaited_.load(std::memory_order_acquire).is_cpu()) [[unlikely]]
      wait();
    return data_;
  }
  /// Say that `source` has been asked to copy here, and may not have done it yet.
  void await(Device source) { awaited_.store(source, std::memory_order_release); }
  size_t size_bytes() const { return size_bytes_; }
  Device device() const { return device_; }

  /// Count of the writes so far, by which saved tensors notice a change.
  uint32_t version() const { return version_.load(std::memory_order_relaxed); }
  void bump_version() { version_.fetch_add(1, std::memory_order_relaxed); }

  static void destroy(StorageImpl* s) noexcept;

 private:
  ~StorageImpl();
  void wait() const;

  void* data_ = nullptr;
  size_t size_bytes_;
  Backend* backend_ = nullptr;  // null: borrowed or empty
  Device device_;
  mutable std::atomic<Device> awaited_{kCPU};  // cpu: nothing is on its way
  std::atomic<uint32_t> version_{0};
  std::function<void(void*)> deleter_;
};

using Storage = intrusive_ptr<StorageImpl>;

}  // namespace ambit
