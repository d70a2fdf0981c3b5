// What a tensor, and the node that made it, know of autograd beyond the hot path; allocated only
// when there is something to say.
#pragma once

#include <ambit/detail/name_scope.h>
#include <ambit/detail/record.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace ambit {

using GradHook = std::function<Tensor(const Tensor&)>;

struct NamedHook {
  unsigned id;
  uint32_t output;  // of the node; 0 for a leaf
  std::shared_ptr<const GradHook> call;
};

/// The hooks of a node or a leaf as they are now: others may come and go while these run. The
/// caller holds no graph_mutex().
std::vector<NamedHook> snapshot(const std::vector<NamedHook>& hooks);

struct AutogradMeta : Pooled {
  Tensor grad;
  intrusive_ptr<Node> grad_fn;  // null for leaves
  uint32_t output = 0;          // which output of grad_fn this tensor is
  uint32_t rebases = 0;         // in-place writes recorded on this tensor or on its views
  bool retains_grad = false;
  std::string name;  // of a parameter or buffer, in `scope` where there is one
  std::shared_ptr<const NameScope> scope;
  std::vector<NamedHook> hooks;  // of a leaf, guarded by graph_mutex()
  std::atomic<bool> has_hooks{false};
  // The nodes that hold the hooks of a tensor which is no leaf: one, and those that it had before
  // it was overwritten.
  std::vector<intrusive_ptr<Node>> hooked;
  TensorImpl* next_to_destroy = nullptr;
};

/// Return the meta of a tensor, made on first use.
AutogradMeta& autograd_meta(TensorImpl& t);

/// Return whether `t` is a view that was made while nothing was recorded, of a tensor that requires
/// grad. It requires grad, too, but no gradient arrives at it.
bool is_unrecorded_view(const TensorImpl& t);

/// What an output of a node was when it was recorded, of one that set_data() has replaced since.
struct RecordedOutput {
  uint32_t output;
  Dims sizes;
  DType dtype;
  Device device;
};

/// Hooks of tensors that are not leaves live in the node, since the tensors may be gone by then.
/// All of it is guarded by graph_mutex(): a backward may run beside.
struct NodeHooks {
  std::vector<NamedHook> hooks;
  // Tensors that want their .grad; each removes itself when it dies, so the pointers stay good.
  std::vector<std::pair<uint32_t, TensorImpl*>> retain;
  std::vector<RecordedOutput> replaced;

  /// Return the node's, made on first use. The caller holds graph_mutex().
  static NodeHooks& of(Node& n);
  /// Return the node's, null where it has none. The caller need not hold the lock.
  static NodeHooks* find(const Node& n) { return n.hooks_.load(std::memory_order_acquire); }
};

/// Let go of the node that keeps `t` for retain_grad(), and follow to `to` where there is one: call
/// it before t's history changes. The caller holds no graph_mutex().
void move_retained(TensorImpl& t, Node* to, uint32_t output = 0);

/// The node whose formulas this thread is running, null outside of backward.
Node*& current_node();

/// Serialises the few writes to graph state that several threads may race for: view refresh, hooks.
std::mutex& graph_mutex();

}  // namespace ambit
