// DistributedDataParallel: each rank trains a copy of a module on its part of a batch; gradients
// are averaged while the backward pass is still running.
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

/// Options of DistributedDataParallel.
struct DistributedDataParallelOptions {
  /// Gradients are exchanged in buckets of this size in MiB; the first bucket is at most 1 MiB. A
  /// bucket holds parameters of one device and dtype, in reverse order of registration.
  double bucket_cap_mb = 25;
  /// If true, forward in training mode first copies rank 0's buffers to all ranks.
  bool broadcast_buffers = true;
  /// If true, parameters may be unused in a loss: they contribute zeros to the mean, and parameters
  /// that no rank used keep their `.grad`. Costs one more small exchange.
  bool find_unused_parameters = false;
};

class Reducer;  // nn/distributed/reducer.h

/// Implementation of DistributedDataParallel for a module of any class.
class AMBIT_API DataParallel {
 public:
  /// Compare the parameters and buffers of all ranks, then replace them by rank 0's. Errors:
  /// DistributedError, on all ranks, naming the parameter and the rank that differs; Error for a
  /// bucket size of 0 or a null group.
  DataParallel(std::shared_ptr<nn::Module> module, std::shared_ptr<ProcessGroup> group,
               const DistributedDataParallelOptions& options);
  DataParallel(const DataParallel&) = delete;
  DataParallel& operator=(const DataParallel&) = delete;

  /// Synchronise the buffers, if the options and the mode require it.
  void before_forward();

  /// While it exists, backward accumulates into `.grad` on this rank only; the first backward after
  /// it averages the accumulated gradients. Forward in its scope does not synchronise buffers.
  using NoSync = std::shared_ptr<void>;
  /// Return an object that suspends averaging while it exists.
  [[nodiscard]] NoSync no_sync();

 private:
  std::shared_ptr<nn::Module> module_;
  DistributedDataParallelOptions options_;
  std::shared_ptr<ProcessGroup> group_;
  std::shared_ptr<Reducer> reducer_;  // receives the parameters' gradients
};

/// M: a holder, such as nn::Sequential or any class defined by AMBIT_MODULE.
template <class M>
class DistributedDataParallelImpl : public nn::Module {
 public:
  /// Wrap `m`. Errors: those of DataParallel's constructor.
  explicit DistributedDataParallelImpl(M m, std::shared_ptr<ProcessGroup> group = default_group(),
                                       const DistributedDataParallelOptions& options = {})
      : nn::Module("DistributedDataParallel"),
        parallel_(m.ptr(), std::move(group), options),
        module(register_module("module", m)) {}

  /// Synchronise the buffers if required, then call the module.
  template <class... Args>
  auto forward(Args&&... args) {
    parallel_.before_forward();
    return module->forward(std::forward<Args>(args)...);
  }
  /// `auto local = ddp->no_sync();`: see DataParallel::NoSync.
  [[nodiscard]] DataParallel::NoSync no_sync() { return parallel_.no_sync(); }

 private:
  DataParallel parallel_;

 public:
  M module;  ///< checkpoints store its state_dict()
};

/// Wrap a module for training on all ranks of a group; each rank constructs the same module. After
/// backward() on all ranks, every parameter's `.grad` is the mean over the ranks of their gradients
/// plus the previous contents of `.grad`, which no_sync() accumulates. It is a view of a bucket:
/// clone it if it must outlive the next step. If ranks have batches of n_r samples, N in total, the
/// gradient of the mean over all samples requires losses weighted by n_r * ranks / N. Parameters
/// must be leaves that require grad at construction.
/// Errors in backward: AutogradError naming unused parameters, unless find_unused_parameters;
/// NotImplementedError with create_graph; DistributedError. If backward fails on one rank, the
/// group ends on all, and `.grad` is unspecified.
template <class M>
class DistributedDataParallel : public nn::ModuleHolder<DistributedDataParallelImpl<M>> {
 public:
  using nn::ModuleHolder<DistributedDataParallelImpl<M>>::ModuleHolder;
  /// Wrap `m`. Errors: those of DataParallel's constructor.
  explicit DistributedDataParallel(M m, std::shared_ptr<ProcessGroup> group = default_group(),
                                   const DistributedDataParallelOptions& options = {})
      : nn::ModuleHolder<DistributedDataParallelImpl<M>>(
            std::make_shared<DistributedDataParallelImpl<M>>(std::move(m), std::move(group),
                                                             options)) {}
};

/// Replace all tensors on all ranks by root's, in large messages. Errors: those of broadcast().
AMBIT_API void broadcast_coalesced(ProcessGroup& group, const std::vector<Tensor>& tensors,
                                   int root = 0);

}  // namespace ambit::distributed
