// TensorImpl: the object of a Tensor handle: geometry, storage, and autograd state. Public only so
// that accessors inline; use Tensor.
#pragma once

#include <ambit/detail/intrusive_ptr.h>
#include <ambit/detail/storage.h>
#include <ambit/dtype.h>
#include <ambit/shape.h>

#include <atomic>
#include <memory>

namespace ambit {

struct AutogradMeta;  // core/autograd/autograd_meta.h

/// A write counter separate from the storage's: autograd does not detect writes to a tensor that
/// has one, such as Tensor::data().
struct WriteCount final : RefCounted {
  static void destroy(WriteCount* c) noexcept { delete c; }
  std::atomic<uint32_t> version{0};
};

class AMBIT_API TensorImpl final : public RefCounted, public Pooled {
 public:
  /// Contiguous, from the storage's first element on. Requires that numel is the product of sizes.
  TensorImpl(Storage storage, IntArrayRef sizes, int64_t numel, DType dtype);
  TensorImpl(Storage storage, IntArrayRef sizes, IntArrayRef strides, int64_t offset, DType dtype);

  /// Replace geometry and storage (module.to, set_data); keeps identity and autograd state. Strong
  /// exception guarantee.
  void set(Storage storage, IntArrayRef sizes, IntArrayRef strides, int64_t offset, DType dtype);

  /// Destroy without recursion, however long the chain of gradients and hooks that own each other.
  static void destroy(TensorImpl* t) noexcept;

  /// The write count by which saved tensors detect changes.
  uint32_t version() const {
    return writes ? writes->version.load(std::memory_order_relaxed) : storage->version();
  }
  void bump_version() {
    if (writes) [[unlikely]] {
      writes->version.fetch_add(1, std::memory_order_relaxed);
    } else {
      storage->bump_version();
    }
  }

  Storage storage;
  // Separate counter of Tensor::data() and its views. Null: the storage's counter is used.
  intrusive_ptr<WriteCount> writes;
  Dims sizes, strides;  // in elements
  int64_t offset = 0;   // of the first element, in elements
  int64_t numel = 0;
  Device device;
  DType dtype;
  bool contiguous = true;
  bool requires_grad = false;  // for a leaf, or because grad_fn is set
  // The root tensor of a view; in-place writes update the graph through it. Null: not a view.
  intrusive_ptr<TensorImpl> base;
  uint32_t base_rebases = 0;               // the base's count when this view's grad_fn was made
  uint32_t replaced = 0;                   // number of set() calls, by which Saved detects them
  std::unique_ptr<AutogradMeta> autograd;  // null if not needed

 private:
  ~TensorImpl();
};

}  // namespace ambit
