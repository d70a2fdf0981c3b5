// In-place views: the tensor's geometry and history are replaced, its identity and memory are kept.
// Views of it are unaffected, because their geometry is relative to the storage.
#include <ambit/error.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <utility>

#include "core/autograd/autograd_meta.h"
#include "core/ops/operands/expect.h"

namespace ambit {
namespace {

void check_not_leaf(const char* op, const Tensor& self) {
  if (!GradMode::is_enabled() || !self.requires_grad()) return;
  const TensorImpl* base = self.impl()->base.get();
  const bool of_leaf = base && base->requires_grad && !(base->autograd && base->autograd->grad_fn);
  if (!self.is_leaf() && !of_leaf) return;
  throw AutogradError(
      fmt::format("{}: expected a tensor that may be overwritten, got a {}leaf that requires grad; "
                  "use NoGradGuard or detach()",
                  op, self.is_leaf() ? "" : "view of a "));
}

// Make self become view(self).
template <class View>
const Tensor& become(const char* op, const Tensor& self, View view) {
  expect_defined(op, "self", self);
  check_not_leaf(op, self);
  check_not_inference(op, self);
  // The history of a non-leaf must be extended even while not recording; otherwise its gradient
  // would have other sizes.
  const AutoGradMode record(GradMode::is_enabled() || !self.is_leaf());
  const Tensor out = view(self);
  TensorImpl& t = *self.impl();
  Dims sizes(out.sizes()), strides(out.strides());
  if (intrusive_ptr<Node> node = out.grad_fn()) set_history(self, std::move(node));
  // Nothing throws from here on.
  t.sizes = std::move(sizes);
  t.strides = std::move(strides);
  t.offset = out.storage_offset();
  t.numel = out.numel();
  t.contiguous = out.is_contiguous();
  ++t.replaced;  // so that Saved leaves detect it
  return self;
}

}  // namespace

const Tensor& transpose_(const Tensor& self, int64_t dim0, int64_t dim1) {
  return become("transpose_", self, [&](const Tensor& x) { return transpose(x, dim0, dim1); });
}

const Tensor& swapaxes_(const Tensor& self, int64_t axis0, int64_t axis1) {
  return become("swapaxes_", self, [&](const Tensor& x) { return transpose(x, axis0, axis1); });
}

const Tensor& swapdims_(const Tensor& self, int64_t dim0, int64_t dim1) {
  return become("swapdims_", self, [&](const Tensor& x) { return transpose(x, dim0, dim1); });
}

const Tensor& t_(const Tensor& self) {
  return become("t_", self, [](const Tensor& x) { return t(x); });
}

const Tensor& squeeze_(const Tensor& self) {
  return become("squeeze_", self, [](const Tensor& x) { return squeeze(x); });
}

const Tensor& squeeze_(const Tensor& self, int64_t dim) {
  return become("squeeze_", self, [dim](const Tensor& x) { return squeeze(x, dim); });
}

const Tensor& squeeze_(const Tensor& self, IntArrayRef dims) {
  return become("squeeze_", self, [dims](const Tensor& x) { return squeeze(x, dims); });
}

const Tensor& as_strided_(const Tensor& self, IntArrayRef sizes, IntArrayRef strides,
                          std::optional<int64_t> storage_offset) {
  return become("as_strided_", self,
                [&](const Tensor& x) { return as_strided(x, sizes, strides, storage_offset); });
}

const Tensor& unsqueeze_(const Tensor& self, int64_t dim) {
  return become("unsqueeze_", self, [dim](const Tensor& x) { return unsqueeze(x, dim); });
}

}  // namespace ambit
