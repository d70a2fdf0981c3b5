// Access to leaves' gradients while backward is still running. Data-parallel training overlaps
// communication with backward; optim::FusedBackward updates parameters.
#pragma once

#include <ambit/tensor.h>

#include <memory>
#include <span>

namespace ambit {

/// Receives the gradients of leaves instead of their `.grad`. Each backward that reaches one of its
/// leaves calls begin(), ready() when a leaf's gradient is complete, and end() before any `.grad`
/// of other leaves changes; all from the thread of the backward, one backward at a time.
class AMBIT_API LeafGradListener {
 public:
  virtual ~LeafGradListener();

  /// Return true to receive the gradients of this backward; otherwise they go to `.grad`. `leaves`:
  /// the listener's leaves that the graph reaches.
  virtual bool begin(std::span<const Tensor> leaves, bool create_graph) = 0;
  /// A leaf's gradient is complete: of its shape, dtype and device, after the leaf's hooks.
  virtual void ready(const Tensor& leaf, const Tensor& gradient) = 0;
  /// All gradients were delivered; leaves that got none had no ready() call.
  virtual void end() = 0;
  /// Called instead of end() if backward throws after it called begin() of any listener.
  virtual void abandon() noexcept = 0;
};

/// Register `listener` for a leaf that requires grad, until the listener is destroyed; it holds the
/// leaf. Errors: AutogradError for another tensor, or one that already has a listener.
AMBIT_API void listen_to_leaf(const Tensor& leaf,
                              const std::shared_ptr<LeafGradListener>& listener);

}  // namespace ambit
