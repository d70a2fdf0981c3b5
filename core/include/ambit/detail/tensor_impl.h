// What a Tensor handle points at: geometry, storage, and its place in the autograd graph.
// Public only so that accessors inline; use Tensor.
#pragma once

#include <ambit/detail/intrusive_ptr.h>
#include <ambit/detail/storage.h>
#include <ambit/dtype.h>
#include <ambit/shape.h>

#include <atomic>
#include <memory>

namespace ambit {

struct AutogradMeta;  // core/autograd/autograd_meta.h

/// A count of writes beside the storage's, of tensors whose writes the others do not notice.
struct WriteCount final : RefCounted {
  static void destroy(WriteCount* c) noexcept { delete c; }
  std::atomic<uint32_t> version{0};
};

class AMBIT_API TensorImpl final : public RefCounted, public Pooled {
 public:
  /// Contiguous, from the first element of the storage on. Requires that numel is sizes' product.
  TensorImpl(Storage storage, IntArrayRef sizes, int64_t numel, DType dtype);
  TensorImpl(Storage storage, IntArrayRef sizes, IntArrayRef strides, int64_t offset, DType dtype);

  /// Replace geometry and storage (module.to, set_data); keeps identity and autograd state. Nothing
  /// has changed where it throws.
  void set(Storage storage, IntArrayRef sizes, IntArrayRef strides, int64_t offset, DType dtype);

  /// Destroy without recursion, however many tensors own each other through gradients and hooks.
  static void destroy(TensorImpl* t) noexcept;

  /// The count of writes by which saved tensors notice a change.
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
  // Of Tensor::data() and its views, which count for themselves. Null: the storage counts.
  intrusive_ptr<WriteCount> writes;
  Dims sizes, strides;  // in elements
  int64_t offset = 0;   // of the first element, in elements
  int64_t numel = 0;
  Device device;
  DType dtype;
  bool contiguous = true;
  bool requires_grad = false;  // of a leaf, or because grad_fn is set
  // A view's root tensor, through which in-place writes reach the graph. Null: not a view.
  intrusive_ptr<TensorImpl> base;
  uint32_t base_rebases = 0;               // of the base when this view's grad_fn was made
  uint32_t replaced = 0;                   // how many times set() has, by which savers notice
  std::unique_ptr<AutogradMeta> autograd;  // null until there is something to say

 private:
  ~TensorImpl();
};

}  // namespace ambit
