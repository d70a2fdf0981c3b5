// A node of the graph that backward walks: an op that was recorded. Programs read it, as
// `y.grad_fn()->name()` and `->next_edges()`; ops make theirs with detail/record.h.
#pragma once

#include <ambit/detail/pooled.h>
#include <ambit/tensor.h>

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ambit {

class Node;
class NodeUse;
struct NodeHooks;  // core/autograd/autograd_meta.h

/// Where a gradient flows on to: input `input_nr` of `function`, or a leaf tensor, which has no
/// node here (in libtorch: an AccumulateGrad). Empty: nowhere.
struct AMBIT_API Edge {
  intrusive_ptr<Node> function;
  uint32_t input_nr = 0;  ///< which output of the op that `function` stands for
  intrusive_ptr<TensorImpl> leaf;
  explicit operator bool() const { return function || leaf; }
  /// Return whether `function` may be followed.
  bool is_valid() const { return static_cast<bool>(function); }
};

/// A recorded op: maps the gradients of its outputs to those of its inputs.
class AMBIT_API Node : public RefCounted, public Pooled {
 public:
  Node(const char* op, uint32_t outputs);
  virtual ~Node();

  /// Fill `in[i]` for each i with `wanted[i]`; entries of `out` may be undefined (zero).
  virtual void apply(std::span<const Tensor> out, std::span<Tensor> in,
                     std::span<const uint8_t> wanted) = 0;
  /// Drop the tensors that were saved for apply(), which then must not be called again. Return
  /// false where there were none: then it may be.
  virtual bool release() = 0;
  virtual std::span<Edge> edges() = 0;

  /// Return the op's name: "mul".
  const char* op() const { return op_; }
  /// Return the name that PyTorch prints: "MulBackward0".
  std::string name() const { return name_of(op_); }
  static std::string name_of(const char* op);
  /// Return where the gradients flow on to, one edge for each input of the op.
  std::span<const Edge> next_edges() const { return const_cast<Node*>(this)->edges(); }
  /// Return one of them. Errors: IndexError.
  const Edge& next_edge(size_t i) const;
  size_t num_outputs() const { return next_edges().size(); }  ///< of backward: the op's inputs
  uint32_t num_inputs() const { return outputs_; }            ///< of backward: the op's outputs

  uint32_t outputs() const { return outputs_; }
  uint64_t sequence() const { return sequence_; }  ///< higher than those of all its edges' nodes
  uint64_t sequence_nr() const { return sequence_; }

  /// Destroy without recursion, however deep the graph below is.
  static void destroy(Node* n) noexcept;

 private:
  friend class NodeUse;
  friend struct NodeHooks;

  const char* op_;
  uint32_t outputs_;
  std::atomic<int32_t> use_{0};  // NodeUse's
  uint64_t sequence_;
  Node* next_to_destroy_ = nullptr;
  std::atomic<NodeHooks*> hooks_{nullptr};  // of the tensors that are its outputs; owned
};

namespace autograd {
// libtorch's names.
using ambit::Edge;
using ambit::Node;
using Variable = Tensor;
using variable_list = std::vector<Tensor>;
}  // namespace autograd

}  // namespace ambit
