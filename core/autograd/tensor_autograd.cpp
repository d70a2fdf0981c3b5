// The Tensor methods for gradients.
#include "autograd_meta.h"

#include <ambit/backend/alias.h>
#include <ambit/detail/memory_errors.h>
#include <ambit/detail/warning.h>
#include <ambit/error.h>
#include <ambit/inference_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <utility>

namespace ambit {

Tensor& Tensor::requires_grad_(bool on) const {
  if (on && !is_differentiable(dtype())) {
    throw DTypeError(fmt::format("requires_grad_: expected a floating-point dtype, got {}",
                                 ambit::name(dtype())));
  }
  if (!on && !is_leaf()) {
    throw AutogradError("requires_grad_: expected a leaf, got the result of an op; use detach()");
  }
  TensorImpl* impl = get();
  if (on && is_inference() && !InferenceMode::is_enabled()) {
    throw AutogradError(
        "requires_grad_: expected a tensor made outside of InferenceMode, got one made in it; use "
        "clone()");
  }
  // Created here and not on first use, so that threads sharing a leaf do not race to create it.
  if (on) autograd_meta(*impl);
  impl->requires_grad = on;
  return const_cast<Tensor&>(*this);  // like all methods that write
}

int64_t Tensor::_version() const {
  if (is_inference()) {
    throw AutogradError(
        "_version: expected a tensor whose writes are counted, got one made in InferenceMode");
  }
  return version();
}

bool Tensor::is_leaf() const { return !grad_fn(); }

intrusive_ptr<Node> Tensor::grad_fn() const {
  if (!requires_grad()) return {};  // also refreshes a view's history
  return impl_->autograd ? impl_->autograd->grad_fn : intrusive_ptr<Node>();
}

const Tensor& Tensor::grad() const {
  static constinit const Tensor none;
  const Tensor& grad = get()->autograd ? impl_->autograd->grad : none;
  if (!grad.defined() && !is_leaf() && !retains_grad()) {
    detail::warn(detail::Warning::grad_of_non_leaf, "grad");
  }
  return grad;
}

Tensor& Tensor::mutable_grad() const { return autograd_meta(*get()).grad; }

void Tensor::backward(const Tensor& gradient, std::optional<bool> retain_graph, bool create_graph,
                      std::optional<TensorList> inputs) const {
  if (inputs && inputs->empty()) {
    throw AutogradError("backward: expected one or more inputs in the given list, got none");
  }
  autograd::backward({*this}, {gradient}, retain_graph, create_graph,
                     inputs.value_or(TensorList(nullptr, 0)));
}

Tensor Tensor::detach() const { return alias(*this, sizes(), strides()); }

Tensor Tensor::data() const {
  Tensor out = detach();
  out.impl_->writes = intrusive_ptr<WriteCount>(new WriteCount);
  return out;
}

Tensor& Tensor::detach_() const {
  if (get()->base) {
    throw AutogradError("detach_: expected a tensor that is not a view, got a view; use detach()");
  }
  impl_->requires_grad = false;
  if (impl_->autograd) {
    move_retained(*impl_, nullptr);
    impl_->autograd->grad_fn.reset();
    impl_->autograd->hooked.clear();
  }
  return const_cast<Tensor&>(*this);
}

void Tensor::retain_grad() const try {
  if (!requires_grad()) {
    throw AutogradError("retain_grad: expected a tensor that requires grad, got one that does not");
  }
  if (is_leaf()) return;
  const std::lock_guard lock(graph_mutex());
  AutogradMeta& meta = *impl_->autograd;
  if (meta.retains_grad) return;
  NodeHooks::of(*meta.grad_fn).retain.emplace_back(meta.output, impl_.get());
  meta.retains_grad = true;
} catch (const std::bad_alloc&) {
  throw_out_of_host_memory("retain_grad");
}

bool Tensor::retains_grad() const {
  return !is_leaf() && impl_->autograd && impl_->autograd->retains_grad;
}

uint32_t Tensor::output_nr() const { return is_leaf() ? 0 : impl_->autograd->output; }

unsigned Tensor::register_hook(std::function<Tensor(const Tensor&)> hook) const try {
  if (!requires_grad()) {
    throw AutogradError(
        "register_hook: expected a tensor that requires grad, got one that does not");
  }
  static std::atomic<unsigned> next_id{0};
  const unsigned id = next_id++;
  auto call = std::make_shared<const GradHook>(std::move(hook));
  AutogradMeta& meta = autograd_meta(*impl_);
  const std::lock_guard lock(graph_mutex());
  if (!meta.grad_fn) {
    meta.hooks.push_back({id, 0, std::move(call)});
    meta.has_hooks.store(true, std::memory_order_release);
    return id;
  }
  if (meta.hooked.empty() || meta.hooked.back() != meta.grad_fn) {
    meta.hooked.push_back(meta.grad_fn);
  }
  NodeHooks::of(*meta.grad_fn).hooks.push_back({id, meta.output, std::move(call)});
  return id;
} catch (const std::bad_alloc&) {
  throw_out_of_host_memory("register_hook");
}

void Tensor::remove_hook(unsigned id) const {
  std::shared_ptr<const GradHook> removed;  // destroyed after unlocking: it may lock
  const auto remove_from = [&](std::vector<NamedHook>& hooks) {
    return std::erase_if(hooks, [&](NamedHook& h) {
      if (h.id == id) removed = std::move(h.call);
      return h.id == id;
    });
  };
  size_t count = 0;
  if (AutogradMeta* meta = get()->autograd.get()) {
    const std::lock_guard lock(graph_mutex());
    count = remove_from(meta->hooks);
    for (const auto& node : meta->hooked) count += remove_from(NodeHooks::of(*node).hooks);
  }
  if (count == 0) {
    throw IndexError(fmt::format("remove_hook: expected the id of a hook, got {}", id));
  }
}

}  // namespace ambit
