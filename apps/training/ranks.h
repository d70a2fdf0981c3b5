// The processes of one training: usually one; with --distributed all those started by mpirun, each
// of which trains on its part of every batch. Only rank 0 prints and saves.
#pragma once

#include <ambit/distributed/data_parallel.h>
#include <ambit/nn/module.h>
#include <ambit/value.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace training {

struct Options;

/// A rank's part of `n` consecutive images, and the weight of its mean loss in the total. If there
/// are fewer images than ranks, some ranks get the first image with weight 0.
struct Share {
  size_t first = 0, count = 0;
  double weight = 1;  ///< multiplied by the number of ranks, because gradients are averaged
};

class Ranks {
 public:
  /// Return the instance of this process.
  static Ranks& of_process();

  /// Start as options.distributed requests, if at all, and choose this rank's device if none is
  /// given. Output of ranks other than 0 is discarded, except for errors.
  void begin(Options& options);

  int rank() const { return group_ ? group_->rank() : 0; }
  int size() const { return group_ ? group_->size() : 1; }
  bool is_first() const { return rank() == 0; }
  Share share(size_t n) const;
  /// Average the gradients of all ranks in backward, during the lifetime of the result.
  std::unique_ptr<ambit::distributed::DataParallel> train(
      const std::shared_ptr<ambit::nn::Module>& network) const;
  /// Return the mean loss weighted for backward; with one rank the loss itself.
  ambit::Tensor weighted(const ambit::Tensor& loss, const Share& share) const;
  /// Return the mean over all ranks of a number on each rank's device, detached.
  ambit::Tensor mean(const ambit::Tensor& value) const;
  /// Return the sum over all ranks, exact for whole numbers below 2^53.
  double sum(double value) const;
  /// Return whether the value is true on any rank.
  bool any(bool value) const { return group_ ? sum(value) > 0 : value; }
  /// Return rank 0's result of `make` on all ranks; files may exist only on its machine.
  ambit::Value from_first(const std::function<ambit::Value()>& make) const;
  /// Wait for all ranks.
  void wait_for_all() const;

 private:
  std::shared_ptr<ambit::distributed::ProcessGroup> group_;
  ambit::Device device_;
};

}  // namespace training
