// Node: a recorded op in the backward graph. Programs can read it, as in `y.grad_fn()->name()` and
// `->next_edges()`; ops create nodes with detail/record.h.
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

/// The destination of a gradient: input `input_nr` of `function`, or a leaf tensor, which has no
/// node here (in libtorch: an AccumulateGrad). Empty: no destination.
struct AMBIT_API Edge {
  intrusive_ptr<Node> function;    ///< null for a leaf
  uint32_t input_nr = 0;           ///< the output of `function`'s op that gets the gradient
  intrusive_ptr<TensorImpl> leaf;  ///< null unless the destination is a leaf
  /// True if there is a destination.
  explicit operator bool() const { return function || leaf; }
  /// Return true if `function` is not null.
  bool is_valid() const { return static_cast<bool>(function); }
};

/// A recorded op: maps the gradients of its outputs to those of its inputs.
class AMBIT_API Node : public RefCounted, public Pooled {
 public:
  /// A node of an op with that many outputs; `op` must have static lifetime.
  Node(const char* op, uint32_t outputs);
  virtual ~Node();

  /// Compute `in[i]` for each i with `wanted[i]`; undefined entries of `out` mean zero.
  virtual void apply(std::span<const Tensor> out, std::span<Tensor> in,
                     std::span<const uint8_t> wanted) = 0;
  /// Free the tensors saved for apply(), which must not be called again then. Return false if none
  /// were saved; apply() may then be called again.
  virtual bool release() = 0;
  /// Return the destinations of the gradients, one edge for each input of the op.
  virtual std::span<Edge> edges() = 0;

  /// Return the op's name: "mul".
  const char* op() const { return op_; }
  /// Return the name that PyTorch prints: "MulBackward0".
  std::string name() const { return name_of(op_); }
  /// Return the name that PyTorch prints for the nodes of an op.
  static std::string name_of(const char* op);
  /// Return edges(), read-only.
  std::span<const Edge> next_edges() const { return const_cast<Node*>(this)->edges(); }
  /// Return edge i. Errors: IndexError.
  const Edge& next_edge(size_t i) const;
  /// Return the number of outputs of backward, that is, of inputs of the op.
  size_t num_outputs() const { return next_edges().size(); }
  /// Return the number of inputs of backward, that is, of outputs of the op.
  uint32_t num_inputs() const { return outputs_; }

  uint32_t outputs() const { return outputs_; }       ///< number of outputs of the op
  uint64_t sequence() const { return sequence_; }     ///< above that of each node it reaches
  uint64_t sequence_nr() const { return sequence_; }  ///< libtorch's name of sequence()

  /// Destroy without recursion, so that deep graphs do not overflow the stack.
  static void destroy(Node* n) noexcept;

 private:
  friend class NodeUse;
  friend struct NodeHooks;

  const char* op_;
  uint32_t outputs_;
  std::atomic<int32_t> use_{0};  // for NodeUse
  uint64_t sequence_;
  Node* next_to_destroy_ = nullptr;
  std::atomic<NodeHooks*> hooks_{nullptr};  // of the op's output tensors; owned
};

namespace autograd {
using ambit::Edge;
using ambit::Node;
using Variable = Tensor;                    ///< libtorch's old name
using variable_list = std::vector<Tensor>;  ///< libtorch's name
}  // namespace autograd

}  // namespace ambit
