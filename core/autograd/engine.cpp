#include "engine.h"

#include <ambit/autograd.h>
#include <ambit/backend/op.h>
#include <ambit/detail/autocast.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/reduce.h>
#include <fmt/format.h>

#include <array>
#include <atomic>
#include <mutex>

#include "autograd_meta.h"
#include "core/profiler/recorder.h"

namespace ambit {
namespace {

// Accumulation into a leaf's .grad must be exclusive; all leaves share a few locks.
std::mutex& leaf_mutex(const TensorImpl* leaf) {
  static constinit std::array<std::mutex, 64> mutexes;
  return mutexes[(reinterpret_cast<uintptr_t>(leaf) / sizeof(TensorImpl)) % 64];
}

// A gradient without other references becomes the .grad itself; others are copied.
Tensor own(Tensor g, bool create_graph) {
  if (create_graph) return g;
  const bool sole = g.impl()->use_count() == 1 && g.storage()->use_count() == 1;
  return sole && g.is_contiguous() && !g.requires_grad() ? std::move(g) : g.detach().clone();
}

// `hooks` is a copy, since a hook may add and remove hooks, including itself.
void run_hooks(const std::vector<NamedHook>& hooks, uint32_t output, Tensor& g) {
  for (const NamedHook& hook : hooks) {
    if (hook.output != output) continue;
    Tensor replaced = (*hook.call)(g);
    if (!replaced.defined()) continue;
    check_devices("backward", {{"gradient", g}, {"hook's result", replaced}}, DeviceRule::in_place);
    if (replaced.sizes() != g.sizes() || replaced.dtype() != g.dtype()) {
      throw AutogradError(fmt::format(
          "backward: expected a hook to return a gradient {}{}, got {}{}", name(g.dtype()),
          str(g.sizes()), name(replaced.dtype()), str(replaced.sizes())));
    }
    g = std::move(replaced);
  }
}

[[noreturn]] void throw_misfit(const char* what, const Tensor& leaf, const Tensor& got) {
  if (got.sizes() != leaf.sizes()) {
    throw ShapeError(fmt::format("backward: expected {} of sizes {}, got {}", what,
                                 str(leaf.sizes()), str(got.sizes())));
  }
  throw DTypeError(fmt::format("backward: expected {} of dtype {}, got {}", what,
                               name(leaf.dtype()), name(got.dtype())));
}

void check_not_nan(const Node& node, std::span<const Tensor> in) {
  const NoGradGuard no_grad;
  for (size_t i = 0; i < in.size(); ++i) {
    if (in[i].defined() && any(isnan(in[i])).item<bool>()) {
      throw AutogradError(fmt::format(
          "{}: expected a gradient without NaN in backward, got NaN for input {}", node.op(), i));
    }
  }
}

}  // namespace

// A backward's use of a node. Several backwards with retain_graph may use a node at once; one that
// frees it must be its only user. The acquire of a count synchronises with the releases of all
// backwards that have ended: their fetch_sub continue each other's release sequences.
class NodeUse {
 public:
  /// Errors: AutogradError if the node was freed or is used by a conflicting backward.
  NodeUse(Node& node, bool keep) : node_(node), keep_(keep) {
    int32_t seen = node.use_.load(std::memory_order_relaxed);
    do {
      if (seen < 0 || (seen > 0 && !keep)) throw_in_use(node, seen);
    } while (!node.use_.compare_exchange_weak(seen, keep ? seen + 1 : kFreeing,
                                              std::memory_order_acquire));
  }
  ~NodeUse() {
    if (keep_) {
      node_.use_.fetch_sub(1, std::memory_order_release);
    } else {
      node_.use_.store(freed_ ? kFreed : 0, std::memory_order_release);
    }
  }
  NodeUse(const NodeUse&) = delete;
  NodeUse& operator=(const NodeUse&) = delete;

  /// Free the node's saved tensors, unless the graph is kept.
  void finish() {
    if (!keep_) freed_ = node_.release();
  }

 private:
  static constexpr int32_t kFreed = -1, kFreeing = -2;  // else the number of its users

  [[noreturn]] static void throw_in_use(const Node& node, int32_t use) {
    throw AutogradError(fmt::format(
        "{}: expected a graph that {}", node.op(),
        use == kFreed
            ? "was not yet used, got one that an earlier backward freed; pass retain_graph = true "
              "to that one"
            : "no other backward uses, got one that is in use; pass retain_graph = true to both"));
  }

