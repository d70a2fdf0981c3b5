// One graph node computes the gradients of weight and bias for all calls. From each call it
// receives y's gradient and the call's x, which is passed like the gradient of another output. The
// node must not save x: the history of x may contain earlier calls, which refer to the node, so
// this would be a reference cycle.
#include <ambit/backend/alias.h>
#include <ambit/detail/autocast.h>
#include <ambit/detail/record.h>
#include <ambit/detail/repeated_linear.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>

#include <algorithm>
#include <array>

#include "core/ops/operands/operand_grad.h"

namespace ambit {
namespace {

constexpr const char* kOp = "linear";

// Cast like linear()'s operands in an autocast scope.
Tensor cast(const Tensor& operand) {
  if (!autocast::is_active()) return operand;
  return autocast::Cast<autocast::policy_of(kOp)>{}(operand);
}

/// Receives the gradient of call i as the gradient of its output 2 i, and the x of call i as the
/// gradient of its output 2 i + 1.
class WeightNode final : public Node {
 public:
  WeightNode(const Tensor& weight, const Tensor& bias, uint32_t calls)
      : Node(kOp, 2 * calls), edges_{gradient_edge(weight), gradient_edge(bias)} {}
  void apply(std::span<const Tensor> out, std::span<Tensor> in,
             std::span<const uint8_t> wanted) override {
    std::vector<Tensor> grads, inputs;
    for (size_t i = 0; i < out.size(); i += 2) {
      if (!out[i].defined()) continue;
      grads.push_back(out[i]);
      inputs.push_back(out[i + 1]);
    }
    if (grads.empty()) return;
    const auto joined = [](const std::vector<Tensor>& t) {
      return t.size() > 1 ? cat(t, 0) : t[0];
    };
    const Tensor g = joined(grads);
    if (wanted[0]) in[0] = mm(t(g), joined(inputs));
    if (wanted[1]) in[1] = sum_to(g, {g.size(1)});
  }
  bool release() override { return false; }
  std::span<Edge> edges() override { return edges_; }

 private:
  std::array<Edge, 2> edges_;
};

/// The history of one call.
class CallNode final : public Node {
 public:
  CallNode(const Tensor& x, const Tensor& weight, const intrusive_ptr<Node>& gradients,
           uint32_t call)
      : Node(kOp, 1),
        edges_{gradient_edge(x), Edge{gradients, 2 * call, {}}, Edge{gradients, 2 * call + 1, {}}},
        x_(Saved::in_node(x)),
        weight_(Saved::in_node(weight)) {}
  void apply(std::span<const Tensor> out, std::span<Tensor> in,
             std::span<const uint8_t> wanted) override {
    if (!out[0].defined()) return;
    if (wanted[0]) in[0] = matmul(out[0], weight_());
    if (wanted[1]) in[1] = out[0];
    if (wanted[2]) in[2] = x_();
  }
  bool release() override {
    x_ = weight_ = {};
    return true;
  }
  std::span<Edge> edges() override { return edges_; }

 private:
  std::array<Edge, 3> edges_;
  Saved x_, weight_;
};

/// Joins the gradients of the parts.
class PartsNode final : public Node {
 public:
  PartsNode(const Tensor& x, IntArrayRef sizes)
      : Node("split", static_cast<uint32_t>(sizes.size())),
        edge_(gradient_edge(x)),
        whole_(x.sizes()),
        sizes_(sizes.begin(), sizes.end()) {}
  void apply(std::span<const Tensor> out, std::span<Tensor> in,
             std::span<const uint8_t> wanted) override {
    const auto is_defined = [](const Tensor& t) { return t.defined(); };
    const auto some = std::find_if(out.begin(), out.end(), is_defined);
    if (!wanted[0] || some == out.end()) return;
    std::vector<Tensor> parts(out.begin(), out.end());
    for (size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].defined()) continue;
      Dims part = whole_;
      part[0] = sizes_[i];
      parts[i] = zeros(part, some->options());
    }
    in[0] = cat(parts, 0);
  }
  bool release() override { return false; }
  std::span<Edge> edges() override { return {&edge_, 1}; }

 private:
  Edge edge_;
  Dims whole_;
  std::vector<int64_t> sizes_;
};

}  // namespace

std::vector<Tensor> rows_apart(const Tensor& x, IntArrayRef sizes) {
  intrusive_ptr<Node> node;
  if (needs_gradient(x)) node = intrusive_ptr<Node>(new PartsNode(x, sizes));
  std::vector<Tensor> parts;
  Dims part(x.sizes());
  int64_t start = 0;
  for (const int64_t size : sizes) {
    part[0] = size;
    parts.push_back(alias(x, part, x.strides(), x.storage_offset() + start * x.strides()[0]));
    if (node) set_history(parts.back(), node, static_cast<uint32_t>(parts.size() - 1));
    start += size;
  }
  return parts;
}

RepeatedLinear::RepeatedLinear(const Tensor& weight, const Tensor& bias, size_t calls)
    : weight_(cast(weight)), bias_(cast(bias)), calls_(static_cast<uint32_t>(calls)) {
  if (calls > 1 && needs_gradient(weight_, bias_)) {
    gradients_ = intrusive_ptr<Node>(new WeightNode(weight_, bias_, calls_));
  }
}

Tensor RepeatedLinear::operator()(const Tensor& x) {
  if (!gradients_ || x.dim() != 2 || !GradMode::is_enabled() || done_ == calls_) {
    return linear(x, weight_, bias_);
  }
  const Tensor input = cast(x);
  Tensor y;
  {
    const NoGradGuard no_grad;
    y = linear(input, weight_, bias_);
  }
  set_history(y, intrusive_ptr<Node>(new CallNode(input, weight_, gradients_, done_++)));
  return y;
}

}  // namespace ambit
