// autograd::Function: a user's forward and backward as one node of the graph.
#include <ambit/detail/memory_errors.h>
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/shape.h>
#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "core/ops/operands/broadcast.h"
#include "core/ops/operands/operand_grad.h"

namespace ambit::autograd {
namespace {

bool is_among(const variable_list& list, const Tensor& t) {
  return std::any_of(list.begin(), list.end(), [&](const Tensor& o) { return o.is_same(t); });
}

struct Like {
  Dims sizes;
  DType dtype = kFloat32;
  Device device;

  static Like of(const Tensor& t) {
    return t.defined() ? Like{t.sizes(), t.dtype(), t.device()} : Like{};
  }
  std::string str() const { return ambit::name(dtype) + ambit::str(sizes); }
};

}  // namespace

struct AutogradContext::SavedList {
  std::vector<Saved> tensors;
  bool is_freed = false;
};

struct CustomNode final : Node {
  CustomNode(const CustomCall& call, std::shared_ptr<AutogradContext> c,
             const variable_list& outputs)
      : Node(call.name, static_cast<uint32_t>(outputs.size())),
        is_tensor(call.is_tensor),
        context(std::move(c)),
        backward(call.backward) {
    for (const Tensor& t : call.inputs) {
      input_edges.push_back(gradient_edge(t));
      input_like.push_back(Like::of(t));
    }
    for (const Tensor& t : outputs) output_like.push_back(Like::of(t));
  }

  void apply(std::span<const Tensor> out, std::span<Tensor> in,
             std::span<const uint8_t> wanted) override {
    variable_list grads(out.begin(), out.end());
    for (size_t i = 0; context->materializes_ && i < grads.size(); ++i) {
      const Like& like = output_like[i];
      if (!grads[i].defined()) {
        grads[i] = zeros(like.sizes, TensorOptions(like.dtype).device(like.device));
      }
    }
    const std::lock_guard lock(mutex);
    std::vector<uint8_t> before = std::exchange(context->wanted_, {wanted.begin(), wanted.end()});
    try {
      grads = backward(context.get(), std::move(grads));
    } catch (...) {
      context->wanted_ = std::move(before);
      throw;
    }
    context->wanted_ = std::move(before);
    grads = of_tensors(std::move(grads));
    for (size_t i = 0; i < in.size(); ++i) {
      if (wanted[i] && grads[i].defined()) check_device(i, grads[i]);
    }
    for (size_t i = 0; i < in.size(); ++i) {
      if (wanted[i] && grads[i].defined()) in[i] = fitted(i, grads[i]);
    }
  }
  /// Return backward's gradients without the entries of non-tensor arguments.
  variable_list of_tensors(variable_list grads) const {
    const auto surplus = std::find_if(
        grads.begin() + static_cast<ptrdiff_t>(std::min(is_tensor.size(), grads.size())),
        grads.end(), [](const Tensor& g) { return g.defined(); });
    if (grads.size() < is_tensor.size() || surplus != grads.end()) {
      throw AutogradError(
          fmt::format("{}: expected backward to return {} gradients, one for each argument of "
                      "forward, got {}",
                      op(), is_tensor.size(), grads.size()));
    }
    variable_list kept;
    for (size_t i = 0; i < is_tensor.size(); ++i) {
      if (is_tensor[i]) {
        kept.push_back(std::move(grads[i]));
      } else if (grads[i].defined()) {
        throw AutogradError(fmt::format(
            "{}: expected backward to return an undefined gradient for argument {}, which is "
            "not a tensor, got one of sizes {}",
            op(), i, str(grads[i].sizes())));
      }
    }
    return kept;
  }
  /// The input no longer exists, so check_devices cannot be used.
  void check_device(size_t i, const Tensor& g) const {
    const Like& want = input_like[i];
    if (g.device() == want.device) return;
    throw DeviceMismatchError(
        op(),
        {{fmt::format("inputs[{}]", i), want.str(), want.device, ""},
         {fmt::format("gradients[{}]", i), Like::of(g).str(), g.device(), g.name()}},
        0, 1);
  }
  /// Return the gradient in its input's shape and dtype, as later nodes require.
  Tensor fitted(size_t i, const Tensor& g) const {
    const Like& want = input_like[i];
    if (!broadcasts_to(want.sizes, g.sizes())) {
      throw AutogradError(fmt::format(
          "{}: expected backward to return a gradient of sizes {} for tensor argument {}, got {}",
          op(), str(want.sizes), i, str(g.sizes())));
    }
    return to(sum_to(g, want.sizes), g.device(), want.dtype);
  }
  bool release() override {
    const std::lock_guard lock(mutex);
    if (context->saved_->tensors.empty()) return false;
    context->saved_->tensors.clear();
    context->saved_->is_freed = true;
    return true;
  }
  std::span<Edge> edges() override { return input_edges; }

