// ZeroRedundancyOptimizer: each rank keeps the optimizer state of its share of the parameters,
// updates those, and broadcasts them. Source: Rajbhandari et al. 2020, arXiv:1910.02054, stage 1;
// torch.distributed.optim.ZeroRedundancyOptimizer.
#pragma once

#include <ambit/distributed/process_group.h>
#include <ambit/optim/optimizer.h>

#include <memory>
#include <utility>
#include <vector>

namespace ambit::distributed {

/// Return for each parameter the rank that updates it; shares have about equal numbers of bytes.
AMBIT_API std::vector<int> partition_parameters(const std::vector<Tensor>& params, int ranks);

/// Implementation of ZeroRedundancyOptimizer for an optimizer of any class. All ranks must call its
/// functions, except zero_grad() and local().
class AMBIT_API ZeroRedundancy {
 public:
  virtual ~ZeroRedundancy();
  ZeroRedundancy(const ZeroRedundancy&) = delete;
  ZeroRedundancy& operator=(const ZeroRedundancy&) = delete;

  /// Update all parameters from gradients that are equal on all ranks, as DistributedDataParallel
  /// makes them; return the closure's loss. Errors: those of Optimizer::step() and broadcast().
  Tensor step(optim::Optimizer::LossClosure closure = {});
  /// Reset the gradients of all parameters.
  void zero_grad();
  /// Return the optimizer of this rank's share, for setting options and for schedulers.
  optim::Optimizer& local() { return *local_; }
  /// Return options and state of all parameters, as a single optimizer would; for save_checkpoint()
  /// by one rank.
  Value checkpoint() const;
  /// Load this rank's share of such a checkpoint, written by any number of ranks. Errors: those of
  /// Optimizer::load_checkpoint().
  void load_checkpoint(const Value& checkpoint);

 protected:
  /// Divide the parameters among the ranks. Errors: Error for fewer parameters than ranks.
  ZeroRedundancy(std::vector<Tensor> params, std::shared_ptr<ProcessGroup> group);
  /// Return the parameters that `rank` updates.
  std::vector<Tensor> share(int rank) const;
  /// The optimizer of this rank's share; the derived class makes it.
  std::unique_ptr<optim::Optimizer> local_;

 private:
  std::vector<Tensor> params_;
  std::vector<std::vector<size_t>> positions_;  // indices into params_ of each rank's share
  std::shared_ptr<ProcessGroup> group_;
};

/// `ZeroRedundancyOptimizer<optim::Adam> adam(net->parameters(), optim::AdamOptions(1e-3));` on all
/// ranks, with the same parameters. Errors: Error for fewer parameters than ranks; those of
/// Optimizer.
template <class Optimizer>
class ZeroRedundancyOptimizer : public ZeroRedundancy {
 public:
  /// Make this rank's optimizer with these options.
  template <class Options>
  ZeroRedundancyOptimizer(std::vector<Tensor> params, const Options& options,
                          std::shared_ptr<ProcessGroup> group = default_group())
      : ZeroRedundancy(std::move(params), group) {
    local_ = std::make_unique<Optimizer>(share(group->rank()), options);
  }
};

/// nn::utils::clip_grad_norm_ for parameters that are distributed over the ranks: scale their
/// gradients so that the norm over all ranks is at most max_norm; return the norm before. If all
/// ranks have the same gradients, as with DistributedDataParallel, use nn::utils::clip_grad_norm_.
/// Errors: those of allreduce().
AMBIT_API double clip_grad_norm_(ProcessGroup& group, TensorList parameters, double max_norm,
                                 double norm_type = 2);

}  // namespace ambit::distributed
