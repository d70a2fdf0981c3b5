// The processes of one training: mostly one; with --distributed all that mpirun has started, of
// which each takes its share of every batch. Rank 0 alone prints and saves.
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

/// What a rank takes of `n` images in a row, and what its mean loss weighs in that of all. Where
/// there are fewer images than ranks, some take the first with no weight.
struct Share {
  size_t first = 0, count = 0;
  double weight = 1;  ///< times the number of ranks: gradients are averaged
};

class Ranks {
 public:
  /// The one of this process.
  static Ranks& of_process();

  /// Begin as options.distributed says, if at all, and choose this rank's device where none is
  /// chosen. What ranks other than 0 print goes nowhere, but for errors.
  void begin(Options& options);

  int rank() const { return group_ ? group_->rank() : 0; }
  int size() const { return group_ ? group_->size() : 1; }
  bool is_first() const { return rank() == 0; }
  Share share(size_t n) const;
  /// Have backward average the gradients of all ranks, while what is returned lives.
  std::unique_ptr<ambit::distributed::DataParallel> train(
      const std::shared_ptr<ambit::nn::Module>& network) const;
  /// Return the mean loss weighted for backward; itself where there is one rank.
  ambit::Tensor weighted(const ambit::Tensor& loss, const Share& share) const;
  /// Return the mean over all ranks of a number that each has on its device, outside the graph.
  ambit::Tensor mean(const ambit::Tensor& value) const;
  /// Return the sum, exact for whole numbers below 2^53.
  double sum(double value) const;
  /// Return whether any rank says so.
  bool any(bool value) const { return group_ ? sum(value) > 0 : value; }
  /// Return what rank 0 makes, on all: files are on its machine.
  ambit::Value from_first(const std::function<ambit::Value()>& make) const;
  /// Wait until all ranks are here.
  void meet() const;

 private:
  std::shared_ptr<ambit::distributed::ProcessGroup> group_;
  ambit::Device device_;
};

}  // namespace training