  /// Save forward's tensors. An output is saved without its grad_fn, to avoid a reference cycle.
  void save(const variable_list& outputs) {
    context->saved_ = std::make_shared<AutogradContext::SavedList>();
    std::vector<Saved>& kept = context->saved_->tensors;
    kept.reserve(context->to_save_.size());
    for (const Tensor& t : context->to_save_) {
      const auto same = std::find_if(outputs.begin(), outputs.end(),
                                     [&](const Tensor& o) { return t.defined() && o.is_same(t); });
      const int output = same == outputs.end() ? -1 : static_cast<int>(same - outputs.begin());
      kept.push_back(Saved::in_node(t, output));
    }
    context->to_save_.clear();
    context->dirty_.clear();
    context->constants_.clear();
  }

  std::vector<Edge> input_edges;
  std::vector<uint8_t> is_tensor;
  std::vector<Like> input_like, output_like;
  std::shared_ptr<AutogradContext> context;
  std::function<variable_list(AutogradContext*, variable_list)> backward;
  // Recursive: the user's backward may write to the context and run this node again.
  std::recursive_mutex mutex;
};

variable_list AutogradContext::get_saved_variables() const try {
  if (!saved_ || saved_->is_freed) {
    throw AutogradError(
        "get_saved_variables: expected saved tensors, got none: forward has not returned, or a "
        "backward freed them");
  }
  variable_list tensors;
  for (const Saved& s : saved_->tensors) tensors.push_back(s());
  return tensors;
} catch (const std::bad_alloc&) {
  throw_out_of_host_memory("get_saved_variables");
}

bool AutogradContext::needs_input_grad(std::initializer_list<IndexRange> ranges) const {
  return std::any_of(ranges.begin(), ranges.end(), [&](const IndexRange& r) {
    for (size_t i = r.first; i < r.second; ++i) {
      if (needs_input_grad(i)) return true;
    }
    return false;
  });
}

void CustomCall::add(const Tensor& t) {
  is_tensor.push_back(1);
  inputs.push_back(t);
}

void CustomCall::add(const std::optional<Tensor>& t) {
  if (t && t->defined()) return add(*t);
  is_tensor.push_back(0);
}

void CustomCall::add(TensorList list) {
  for (const Tensor& t : list) add(t);
}

const char* CustomCall::name_of(const std::type_info& type) {
  int status = 0;
  // Leaked: nodes may be used after main.
  const char* const demangled = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
  if (!demangled) return "Function";
  const char* last = demangled;
  for (const char* c = demangled; *c && *c != '<'; ++c) {
    if (c[0] == ':' && c[1] == ':') last = c + 2;
  }
  return last;
}

variable_list CustomCall::run(const std::function<variable_list(AutogradContext*)>& forward) try {
  auto context = std::make_shared<AutogradContext>();
  bool needed = false;
  for (const Tensor& t : inputs) {
    context->wanted_.push_back(t.requires_grad());
    needed |= t.requires_grad();
  }
  variable_list outputs;
  {
    const NoGradGuard no_grad;
    outputs = forward(context.get());
  }
  for (const Tensor& t : context->dirty_) {
    t.bump_version();  // also if forward wrote without ops
    if (is_among(outputs, t)) continue;
    throw AutogradError(fmt::format(
        "{}: expected forward to return every tensor that it marks dirty, got one that it does not",
        name));
  }
  if (needed && GradMode::is_enabled()) record(std::move(context), outputs);
  return outputs;
} catch (const std::bad_alloc&) {
  throw_out_of_host_memory(name);
}

void CustomCall::record(std::shared_ptr<AutogradContext> context, variable_list& outputs) {
  const variable_list dirty = context->dirty_, constants = context->constants_;
  for (const Tensor& t : dirty) check_in_place(name, t);
  // An input returned unchanged gets a separate history in addition to its own.
  for (Tensor& out : outputs) {
    if (out.defined() && is_among(inputs, out) && !is_among(dirty, out)) out = out.detach();
  }
  intrusive_ptr<CustomNode> node(new CustomNode(*this, context, outputs));
  node->save(outputs);
  for (uint32_t i = 0; i < outputs.size(); ++i) {
    const Tensor& out = outputs[i];
    if (!out.defined() || !is_differentiable(out.dtype())) continue;
    const bool is_constant = is_among(constants, out);
    if (is_among(dirty, out)) {
      if (is_constant) {
        if (!out.impl()->base) out.detach_();
      } else {
        set_history_in_place(out, intrusive_ptr<Node>(node.get()), i);
      }
    } else if (!is_constant) {
      set_history(out, intrusive_ptr<Node>(node.get()), i);
    }
  }
}

}  // namespace ambit::autograd
