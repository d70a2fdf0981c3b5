// ZeroRedundancyOptimizer: each rank keeps the optimizer's state of its share of the parameters,
// updates those, and gives them to the others. Source: Rajbhandari et al. 2020, arXiv:1910.02054,
// stage 1; torch.distributed.optim.ZeroRedundancyOptimizer.
#pragma once

#include <ambit/distributed/process_group.h>
#include <ambit/optim/optimizer.h>

#include <memory>
#include <utility>
#include <vector>

namespace ambit::distributed {

/// Return for each parameter the rank that updates it: shares of about as many bytes.
AMBIT_API std::vector<int> partition_parameters(const std::vector<Tensor>& params, int ranks);

/// What ZeroRedundancyOptimizer does, for an optimizer of any class. All its functions but
/// zero_grad() and local() are called on all ranks.
class AMBIT_API ZeroRedundancy {
 public:
  virtual ~ZeroRedundancy();
  ZeroRedundancy(const ZeroRedundancy&) = delete;
  ZeroRedundancy& operator=(const ZeroRedundancy&) = delete;

  /// Update all parameters from gradients that are the same on all ranks, as
  /// DistributedDataParallel leaves them; return the closure's loss. Errors: those of
  /// Optimizer::step() and broadcast().
  Tensor step(optim::Optimizer::LossClosure closure = {});
  /// Drop the gradients of all parameters.
  void zero_grad();
  /// Return the optimizer of this rank's share: for its options, and for schedules.
  optim::Optimizer& local() { return *local_; }
  /// Return options and state of all parameters, as one optimizer of them all would: for
  /// save_checkpoint() by one rank.
  Value checkpoint() const;
  /// Take over this rank's share of such a checkpoint, from however many ranks it comes.
  /// Errors: those of Optimizer::load_checkpoint().
  void load_checkpoint(const Value& checkpoint);

 protected:
  ZeroRedundancy(std::vector<Tensor> params, std::shared_ptr<ProcessGroup> group);
  std::vector<Tensor> share(int rank) const;
  std::unique_ptr<optim::Optimizer> local_;

 private:
  std::vector<Tensor> params_;
  std::vector<std::vector<size_t>> positions_;  // in params_, of each rank's share
  std::shared_ptr<ProcessGroup> group_;
};

/// `ZeroRedundancyOptimizer<optim::Adam> adam(net->parameters(), optim::AdamOptions(1e-3));` on all
/// ranks, of the same parameters. Errors: Error for fewer parameters than ranks; those of
/// Optimizer.
template <class Optimizer>
class ZeroRedundancyOptimizer : public ZeroRedundancy {
 public:
  template <class Options>
  ZeroRedundancyOptimizer(std::vector<Tensor> params, const Options& options,
                          std::shared_ptr<ProcessGroup> group = default_group())
      : ZeroRedundancy(std::move(params), group) {
    local_ = std::make_unique<Optimizer>(share(group->rank()), options);
  }
};

/// nn::utils::clip_grad_norm_ for parameters of which each rank holds its own: scale their
/// gradients so that the norm of those of all ranks together is at most max_norm; return the norm
/// before. Where all ranks have the same gradients, as with DistributedDataParallel, it is
/// nn::utils' that does it. Errors: those of allreduce().
AMBIT_API double clip_grad_norm_(ProcessGroup& group, TensorList parameters, double max_norm,
                                 double norm_type = 2);

}  // namespace ambit::distributed
