// The backward engine. Every node is newer than the nodes that its edges lead to, so running
// pending nodes in descending sequence order runs each one after all of its gradients have arrived:
// no dependency counts, no recursion, no depth limit.
#pragma once

#include <ambit/detail/pooled.h>
#include <ambit/node.h>
#include <ambit/tensor.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>

namespace ambit {

/// The destination of a gradient: a node's output, or a leaf.
using Target = std::pair<const void*, uint32_t>;
inline Target target_of(const Edge& e) {
  return e.function ? Target{e.function.get(), e.input_nr} : Target{e.leaf.get(), 0};
}

/// One backward through a graph.
class Engine {
 public:
  Engine(bool retain_graph, bool create_graph)
      : retain_graph_(retain_graph), create_graph_(create_graph) {}

  /// Compute only the gradients that arrive at these edges and keep them, or with `accumulate` add
  /// those of leaves to their .grad.
  void capture(std::span<const Edge> edges, bool accumulate = false) {
    captures_ = true;
    accumulates_ = accumulate;
    for (const Edge& e : edges) captured_[target_of(e)] = Tensor();
  }
  /// True if a gradient for this edge, or one computed from it, is needed.
  bool is_wanted(const Edge& e) const {
    if (!e) return false;
    if (!captures_) return true;
    return captured_.count(target_of(e)) || (e.function && needed_.count(e.function.get()));
  }
  void find_needed(std::span<const Edge> roots);

  void add(const Edge& to, Tensor g);
  void run();
  /// True if a listener was ever registered for a leaf.
  static std::atomic<bool>& has_listeners();
  Tensor captured(const Edge& edge) const { return captured_.at(target_of(edge)); }

 private:
  struct Pending {
    intrusive_ptr<Node> node;
    PooledVector<Tensor> grads;  // of each output of the node
  };

  static void accumulate(Tensor& into, Tensor g);
  void run_node(Pending& p);
  void check_recorded(const Node& node, std::span<const Tensor> grads);
  void retain(const Node& node, std::span<const Tensor> grads);
  void apply(Node& node, std::span<const Tensor> out);
  struct Leaf {
    intrusive_ptr<TensorImpl> tensor;
    Tensor grad;
    bool is_owned = false;  // the gradient can become the .grad without a copy
  };
  class LeafGradTracker;  // leaf_listener.cpp
  void run_listened();
  static void run_leaf_hooks(Leaf& leaf);
  static void check_fits(const Leaf& leaf);
  void prepare_leaves();
  void prepare_leaf(Leaf& leaf);
  void finish_leaf(Leaf& leaf);

  const bool retain_graph_, create_graph_;
  // Allocations of each step come from the pool, like nodes.
  std::map<uint64_t, Pending, std::greater<>, PoolAllocator<std::pair<const uint64_t, Pending>>>
      pending_;  // descending: the latest op first
  PooledVector<Leaf> leaves_;
  std::unordered_map<const TensorImpl*, size_t, std::hash<const void*>, std::equal_to<>,
                     PoolAllocator<std::pair<const TensorImpl* const, size_t>>>
      leaf_at_;
  bool captures_ = false, accumulates_ = true;
  std::map<Target, Tensor> captured_;
  std::unordered_map<const Node*, bool> needed_;  // nodes on a path to a captured target
};

}  // namespace ambit
