// DistributedDataParallel: each rank trains a copy of a module on its part of a batch, and their
// gradients are averaged while backward still computes.
//   distributed::DistributedDataParallel ddp(net);
//   loss_fn(ddp(x), y).backward();  // now .grad is the same on all ranks
//   optimizer.step();               // and so are the parameters
// Source: torch.nn.parallel.DistributedDataParallel; Li et al. 2020, arXiv:2006.15704.
#pragma once

#include <ambit/distributed/process_group.h>
#include <ambit/nn/module.h>

#include <memory>
#include <utility>
#include <vector>

namespace ambit::distributed {

struct DistributedDataParallelOptions {
  /// Gradients are exchanged in buckets of so many MiB, of which the first to be full is of 1 MiB
  /// at most; a bucket holds parameters of one device and dtype, in reverse order of registration.
  double bucket_cap_mb = 25;
  /// Whether a training forward takes over rank 0's buffers first.
  bool broadcast_buffers = true;
  /// Whether some parameters may take no part in a loss: then they add zeros to the sum, and those
  /// that took part on no rank keep their `.grad`. Costs one more small exchange.
  bool find_unused_parameters = false;
};

class Reducer;  // nn/distributed/reducer.h

/// What DistributedDataParallel does, for a module of any class.
class AMBIT_API DataParallel {
 public:
  /// Compare the parameters and buffers of all ranks, then replace them by rank 0's. Errors:
  /// DistributedError, on all ranks, naming the parameter and the rank that differs; Error for a
  /// bucket of no size, or no group.
  DataParallel(std::shared_ptr<nn::Module> module, std::shared_ptr<ProcessGroup> group,
               const DistributedDataParallelOptions& options);
  DataParallel(const DataParallel&) = delete;
  DataParallel& operator=(const DataParallel&) = delete;

  /// Bring the buffers in step, where the options and the mode say so.
  void before_forward();

  /// While it lives, backward adds to `.grad` on this rank alone. The first one after it averages
  /// what has gathered there. A forward in its scope leaves buffers alone.
  using NoSync = std::shared_ptr<void>;
  [[nodiscard]] NoSync no_sync();

 private:
  std::shared_ptr<nn::Module> module_;
  DistributedDataParallelOptions options_;
  std::shared_ptr<ProcessGroup> group_;
  std::shared_ptr<Reducer> reducer_;  // the parameters' listener
};

/// M: a holder, such as nn::Sequential, or a class that AMBIT_MODULE has made.
template <class M>
class DistributedDataParallelImpl : public nn::Module {
 public:
  explicit DistributedDataParallelImpl(M m, std::shared_ptr<ProcessGroup> group = default_group(),
                                       const DistributedDataParallelOptions& options = {})
      : nn::Module("DistributedDataParallel"),
        parallel_(m.ptr(), std::move(group), options),
        module(register_module("module", m)) {}

  template <class... Args>
  auto forward(Args&&... args) {
    parallel_.before_forward();
    return module->forward(std::forward<Args>(args)...);
  }
  /// `auto local = ddp->no_sync();`: as DataParallel::NoSync.
  [[nodiscard]] DataParallel::NoSync no_sync() { return parallel_.no_sync(); }

 private:
  DataParallel parallel_;

 public:
  M module;  ///< whose state_dict() a checkpoint holds
};

/// Wrap a module for training on all ranks of a group, each of which makes one of the same module.
/// After backward() on all ranks every parameter's `.grad` is the mean over the ranks: of their
/// gradients, plus what was in `.grad` before, which no_sync() lets gather. It is a view of a
/// bucket: hold a clone of what is to outlive the next step. Where ranks have batches of n_r
/// samples of N in all, the gradient of a mean over all samples takes losses weighted by
/// n_r * ranks / N. Parameters must be leaves that require grad when this is made.
/// Errors in backward: AutogradError naming parameters that took no part, unless
/// find_unused_parameters; NotImplementedError with create_graph; DistributedError. A backward that
/// fails on one rank ends the group on all, and `.grad` may hold anything.
template <class M>
class DistributedDataParallel : public nn::ModuleHolder<DistributedDataParallelImpl<M>> {
 public:
  using nn::ModuleHolder<DistributedDataParallelImpl<M>>::ModuleHolder;
  explicit DistributedDataParallel(M m, std::shared_ptr<ProcessGroup> group = default_group(),
                                   const DistributedDataParallelOptions& options = {})
      : nn::ModuleHolder<DistributedDataParallelImpl<M>>(
            std::make_shared<DistributedDataParallelImpl<M>>(std::move(m), std::move(group),
                                                             options)) {}
};

/// Replace all tensors on all ranks by root's, many at once. Errors: those of broadcast().
AMBIT_API void broadcast_coalesced(ProcessGroup& group, const std::vector<Tensor>& tensors,
                                   int root = 0);

}  // namespace ambit::distributed
