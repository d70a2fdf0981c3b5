// For those who use a leaf's gradient while backward still runs, as data-parallel training does, to
// exchange it meanwhile.
#pragma once

#include <ambit/tensor.h>

#include <memory>
#include <span>

namespace ambit {

/// Takes the gradients of leaves in the place of their `.grad`. Each backward that reaches one of
/// its leaves calls begin(), ready() as the gradient of each is whole, and end() before any `.grad`
/// of other leaves has changed; all from the thread of the backward, one backward at a time.
class AMBIT_API LeafListener {
 public:
  virtual ~LeafListener();

  /// Return whether to listen to this backward; else gradients go to `.grad` as ever. `leaves` are
  /// those of its leaves that the graph reaches.
  virtual bool begin(std::span<const Tensor> leaves, bool create_graph) = 0;
  /// A leaf's gradient, of its shape, dtype and device, after the leaf's hooks.
  virtual void ready(const Tensor& leaf, const Tensor& gradient) = 0;
  /// All gradients have come, but for leaves that none has reached after all.
  virtual void end() = 0;
  /// Backward has thrown: in begin(), of another listener of this graph, too, or after it.
  virtual void abandon() noexcept = 0;
};

/// Have `listener` listen to a leaf that requires grad, until it is gone; it holds the leaf.
/// Errors: AutogradError for another tensor, or one that somebody listens to.
AMBIT_API void listen_to_leaf(const Tensor& leaf, const std::shared_ptr<LeafListener>& listener);

}  // namespace ambit
