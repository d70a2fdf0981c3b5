// The memory of tensors. Tensors that alias each other share one Storage and its version.
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

/// A native layout: a permutation of a storage's elements that a backend keeps until row-major
/// order is needed. Core only compares layouts and passes them to the backend.
struct PhysicalLayout {
  int32_t format = 0;              ///< backend-defined number
  uint32_t element_size = 0;       ///< bytes
  std::array<int64_t, 3> sizes{};  ///< for the backend's conversion to row-major
  friend bool operator==(const PhysicalLayout&, const PhysicalLayout&) = default;
};

/// One block of memory on one device, freed with the last tensor that uses it.
///
/// A new block is open: the kernel that fills it may choose a native layout, and other kernels of
/// the device that know the layout use it directly (a convolution's output stays channels-last
/// through bias, relu, pooling and their gradients). For all other code it is row-major: the first
/// data() converts it permanently, so that a returned pointer stays valid. Sizes and strides of
/// tensors never show the native layout.
class AMBIT_API StorageImpl final : public RefCounted, public Pooled {
 public:
  /// Allocate. On meta, and for 0 bytes, data() is null. Errors: those of Backend::allocate.
  StorageImpl(Device device, size_t size_bytes);
  /// Borrow host memory; `deleter` may be empty.
  StorageImpl(void* data, size_t size_bytes, std::function<void(void*)> deleter);
  /// Borrow memory of `device` that another library owns and that the device's kernels may use.
  /// `deleter` is called after all work on it is done. Errors: BackendError if the device does not
  /// exist.
  StorageImpl(Device device, void* data, size_t size_bytes, std::function<void(void*)> deleter);
  /// Set the `deleter` that returns borrowed memory.
  void set_deleter(std::function<void(void*)> deleter) noexcept { deleter_ = std::move(deleter); }

  /// Return the elements in row-major order.
  void* data() const {
    make_row_major();
    return data_;
  }
  /// Make the block row-major permanently: convert a native layout, wait for a pending copy.
  /// Thread-safe for concurrent readers. Errors: OutOfMemoryError of the conversion; errors of the
  /// copying device's work.
  void make_row_major() const {
    if (!state_.settle_row_major()) [[unlikely]] {
      materialize();
    }
  }
  /// Record that `source` was asked to copy into this block and may not have finished.
  void set_pending_copy(Device source);
  size_t size_bytes() const { return size_bytes_; }
  /// True for memory borrowed as read-only. check_in_place() refuses it.
  bool is_read_only() const { return read_only_; }
  void set_read_only() { read_only_ = true; }
  /// True if the block was made in the scope of an InferenceMode.
  bool is_inference() const { return inference_; }
  /// True if the memory was allocated from a backend and is freed with this block.
  bool owns_memory() const { return backend_ != nullptr; }
  Device device() const { return device_; }

  /// Number of writes, by which saved tensors detect changes.
  uint32_t version() const { return version_.load(std::memory_order_relaxed); }
  void bump_version() { version_.fetch_add(1, std::memory_order_relaxed); }

  // --- for kernels that know their backend's native layouts

  /// Declare that the calling kernel writes the block in `layout`. Return false if it must write
  /// row-major, because row-major order was already requested or another layout is set.
  bool adopt(const PhysicalLayout& layout);
  bool is_native() const { return state_.is_native(); }
  /// Keep the block in its native layout for reading until release_native(). Return false if it is
  /// row-major. While holding a native block, a thread must not make other blocks row-major, since
  /// two such threads would deadlock: acquire all operands of a kernel at once, as cpu's
  /// NativeScope does. Builds with assertions check this.
  bool acquire_native() const { return state_.acquire_native(); }
  void release_native() const { state_.release_native(); }
  /// Return the layout and address of a block that the caller acquired or adopted.
  const PhysicalLayout& layout() const { return layout_; }
  void* native_data() const { return data_; }

  /// Destroy without recursion, even if deleters own tensors whose deleters own tensors.
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
  bool inference_;
  std::atomic<uint32_t> version_{0};
  mutable LayoutState state_;
  PhysicalLayout layout_;  // if state_ is native
  Device copy_source_;     // if state_ is a pending copy
  std::function<void(void*)> deleter_;
  StorageImpl* next_to_destroy_ = nullptr;
};

/// A handle to a block, with libtorch's interface.
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
