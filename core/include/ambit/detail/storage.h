// The bytes behind tensors. Tensors that alias each other share one Storage and its version.
#pragma once

#include <ambit/detail/intrusive_ptr.h>
#include <ambit/detail/pooled.h>
#include <ambit/device.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace ambit {

class Backend;

/// An order of its own in which a backend keeps the elements of a storage until somebody looks: the
/// same bytes, permuted. Core only compares layouts and hands them back to the backend.
struct PhysicalLayout {
  int32_t format = 0;              ///< the backend's own number
  uint32_t element_size = 0;       ///< bytes
  std::array<int64_t, 3> sizes{};  ///< what the backend needs to undo it
  friend bool operator==(const PhysicalLayout&, const PhysicalLayout&) = default;
};

/// One block of memory on one device; freed with the last tensor that uses it.
///
/// A fresh block is open: the kernel that fills it may lay it out as its device likes it best, and
/// kernels of that device that know the layout go on from there (a convolution's output stays
/// channels-last through bias, relu, pooling and their gradients). To everybody else it reads as
/// row-major: the first data() converts it, once and for ever, so that an address once given out
/// stays what it was. Tensors' sizes and strides never show any of it.
class AMBIT_API StorageImpl final : public RefCounted, public Pooled {
 public:
  /// Allocate. On meta, and for 0 bytes, data() is null. Errors: those of Backend::allocate.
  StorageImpl(Device device, size_t size_bytes);
  /// Borrow memory that the host owns; `deleter` may be empty.
  StorageImpl(void* data, size_t size_bytes, std::function<void(void*)> deleter);

  /// Return the elements in row-major order: after a conversion where they lie otherwise, after the
  /// end of a copy that await() told of. Thread safety: concurrent readers may look. Errors:
  /// OutOfMemoryError, of the conversion; what failed in the work of the copying device.
  void* data() const {
    const int32_t order = order_.load(std::memory_order_acquire);
    if (order == kOpen) {
      order_.store(kRowMajor, std::memory_order_relaxed);
    } else if (order != kRowMajor) [[unlikely]] {
      look();
    }
    return data_;
  }
  /// Say that `source` has been asked to copy here, and may not have done it yet.
  void await(Device source);
  size_t size_bytes() const { return size_bytes_; }
  Device device() const { return device_; }

  /// Count of the writes so far, by which saved tensors notice a change.
  uint32_t version() const { return version_.load(std::memory_order_relaxed); }
  void bump_version() { version_.fetch_add(1, std::memory_order_relaxed); }

  // --- for kernels that know their backend's layouts

  /// Say that the calling kernel writes the block in `layout`. Return false where it must be
  /// written row-major, because somebody has looked or another layout is there.
  bool adopt(const PhysicalLayout& layout);
  bool is_laid_out() const { return order_.load(std::memory_order_acquire) >= kLaidOut; }
  /// Keep the block in its layout until release(), for reading. Return false where it is row-major.
  /// Who holds one block must not call data() of any: two who do would wait for each other.
  bool hold() const;
  void release() const;
  /// Return layout and address of a block that is held, or was adopted by the caller.
  const PhysicalLayout& layout() const { return layout_; }
  void* laid_out() const { return data_; }

  static void destroy(StorageImpl* s) noexcept;

 private:
  ~StorageImpl();
  void look() const;
  void convert() const;

  // What order_ says; above 0 the block lies in layout_, and is held by order_ - 1 readers.
  enum Order : int32_t {
    kOnItsWay = -3,
    kConverting = -2,
    kOpen = -1,
    kRowMajor = 0,
    kLaidOut = 1
  };

  mutable void* data_ = nullptr;
  size_t size_bytes_;
  Backend* backend_ = nullptr;  // null: borrowed or empty
  Device device_;
  std::atomic<uint32_t> version_{0};
  mutable std::atomic<int32_t> order_{kRowMajor};
  PhysicalLayout layout_;
  Device source_;  // of the copy on its way
  std::function<void(void*)> deleter_;
};

using Storage = intrusive_ptr<StorageImpl>;

}  // namespace ambit
