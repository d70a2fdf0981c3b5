// Plans: graphs prepared for inference with inputs of fixed sizes.
#pragma once

#include <ambit/graph/graph.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ambit::graph {

/// Options of plan().
struct PlanOptions {
  /// Plan only the memory: outputs are those of forward(), bit for bit. Otherwise outputs may
  /// differ in the last digits, within the bounds of `ambit conformance`.
  bool exact = false;
  /// Images computed at a time on the cpu, if each image of the batch is computed independently of
  /// the others; 0: chosen from the memory that an image and the parameters need. Exact plans do
  /// not use this option.
  int64_t slice = 0;
};

class Planned;

/// A graph prepared for inputs of fixed sizes, dtypes and devices; made by plan(). A handle: copies
/// share the memory. Thread-safe: concurrent runs wait for each other.
class AMBIT_API Plan {
 public:
  /// Only plan() calls it.
  explicit Plan(std::shared_ptr<Planned> planned) : planned_(std::move(planned)) {}

  /// Compute what GraphImpl::forward() returns, without recording gradients, with the current
  /// parameters and buffers, which the plan shares with the graph. Outputs are ordinary tensors. A
  /// run allocates memory on the device for its outputs only, and for those only while the outputs
  /// of an earlier run are in use; kernels may need more for themselves. Inputs need not be the
  /// tensors that the plan was made with. Errors: Error for a wrong number of inputs, DTypeError,
  /// ShapeError and DeviceMismatchError for inputs that differ from those planned, or if parameters
  /// or buffers differ since plan(), by to() for example: make a new plan; errors of the calls.
  std::vector<Tensor> run(TensorList inputs) const;
  /// As above, for a graph of one input and one output. Errors: also Error for any other graph.
  Tensor run(const Tensor& input) const;

  /// Return the bytes of the block that holds all tensors between inputs and outputs.
  size_t memory_bytes() const;
  /// Return a table of the memory by module: how many tensors its calls make, their bytes, and the
  /// bytes in use at the peak of the block.
  std::string memory() const;
  /// Return the calls of the plan, one per line, as GraphImpl::text() does.
  std::string text() const;

 private:
  std::shared_ptr<Planned> planned_;
};

/// Prepare a graph for inference with inputs of these sizes, dtypes and devices: find the sizes of
/// all tensors, and place those between inputs and outputs in one block of memory that a run
/// reuses. Unless exact: compute calls on parameters and constants once, fold batch norms in
/// evaluation into the layer before them, fuse activations, write elementwise results over operands
/// that are not used again; on the cpu, compute a large batch in slices if no call mixes its images
/// (along dim 0). Runs the graph several times, on copies of the buffers and inputs that it changes
/// and without advancing random numbers. The mode is that of the graph now: call eval() first. The
/// graph and the plan share parameters and buffers. Errors: those of forward() for the inputs;
/// NotImplementedError naming the call, and the path of its module, whose sizes depend on values,
/// such as nonzero().
AMBIT_API Plan plan(const GraphImpl& net, TensorList inputs, const PlanOptions& options = {});
/// As above.
/// @{
inline Plan plan(const Graph& net, TensorList inputs, const PlanOptions& options = {}) {
  return plan(*net, inputs, options);
}
inline Plan plan(const Graph& net, const Tensor& input, const PlanOptions& options = {}) {
  return plan(*net, TensorList(input), options);
}
/// @}

}  // namespace ambit::graph
