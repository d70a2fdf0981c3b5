// autograd::Function: a user's forward and backward as one node of the graph.
#include <ambit/detail/memory_errors.h>
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <algorithm>

#include "core/ops/operands/broadcast.h"
#include "core/ops/operands/operand_grad.h"

namespace ambit::autograd {
struct AutogradContext::SavedList {
  std::vector<Saved> tensors;
};

struct CustomNode final : Node {
  using Backward = std::function<std::vector<Tensor>(AutogradContext*, std::vector<Tensor>)>;

  CustomNode(const char* name, const std::vector<Tensor>& inputs, uint32_t outputs, Backward f,
             AutogradContext c)
      : Node(name, outputs), context(std::move(c)), backward(std::move(f)) {
    for (const Tensor& t : inputs) {
      input_edges.push_back(gradient_edge(t));
      input_like.push_back(t.defined() ? Like{t.sizes(), t.dtype(), t.device()} : Like{});
    }
  }

  void apply(std::span<const Tensor> out, std::span<Tensor> in,
             std::span<const uint8_t> wanted) override {
    std::vector<Tensor> grads = backward(&context, {out.begin(), out.end()});
    if (grads.size() != in.size()) {
      throw AutogradError(fmt::format(
          "{}: expected backward to return {} gradients, one for each tensor argument, got {}",
          name(), in.size(), grads.size()));
    }
    for (size_t i = 0; i < in.size(); ++i) {
      if (wanted[i] && grads[i].defined()) check_device(i, grads[i]);
    }
    for (size_t i = 0; i < in.size(); ++i) {
      if (wanted[i] && grads[i].defined()) in[i] = fitted(i, grads[i]);
    }
  }
  /// The input is gone, so that check_devices cannot see it.
  void check_device(size_t i, const Tensor& g) const {
    const Like& want = input_like[i];
    if (g.device() == want.device) return;
    const auto type = [](DType dtype, IntArrayRef sizes) {
      return ambit::name(dtype) + str(sizes);
    };
    throw DeviceMismatchError(
        name(),
        {{fmt::format("inputs[{}]", i), type(want.dtype, want.sizes), want.device, ""},
         {fmt::format("gradients[{}]", i), type(g.dtype(), g.sizes()), g.device(), g.name()}},
        0, 1);
  }
  /// The gradient in the shape and dtype of its input, as the nodes below take for granted.
  Tensor fitted(size_t i, const Tensor& g) const {
    const Like& want = input_like[i];
    if (!broadcasts_to(want.sizes, g.sizes())) {
      throw AutogradError(fmt::format(
          "{}: expected backward to return a gradient of sizes {} for tensor argument {}, got {}",
          name(), str(want.sizes), i, str(g.sizes())));
    }
    return to(sum_to(g, want.sizes), g.device(), want.dtype);
  }
  void release() override { context.saved_.reset(); }
  std::span<Edge> edges() override { return input_edges; }

  /// Keep what forward asked to keep; an output without a reference cycle.
  void save(const std::vector<Tensor>& outputs) {
    context.saved_ = std::make_shared<AutogradContext::SavedList>();
    for (const Tensor& t : context.to_save_) {
      const auto same = std::find_if(outputs.begin(), outputs.end(),
                                     [&](const Tensor& o) { return t.defined() && o.is_same(t); });
      const int output = same == outputs.end() ? -1 : static_cast<int>(same - outputs.begin());
      context.saved_->tensors.emplace_back(t, output);
    }
    context.to_save_.clear();
    context.constants_.clear();
  }

  struct Like {
    Dims sizes;
    DType dtype = kFloat32;
    Device device;
  };

  std::vector<Edge> input_edges;
  std::vector<Like> input_like;
  AutogradContext context;
  Backward backward;
};

std::vector<Tensor> AutogradContext::get_saved_variables() const try {
  if (!saved_) throw AutogradError("get_saved_variables: expected saved tensors, got none left");
  std::vector<Tensor> tensors;
  for (const Saved& s : saved_->tensors) tensors.push_back(s());
  return tensors;
} catch (const std::bad_alloc&) {
  throw_out_of_host_memory("get_saved_variables");
}

std::vector<Tensor> apply_custom(
    const char* name, const std::vector<Tensor>& inputs,
    const std::function<std::vector<Tensor>(AutogradContext*)>& forward,
    std::function<std::vector<Tensor>(AutogradContext*, std::vector<Tensor>)> backward) try {
  AutogradContext context;
  bool needed = false;
  for (const Tensor& t : inputs) {
    context.needs_grad_.push_back(t.requires_grad());
    needed |= t.requires_grad();
  }
  std::vector<Tensor> outputs;
  {
    const NoGradGuard no_grad;
    outputs = forward(&context);
  }
  if (!needed || !GradMode::is_enabled()) return outputs;
  const auto is_among = [](const std::vector<Tensor>& list, const Tensor& t) {
    return std::any_of(list.begin(), list.end(), [&](const Tensor& o) { return o.is_same(t); });
  };
  // An input handed through gets a history of its own, beside the one it has.
  for (Tensor& out : outputs) {
    if (out.defined() && is_among(inputs, out)) out = out.detach();
  }
  const std::vector<Tensor> constants = context.constants_;
  intrusive_ptr<CustomNode> node(new CustomNode(name, inputs, static_cast<uint32_t>(outputs.size()),
                                                std::move(backward), std::move(context)));
  node->save(outputs);
  for (uint32_t i = 0; i < outputs.size(); ++i) {
    const Tensor& out = outputs[i];
    if (out.defined() && out.is_floating_point() && !is_among(constants, out)) {
      set_history(out, intrusive_ptr<Node>(node.get()), i);
    }
  }
  return outputs;
} catch (const std::bad_alloc&) {
  throw_out_of_host_memory(name);
}

}  // namespace ambit::autograd
