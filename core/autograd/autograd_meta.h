// Autograd state of a tensor and its node that is rarely needed; allocated on first use.
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

/// Return a copy of the hooks of a node or a leaf, since running them may add and remove hooks. The
/// caller must not hold graph_mutex().
std::vector<NamedHook> snapshot(const std::vector<NamedHook>& hooks);

struct AutogradMeta : Pooled {
  Tensor grad;
  intrusive_ptr<Node> grad_fn;  // null for leaves
  uint32_t output = 0;          // index among the outputs of grad_fn
  uint32_t rebases = 0;         // in-place writes recorded on this tensor or on its views
  bool retains_grad = false;
  std::string name;  // of a parameter or buffer; relative to `scope` if set
  std::shared_ptr<const NameScope> scope;
  std::vector<NamedHook> hooks;        // of a leaf, guarded by graph_mutex()
  std::atomic<bool> has_hooks{false};  // its load only avoids the lock
  // The nodes that hold a non-leaf tensor's hooks: its grad_fn, and earlier ones from before it was
  // overwritten.
  std::vector<intrusive_ptr<Node>> hooked;
  TensorImpl* next_to_destroy = nullptr;
};

/// Return a tensor's AutogradMeta, created on first use.
AutogradMeta& autograd_meta(TensorImpl& t);

/// Return true if `t` is a view, created while not recording, of a tensor that requires grad. It
/// requires grad too, but receives no gradient.
bool is_unrecorded_view(const TensorImpl& t);

/// Properties at recording time of a node's output that set_data() has replaced since.
struct RecordedOutput {
  uint32_t output;
  Dims sizes;
  DType dtype;
  Device device;
};

/// Hooks of non-leaf tensors are stored in the node, since the tensors may be destroyed earlier.
/// All members are guarded by graph_mutex(): a backward may run concurrently.
struct NodeHooks {
  std::vector<NamedHook> hooks;
  // Tensors with retain_grad(); each removes itself on destruction, so the pointers stay valid.
  std::vector<std::pair<uint32_t, TensorImpl*>> retain;
  std::vector<RecordedOutput> replaced;

  /// Return the node's hooks, created on first use. The caller holds graph_mutex().
  static NodeHooks& of(Node& n);
  /// Return the node's hooks, or null. The caller need not hold the lock.
  static NodeHooks* find(const Node& n) { return n.hooks_.load(std::memory_order_acquire); }
};

/// Unregister `t` from the node that holds it for retain_grad(), and register it with `to` if not
/// null. Call it before t's history changes, without graph_mutex().
void move_retained(TensorImpl& t, Node* to, uint32_t output = 0);

/// Check that `self` may be changed: not outside of InferenceMode if it was made in it. Errors:
/// AutogradError.
void check_not_inference(const char* op, const Tensor& self);

/// The node whose formulas this thread is running, null outside of backward.
Node*& current_node();

/// Guards graph state that several threads may write: view refresh, hooks.
std::mutex& graph_mutex();

}  // namespace ambit
