// The bytes behind tensors. Tensors that alias each other share one Storage and its version.
#pragma once

#include <ambit/detail/intrusive_ptr.h>
#include <ambit/detail/layout_state.h>
#include <ambit/detail/pooled.h>
#include <ambit/device.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace ambit {

class Backend;

/// An order of its own, native to it, in which a backend keeps the elements of a storage until
/// somebody asks for row-major ones: the same bytes, permuted. Core only compares layouts and hands
/// them back to the backend.
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
  /// Borrow memory of `device` that another library owns and that kernels of the device may use.
  /// Work on it is over when `deleter` is called. Errors: BackendError for no such device.
  StorageImpl(Device device, void* data, size_t size_bytes, std::function<void(void*)> deleter);
  /// Have borrowed memory given back by `deleter`, from now on.
  void set_deleter(std::function<void(void*)> deleter) noexcept { deleter_ = std::move(deleter); }

  /// Return the elements in row-major order.
  void* data() const {
    make_row_major();
    return data_;
  }
  /// Have the elements in row-major order from now on: convert those that lie otherwise, await the
  /// end of a pending copy. Thread safety: concurrent readers may ask. Errors: OutOfMemoryError, of
  /// the conversion; what failed in the work of the copying device.
  void make_row_major() const {
    if (!state_.settle_row_major()) [[unlikely]] {
      materialize();
    }
  }
  /// Note that `source` has been asked to copy to here, and may not have done it yet.
  void set_pending_copy(Device source);
  size_t size_bytes() const { return size_bytes_; }
  /// Whether nobody may write here: memory that was borrowed so. check_in_place() refuses it.
  bool is_read_only() const { return read_only_; }
  void set_read_only() { read_only_ = true; }
  /// Whether the memory came from a backend and goes when this does.
  bool owns_memory() const { return backend_ != nullptr; }
  Device device() const { return device_; }

  /// Count of the writes so far, by which saved tensors notice a change.
  uint32_t version() const { return version_.load(std::memory_order_relaxed); }
  void bump_version() { version_.fetch_add(1, std::memory_order_relaxed); }

  // --- for kernels that know their backend's layouts

  /// Say that the calling kernel writes the block in `layout`. Return false where it must be
  /// written row-major, because somebody has asked for that or another layout is there.
  bool adopt(const PhysicalLayout& layout);
  bool is_native() const { return state_.is_native(); }
  /// Keep the block in its native layout until release_native(), for reading. Return false where it
  /// is row-major. Who has acquired a block must not make others row-major, since two who do would
  /// wait for each other: take all operands of a kernel at once, as cpu's NativeScope does. Builds
  /// with assertions check it.
  bool acquire_native() const { return state_.acquire_native(); }
  void release_native() const { state_.release_native(); }
  /// Return layout and address of a block that is acquired, or was adopted by the caller.
  const PhysicalLayout& layout() const { return layout_; }
  void* native_data() const { return data_; }

  /// Destroy without recursion, also where deleters own tensors whose deleters own tensors.
  static void destroy(StorageImpl* s) noexcept;

 private:
  ~StorageImpl();
  void materialize() const;
  void convert() const;

  mutable void* data_ = nullptr;
  size_t size_bytes_;
  Backend* backend_ = nullptr;  // null: borrowed or empty
  Device device_;
  bool read_only_ = false;
  std::atomic<uint32_t> version_{0};
  mutable LayoutState state_;
  PhysicalLayout layout_;  // where state_ is native
  Device copy_source_;     // where it is a pending copy
  std::function<void(void*)> deleter_;
  StorageImpl* next_to_destroy_ = nullptr;
};

/// A handle on a block, and what libtorch asks of it.
class Storage : public intrusive_ptr<StorageImpl> {
 public:
  using intrusive_ptr::intrusive_ptr;
  /// Return the first element, as StorageImpl::data() does.
  void* data() const { return get()->data(); }
  template <class T>
  T* data() const {
    return static_cast<T*>(data());
  }
  size_t nbytes() const { return get()->size_bytes(); }
  Device device() const { return get()->device(); }
  uint32_t use_count() const { return get()->use_count(); }
  bool is_alias_of(const Storage& other) const { return *this == other; }
};

}  // namespace ambit
