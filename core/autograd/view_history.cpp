// Histories of views and in-place writes: a write to a view writes its base and all other views of
// it. The base's history gets a node for the write; views whose base was written since get a new
// history from the base lazily, by their geometry. The scheme is PyTorch's (CopySlices,
// DifferentiableViewMeta).
#include <ambit/error.h>
#include <ambit/ops/complex.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>

#include <atomic>

#include "autograd_meta.h"
#include "overlap.h"
#include "strided_grad.h"

namespace ambit {
namespace {

uint32_t rebases_of(const TensorImpl& t) { return t.autograd ? t.autograd->rebases : 0; }

// Geometries of a base and a view of it in elements of one dtype: if exactly one of them is
// complex, that one is described in real elements, with a last dim of size 2.
struct Regions {
  Regions(const TensorImpl& b, const TensorImpl& v) : base(b), view(v) {
    if (is_complex(base.dtype) == is_complex(view.dtype)) return;
    splits_base = is_complex(base.dtype);
    splits_view = !splits_base;
    Geometry& split = splits_base ? base : view;
    for (int64_t& s : split.strides) s *= 2;
    split.sizes.push_back(2);
    split.strides.push_back(1);
    split.offset *= 2;
    split.dtype = real_dtype(split.dtype);
  }
  Geometry base, view;
  bool splits_base = false, splits_view = false;
};

// Convert gradients from and to the dtype of the tensor that they belong to.
Tensor split(bool splits, const Tensor& g) { return splits ? view_as_real(g) : g; }
Tensor joined(bool splits, const Tensor& g) { return splits ? view_as_complex(g) : g; }

// Return zeros with the base's layout, so that a view's strides select the same elements.
Tensor zeros_of(const Geometry& base, const Tensor& like) {
  return empty_strided(base.sizes, base.strides, like.options()).zero_();
}

// Sum the elements of g that share memory, and remove the repetition from the view's geometry: a
// dim of stride 0 becomes one of size 1.
Tensor sum_repeated(const Tensor& g, Geometry& view) {
  Dims repeated;
  for (size_t i = 0; i < view.sizes.size(); ++i) {
    if (view.strides[i] != 0 || view.sizes[i] == 1) continue;
    repeated.push_back(static_cast<int64_t>(i));
    view.sizes[i] = 1;
  }
  return repeated.empty() || g.numel() == 0 ? g : sum(g, repeated, /*keepdim=*/true);
}

Tensor region(const Tensor& in_base_layout, const Geometry& base, const Geometry& view) {
  // An empty view may start beyond the storage.
  const int64_t offset = count("backward", view.sizes) == 0 ? 0 : view.offset - base.offset;
  return as_strided(in_base_layout, view.sizes, view.strides, offset);
}

// Node of a view regenerated from its base: the gradient is zero outside the view.
class ViewNode final : public Node {
 public:
  ViewNode(const Tensor& base, const TensorImpl& view)
      : Node("as_strided", 1), edge_(gradient_edge(base)), at_(*base.impl(), view) {}
  void apply(std::span<const Tensor> out, std::span<Tensor> in,
             std::span<const uint8_t> wanted) override {
    if (!wanted[0] || !out[0].defined()) return;
    Geometry part = at_.view;
    const Tensor g = sum_repeated(split(at_.splits_view, out[0]), part);
    const Tensor zero = zeros_of(at_.base, g);
    const Tensor place = region(zero, at_.base, part);
    if (overlaps_itself(*place.impl())) {
      in[0] = joined(at_.splits_base, strided_grad(g, at_.base, part));
    } else {
      place.copy_(g);
      in[0] = joined(at_.splits_base, zero);
    }
  }
  bool release() override { return false; }
  std::span<Edge> edges() override { return {&edge_, 1}; }

 private:
  Edge edge_;
  Regions at_;
};

// Node of a base whose view was overwritten by `write`: the gradient of elements outside the view
// flows to the base's old value, that of elements inside to the write.
class ViewWriteNode final : public Node {
 public:
  ViewWriteNode(const Tensor& base, const TensorImpl& view, intrusive_ptr<Node> write,
                uint32_t output)
      : Node(write->op(), 1),
        edges_{gradient_edge(base), Edge{std::move(write), output, {}}},
        at_(*base.impl(), view) {}
  void apply(std::span<const Tensor> out, std::span<Tensor> in,
             std::span<const uint8_t> wanted) override {
    if (!out[0].defined()) return;
    const Tensor given = split(at_.splits_base, out[0]);
    Tensor g = zeros_of(at_.base, given);
    g.copy_(given);
    if (wanted[1]) in[1] = joined(at_.splits_view, region(g, at_.base, at_.view).clone());
    if (wanted[0]) {
      region(g, at_.base, at_.view).zero_();
      in[0] = joined(at_.splits_base, g);
    }
  }
  bool release() override { return false; }
  std::span<Edge> edges() override { return edges_; }

 private:
  std::array<Edge, 2> edges_;
  Regions at_;
};

// After set_data() on the base, t is no longer a view of it: their storages differ.
bool is_view_of_base(const TensorImpl& t) { return t.base && t.base->storage == t.storage; }

}  // namespace

Tensor make_view(const Tensor& base, IntArrayRef sizes, IntArrayRef strides, int64_t offset) {
  return make_view(base, sizes, strides, offset, base.dtype());
}

Tensor make_view(const Tensor& base, IntArrayRef sizes, IntArrayRef strides, int64_t offset,
                 DType dtype) {
  intrusive_ptr<TensorImpl> view(new TensorImpl(base.storage(), sizes, strides, offset, dtype));
  view->writes = base.impl()->writes;
  view->base = base.impl()->base ? base.impl()->base : intrusive_ptr<TensorImpl>(base.impl());
  view->base_rebases = rebases_of(*view->base);
  // As in PyTorch, a view made under NoGradGuard copies requires_grad. Otherwise the history of the
  // view op sets it.
  if (!GradMode::is_enabled()) view->requires_grad = base.requires_grad();
  return Tensor(std::move(view));
}

bool is_unrecorded_view(const TensorImpl& t) { return t.requires_grad && t.base && !t.autograd; }

void set_history_in_place(const Tensor& self, intrusive_ptr<Node> node, uint32_t output) {
  if (!is_view_of_base(*self.impl())) {
    set_history(self, std::move(node), output);
    ++self.impl()->autograd->rebases;
    return;
  }
  const Tensor base(self.impl()->base);
  set_history(base,
              intrusive_ptr<Node>(new ViewWriteNode(base, *self.impl(), std::move(node), output)));
  // sync_view() gives self and the other views of the base their new history when it is read.
  ++base.impl()->autograd->rebases;
}

void Tensor::sync_view() const {
  // base_rebases is read without the lock and stored last, so a thread that reads the new count
  // also sees the new history.
  std::atomic_ref<uint32_t> seen(impl_->base_rebases);
  if (seen.load(std::memory_order_acquire) == rebases_of(*impl_->base)) return;
  static constinit std::mutex mutex;  // not graph_mutex(), which set_history may lock
  const std::lock_guard lock(mutex);
  const uint32_t now = rebases_of(*impl_->base);
  if (seen.load(std::memory_order_relaxed) == now || !is_view_of_base(*impl_)) return;
  const Tensor base(impl_->base);
  if (base.requires_grad()) {
    set_history(*this, intrusive_ptr<Node>(new ViewNode(base, *impl_)));
  }
  seen.store(now, std::memory_order_release);
}

}  // namespace ambit
