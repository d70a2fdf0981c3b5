// Recording of histories: nodes, saved tensors, views and in-place writes.
#include <ambit/detail/memory_errors.h>
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/inference_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <span>
#include <string_view>

#include "autograd_meta.h"
#include "checkpointed_part.h"
#include "core/memory/destroy_iteratively.h"
#include "overlap.h"

namespace ambit {

NodeHooks& NodeHooks::of(Node& n) {
  // The release publishes the object; graph_mutex() guards its members.
  if (!find(n)) n.hooks_.store(new NodeHooks, std::memory_order_release);
  return *find(n);
}

std::vector<NamedHook> snapshot(const std::vector<NamedHook>& hooks) {
  const std::lock_guard lock(graph_mutex());
  return hooks;
}

AutogradMeta& autograd_meta(TensorImpl& t) {
  if (!t.autograd) t.autograd = std::make_unique<AutogradMeta>();
  return *t.autograd;
}

Node*& current_node() {
  [[gnu::tls_model("initial-exec")]] static constinit thread_local Node* node = nullptr;
  return node;
}

std::mutex& graph_mutex() {
  static constinit std::mutex mutex;  // no destructor: tensors in globals are destroyed after main
  return mutex;
}

bool& GradMode::enabled() {
  [[gnu::tls_model("initial-exec")]] static constinit thread_local bool on = true;
  return on;
}

void GradMode::set_enabled(bool on) { enabled() = on && !InferenceMode::is_enabled(); }

namespace {
// A relaxed fetch_add suffices for the engine's order: if one node is created before another, which
// is true for the two nodes of an edge, its fetch_add is earlier in the order of the counter's
// values.
uint64_t next_sequence() {
  static std::atomic<uint64_t> counter{0};
  return counter.fetch_add(1, std::memory_order_relaxed);
}

// The op of this thread's newest node, for the error of a tensor that it may not save.
const char*& newest_op() {
  [[gnu::tls_model("initial-exec")]] static constinit thread_local const char* op = "backward";
  return op;
}
}  // namespace

Node::Node(const char* op, uint32_t outputs)
    : op_(op), outputs_(outputs), sequence_(next_sequence()) {
  newest_op() = op;
}

Node::~Node() { delete hooks_.load(std::memory_order_acquire); }

// "log_softmax" -> "LogSoftmaxBackward0".
std::string Node::name_of(const char* op) {
  std::string out;
  bool starts_word = true;
  for (const char c : std::string_view(op)) {
    if (c != '_') out += starts_word ? static_cast<char>(std::toupper(c)) : c;
    starts_word = c == '_';
  }
  return out + "Backward0";
}

const Edge& Node::next_edge(size_t i) const {
  const std::span<const Edge> edges = next_edges();
  if (i >= edges.size()) {
    throw IndexError(fmt::format("next_edge: expected an index below {}, got {}", edges.size(), i));
  }
  return edges[i];
}

void Node::destroy(Node* n) noexcept {
  // Destroying a node drops the nodes that its edges hold.
  destroy_iteratively(
      n, [](Node& t) -> Node*& { return t.next_to_destroy_; }, [](Node* t) { delete t; });
}

Edge gradient_edge(const Tensor& t) {
  if (!t.requires_grad()) return {};
  TensorImpl* impl = t.impl();
  if (is_unrecorded_view(*impl)) return {};
  if (impl->autograd && impl->autograd->grad_fn) {
    return {impl->autograd->grad_fn, impl->autograd->output, {}};
  }
  return {{}, 0, intrusive_ptr<TensorImpl>(impl)};
}

namespace {

// Return an alias of t outside of any graph.
Tensor bytes_of(const TensorImpl& t) {
  intrusive_ptr<TensorImpl> bytes(
      t.contiguous && t.offset == 0
          ? new TensorImpl(t.storage, t.sizes, t.numel, t.dtype)
          : new TensorImpl(t.storage, t.sizes, t.strides, t.offset, t.dtype));
  bytes->writes = t.writes;
  return Tensor(std::move(bytes));
}

}  // namespace

Saved::Saved(const Tensor& t, int output) : output_(output) {
  if (!t.defined()) return;
  const TensorImpl& impl = *t.impl();
  const bool requires_grad = output < 0 && t.requires_grad() && !is_unrecorded_view(impl);
  CheckpointedPart* const part = CheckpointedPart::current;
  const bool is_leaf = requires_grad && !impl.autograd->grad_fn;
  if (is_leaf) {
    tensor_ = t;
  } else if (part && !part->saves()) [[unlikely]] {
    node_ = intrusive_ptr<Node>(part);
    output_ = part->next();
    return;
  } else {
    tensor_ = bytes_of(impl);
    if (requires_grad) {
      node_ = impl.autograd->grad_fn;
      output_ = static_cast<int>(impl.autograd->output);
    }
  }
  version_ = impl.version();
  replaced_ = tensor_.impl()->replaced;
  is_inference_ = impl.storage->is_inference();
  if (part && !is_leaf) [[unlikely]] {
    part->keep(*this);
  }
}

namespace {
[[noreturn]] void throw_not_savable(const char* op) {
  throw AutogradError(fmt::format(
      "{}: expected tensors that may be saved for backward, got one made in InferenceMode; use "
      "clone(), or NoGradGuard instead of InferenceMode",
      op));
}
}  // namespace

void Saved::throw_inference() { throw_not_savable(newest_op()); }

void check_savable(const char* op, const Tensor& self, const Tensor& operand) {
  if (!operand.defined() || !operand.is_inference()) return;
  if (GradMode::is_enabled() && self.defined() && self.requires_grad()) throw_not_savable(op);
}

Tensor Saved::operator()() const {
  if (!tensor_.defined()) {
    return node_ ? static_cast<CheckpointedPart&>(*node_).restore(output_) : Tensor();
  }
  const bool replaced = tensor_.impl()->replaced != replaced_;
  if (replaced || tensor_.version() != version_) [[unlikely]] {
    const Node* node = current_node();
    throw AutogradError(fmt::format(
        "{}: expected a tensor saved for backward unchanged, got one that has since been {}",
        node ? node->op() : "backward",
        replaced
            ? "moved or replaced"
            : fmt::format("written in place (version {}, now {})", version_, tensor_.version())));
  }
  if (output_ < 0 || !GradMode::is_enabled()) return tensor_;
  const intrusive_ptr<Node> node = node_ ? node_ : intrusive_ptr<Node>(current_node());
  if (!node) return tensor_;
  Tensor out = tensor_.detach();
  set_history(out, node, static_cast<uint32_t>(output_));
  return out;
}

void move_retained(TensorImpl& t, Node* to, uint32_t output) {
  AutogradMeta& meta = *t.autograd;
  if (!meta.retains_grad) return;
  const std::lock_guard lock(graph_mutex());
  if (to) NodeHooks::of(*to).retain.reserve(NodeHooks::of(*to).retain.size() + 1);
  std::erase_if(NodeHooks::of(*meta.grad_fn).retain, [&](const auto& r) { return r.second == &t; });
  meta.retains_grad = to != nullptr;
  if (to) NodeHooks::of(*to).retain.emplace_back(output, &t);
}

void set_history(const Tensor& out, intrusive_ptr<Node> node, uint32_t output) {
  TensorImpl& t = *out.impl();
  AutogradMeta& meta = autograd_meta(t);
  move_retained(t, node.get(), output);
  meta.grad_fn = std::move(node);
  meta.output = output;
  t.requires_grad = true;
}

namespace {

class ListNode final : public Node {
 public:
  ListNode(const char* op, TensorList tensors, std::function<Tensor(const Tensor&, size_t)> formula)
      : Node(op, 1), formula_(std::move(formula)) {
    edges_.reserve(tensors.size());
    for (const Tensor& t : tensors) edges_.push_back(gradient_edge(t));
  }
  void apply(std::span<const Tensor> out, std::span<Tensor> in,
             std::span<const uint8_t> wanted) override {
    if (!out[0].defined()) return;
    for (size_t i = 0; i < in.size(); ++i) {
      if (wanted[i]) in[i] = formula_(out[0], i);
    }
  }
  bool release() override { return false; }
  std::span<Edge> edges() override { return edges_; }