  Node& node_;
  const bool keep_;
  bool freed_ = false;
};

// Walk the graph from the roots, then process nodes from the oldest on: a node is needed if one of
// its edges leads to a captured target or to a needed node.
void Engine::find_needed(std::span<const Edge> roots) {
  std::map<uint64_t, Node*> nodes;
  std::vector<Node*> stack;
  const auto visit = [&](const Edge& e) {
    if (e.function && nodes.emplace(e.function->sequence(), e.function.get()).second) {
      stack.push_back(e.function.get());
    }
  };
  for (const Edge& e : roots) visit(e);
  while (!stack.empty()) {
    Node* node = stack.back();
    stack.pop_back();
    for (const Edge& e : node->edges()) visit(e);
  }
  for (const auto& [sequence, node] : nodes) {
    for (const Edge& e : node->edges()) {
      if (is_wanted(e)) needed_[node] = true;
    }
  }
}

void Engine::accumulate(Tensor& into, Tensor g) {
  if (!into.defined()) {
    into = std::move(g);
    return;
  }
  if (into.sizes() != g.sizes()) [[unlikely]] {  // a sum would broadcast
    throw AutogradError(
        fmt::format("backward: expected gradients of one size for one tensor, got {} and {}; "
                    "set_data() has replaced it between its uses",
                    str(into.sizes()), str(g.sizes())));
  }
  into = into + g;
}

void Engine::add(const Edge& to, Tensor g) {
  if (to.function) {
    Pending& p = pending_[to.function->sequence()];
    if (!p.node) {
      p.node = to.function;
      p.grads.resize(to.function->outputs());
    }
    accumulate(p.grads[to.input_nr], std::move(g));
    return;
  }
  const auto [at, is_new] = leaf_at_.emplace(to.leaf.get(), leaves_.size());
  if (is_new) leaves_.push_back(Leaf{to.leaf, Tensor()});
  accumulate(leaves_[at->second].grad, std::move(g));
}

void Engine::run() {
  const AutoGradMode mode(create_graph_);
  const autocast::Suspended suspended;  // formulas run in the forward's dtypes
  if (has_listeners().load(std::memory_order_relaxed) && accumulates_) [[unlikely]] {
    run_listened();
  } else {
    while (!pending_.empty()) {
      Pending p = std::move(pending_.begin()->second);
      pending_.erase(pending_.begin());
      run_node(p);
    }
    prepare_leaves();
  }
  for (Leaf& leaf : leaves_) finish_leaf(leaf);
}

void Engine::prepare_leaves() {
  for (Leaf& leaf : leaves_) run_leaf_hooks(leaf);  // hooks may change the .grad of any leaf
  if (!accumulates_) return;
  for (Leaf& leaf : leaves_) prepare_leaf(leaf);  // all before the first .grad changes
}

void Engine::retain(const Node& node, std::span<const Tensor> grads) {
  std::vector<Tensor> replaced;  // destroyed after unlocking: destroying their graphs may lock
  const std::lock_guard lock(graph_mutex());
  const NodeHooks& hooks = *NodeHooks::find(node);
  replaced.reserve(hooks.retain.size());
  for (const auto& [output, tensor] : hooks.retain) {
    if (!grads[output].defined()) continue;
    Tensor& grad = tensor->autograd->grad;
    Tensor g = create_graph_ ? grads[output] : grads[output].detach();
    if (grad.defined()) g = grad + g;
    replaced.push_back(std::exchange(grad, std::move(g)));
  }
}

// Formulas assume the shapes, dtypes and devices of recording time.
void Engine::check_recorded(const Node& node, std::span<const Tensor> grads) {
  const std::lock_guard lock(graph_mutex());
  for (const RecordedOutput& was : NodeHooks::find(node)->replaced) {
    const Tensor& g = grads[was.output];
    if (!g.defined() ||
        (g.sizes() == was.sizes && g.dtype() == was.dtype && g.device() == was.device)) {
      continue;
    }
    throw AutogradError(fmt::format(
        "{}: expected a gradient {}{} on {}, as its output was when it was recorded, got {}{} on "
        "{}; set_data() has replaced the output since",
        node.op(), name(was.dtype), str(was.sizes), was.device.str(), name(g.dtype()),
        str(g.sizes()), g.device().str()));
  }
}

void Engine::run_node(Pending& p) {
  Node& node = *p.node;
  if (const NodeHooks* hooks = NodeHooks::find(node)) {
    check_recorded(node, p.grads);
    const std::vector<NamedHook> now = snapshot(hooks->hooks);
    for (uint32_t i = 0; i < node.outputs(); ++i) {
      if (p.grads[i].defined()) run_hooks(now, i, p.grads[i]);
    }
    retain(node, p.grads);
  }
  if (captures_) {
    for (uint32_t i = 0; i < node.outputs(); ++i) {
      const auto found = captured_.find({&node, i});
      if (found != captured_.end()) found->second = p.grads[i];
    }
    if (!needed_.count(&node)) return;
  }
  apply(node, p.grads);
}

void Engine::apply(Node& node, std::span<const Tensor> out) {
  NodeUse use(node, retain_graph_);
  const std::span<Edge> edges = node.edges();
  PooledVector<Tensor> in(edges.size());
  PooledVector<uint8_t> wanted(edges.size());
  for (size_t i = 0; i < edges.size(); ++i) wanted[i] = is_wanted(edges[i]);
  Node* const outer = std::exchange(current_node(), &node);
  try {
    const profiler::Scope scope(profiler::EventKind::backward, node.op());
    node.apply(out, in, wanted);
  } catch (const std::exception& e) {
    current_node() = outer;
    if (!autograd::AnomalyMode::is_enabled()) throw;
    throw AutogradError(
        fmt::format("{}: expected its backward to succeed, got an error: {}", node.op(), e.what()));
  } catch (...) {
    current_node() = outer;
    throw;
  }
  current_node() = outer;
  if (autograd::AnomalyMode::is_enabled() && autograd::AnomalyMode::should_check_nan()) {
    check_not_nan(node, in);
  }
  use.finish();
  for (size_t i = 0; i < edges.size(); ++i) {
    if (wanted[i] && in[i].defined()) add(edges[i], std::move(in[i]));
  }
}

void Engine::run_leaf_hooks(Leaf& leaf) {
  const AutogradMeta* meta = leaf.tensor->autograd.get();
  if (meta && meta->has_hooks.load(std::memory_order_acquire)) {
    run_hooks(snapshot(meta->hooks), 0, leaf.grad);
  }
}

void Engine::check_fits(const Leaf& leaf) {
  const Tensor self{leaf.tensor};
  check_devices("backward", {{"tensor", self}, {"gradient", leaf.grad}}, DeviceRule::in_place);
  if (leaf.grad.sizes() != self.sizes() || leaf.grad.dtype() != self.dtype()) {
    throw_misfit("a gradient", self, leaf.grad);
  }
}

// Do everything that can fail because of a mismatched leaf or lack of memory.
void Engine::prepare_leaf(Leaf& to) {
  TensorImpl& leaf = *to.tensor;
  Tensor& g = to.grad;
  const Tensor self{to.tensor};
  const auto fits = [&leaf](const Tensor& t) {
    return t.sizes() == leaf.sizes && t.dtype() == leaf.dtype;
  };
  const std::lock_guard lock(leaf_mutex(&leaf));  // another thread may be writing the .grad
  const Tensor& grad = autograd_meta(leaf).grad;
  check_devices("backward", {{"tensor", self}, {"gradient", g}, {"grad", grad}},
                DeviceRule::in_place);
  if (!fits(g)) [[unlikely]]
    throw_misfit("a gradient", self, g);
  if (!grad.defined()) {
    g = own(std::move(g), create_graph_);
    to.is_owned = true;
  } else if (!fits(grad)) [[unlikely]] {
    throw_misfit("a .grad", self, grad);
  }
}

void Engine::finish_leaf(Leaf& to) {
  TensorImpl& leaf = *to.tensor;
  Tensor g = std::move(to.grad);
  if (!accumulates_) {
    const auto found = captured_.find({&leaf, 0});
    if (found != captured_.end()) found->second = std::move(g);
    return;
  }
  const std::lock_guard lock(leaf_mutex(&leaf));
  Tensor& grad = leaf.autograd->grad;
  if (!grad.defined()) {
    // g is not owned if another thread has removed the .grad since prepare_leaf().
    grad = to.is_owned ? std::move(g) : own(std::move(g), create_graph_);
  } else if (create_graph_) {
    grad = grad + g;
  } else {
    grad.add_(g);
  }
}

}  // namespace ambit
