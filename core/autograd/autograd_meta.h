// What a tensor, and the node that made it, know of autograd beyond the hot path; allocated only
// when there is something to say.
#pragma once

#include <ambit/detail/record.h>

#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace ambit {

using GradHook = std::function<Tensor(const Tensor&)>;

struct NamedHook {
  unsigned id;
  uint32_t output;  // of the node; 0 for a leaf
  GradHook call;
};

struct AutogradMeta : Pooled {
  Tensor grad;
  intrusive_ptr<Node> grad_fn;  // null for leaves
  uint32_t output = 0;          // which output of grad_fn this tensor is
  uint32_t rebases = 0;         // in-place writes recorded on this tensor or on its views
  bool retains_grad = false;
  std::string name;              // dotted path of a parameter
  std::vector<NamedHook> hooks;  // of a leaf
  // The nodes that hold the hooks of a tensor which is no leaf: one, and those that it had before
  // it was overwritten.
  std::vector<intrusive_ptr<Node>> hooked;
};

/// Return the meta of a tensor, made on first use.
AutogradMeta& autograd_meta(TensorImpl& t);

/// Hooks of tensors that are not leaves live in the node, since the tensors may be gone by then.
struct NodeHooks {
  std::vector<NamedHook> hooks;
  // Tensors that want their .grad; each removes itself when it dies, so the pointers stay good.
  std::vector<std::pair<uint32_t, TensorImpl*>> retain;

  static NodeHooks& of(Node& n) {
    if (!n.hooks_) n.hooks_ = std::make_unique<NodeHooks>();
    return *n.hooks_;
  }
};

/// Let go of the node that keeps `t` for retain_grad(), and follow to `to` where there is one: call
/// it before t's history changes. The caller holds no graph_mutex().
void move_retained(TensorImpl& t, Node* to, uint32_t output = 0);

/// The node whose formulas this thread is running, null outside of backward.
Node*& current_node();

/// Serialises the few writes to graph state that several threads may race for: view refresh, hooks.
std::mutex& graph_mutex();

}  // namespace ambit
