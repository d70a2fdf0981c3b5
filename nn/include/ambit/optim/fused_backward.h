// Updates of parameters during backward, which then needs no memory for all gradients at once.
#pragma once

#include <ambit/optim/optimizer.h>

#include <memory>

namespace ambit::optim {

/// While it exists, backward() updates each parameter of an optimizer as soon as the parameter's
/// gradient is complete, and frees the gradient:
///   optim::FusedBackward fused(sgd);
///   for (...) loss_of(net, batch).backward();  // no zero_grad(), no step()
/// Each backward is a step of the parameters that it reaches; their `.grad` stays undefined. The
/// updates are those of step(), one parameter at a time. Code that needs all gradients before an
/// update does not work with it: clipping by the norm, GradScaler, DistributedDataParallel, or
/// several backwards for one step. Errors of backward(): those of step(), after which some
/// parameters are updated; AutogradError for create_graph, and for a graph that uses a parameter's
/// value again after its update, as `p` and `p.detach()` in one product do. Source: PyTorch's
/// tutorial "optimizer step in backward", by Tensor.register_post_accumulate_grad_hook.
class AMBIT_API FusedBackward {
 public:
  /// The optimizer must outlive this object and must not be moved. Groups added later are updated
  /// by step(). Errors: AutogradError for a parameter that DistributedDataParallel or another
  /// FusedBackward has; Error for LBFGS.
  explicit FusedBackward(Optimizer& optimizer);

 private:
  class Listener;
  std::shared_ptr<Listener> listener_;
};

}  // namespace ambit::optim