 private:
  std::vector<Edge> edges_;
  std::function<Tensor(const Tensor&, size_t)> formula_;
};

}  // namespace

Tensor record_list(const char* name, Tensor out, TensorList tensors,
                   std::function<Tensor(const Tensor&, size_t)> formula) {
  const bool needed = std::any_of(tensors.begin(), tensors.end(),
                                  [](const Tensor& t) { return t.requires_grad(); });
  if (GradMode::is_enabled() && needed && is_differentiable(out.dtype())) {
    set_history(out, intrusive_ptr<Node>(new ListNode(name, tensors, std::move(formula))));
  }
  return out;
}

void check_not_inference(const char* op, const Tensor& self) {
  if (!self.is_inference() || InferenceMode::is_enabled()) return;
  throw AutogradError(fmt::format(
      "{}: expected a tensor that may be overwritten outside of InferenceMode, got one made in it; "
      "use clone()",
      op));
}

void check_in_place(const char* op, const Tensor& self) try {
  if (!self.defined()) throw Error(fmt::format("{}: expected self, got an undefined tensor", op));
  const TensorImpl* base = self.impl()->base.get();
  const bool is_recorded = self.requires_grad() && !is_unrecorded_view(*self.impl());
  if (GradMode::is_enabled() && !is_recorded && base && base->requires_grad) {
    throw AutogradError(fmt::format(
        "{}: expected a tensor that may be overwritten, got a view that was made outside of the "
        "graph, of a tensor that requires grad; use NoGradGuard or detach()",
        op));
  }
  if (GradMode::is_enabled() && self.requires_grad()) {
    const bool leaf_base =
        base && base->requires_grad && !(base->autograd && base->autograd->grad_fn);
    if (self.is_leaf() || leaf_base) {
      throw AutogradError(fmt::format(
          "{}: expected a tensor that may be overwritten, got a {}leaf that requires grad; use "
          "NoGradGuard or detach()",
          op, self.is_leaf() ? "" : "view of a "));
    }
  }
  if (self.storage()->is_read_only()) {
    throw Error(
        fmt::format("{}: expected a tensor that may be overwritten, got read-only memory of "
                    "another library; use "
                    "clone()",
                    op));
  }
  check_not_inference(op, self);
  if (overlaps_itself(*self.impl())) {
    throw Error(fmt::format(
        "{}: expected a tensor whose elements are all at different addresses, got sizes {} with "
        "strides {}; use clone() or contiguous()",
        op, str(self.sizes()), str(self.strides())));
  }
} catch (const std::bad_alloc&) {
  throw_out_of_host_memory(op);
}

void check_no_overlap(const char* op, const Tensor& self, const Tensor& input) try {
  if (!input.defined() || self.storage().get() != input.storage().get()) return;
  const TensorImpl &a = *self.impl(), &b = *input.impl();
  if (a.numel == 0 || b.numel == 0) return;
  if (a.offset == b.offset && a.sizes == b.sizes && a.strides == b.strides && a.dtype == b.dtype) {
    return;
  }
  if (overlap(a, b)) {
    throw Error(fmt::format(
        "{}: expected an input that shares no memory with the output, got one that overlaps it; "
        "use clone()",
        op));
  }
} catch (const std::bad_alloc&) {
  throw_out_of_host_memory(op);
}

}  // namespace ambit
