// Samplers of the training apps.
#pragma once

#include <ambit/data/samplers.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "training/ranks.h"

namespace training {

/// The order of the files, or a shuffled one that differs each epoch, drawn from the CPU generator.
/// The first epoch may start in the middle, where an interrupted one stopped. Returns this rank's
/// part of each batch.
class Order : public ambit::data::samplers::Sampler<> {
 public:
  /// Skip the first `done` of `size` images in the first epoch.
  Order(size_t size, bool shuffle, size_t done = 0);
  void reset(std::optional<size_t> new_size = {}) override;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;

 private:
  std::shared_ptr<ambit::data::samplers::Sampler<>> whole_;
  size_t done_;
};

/// An endless sequence of shuffled epochs, in orders determined by `seed`, with whole batches only;
/// the remainder of an epoch is dropped. Errors of next(): ambit::Error for a batch that is larger
/// than the epoch.
class EndlessOrder : public ambit::data::samplers::Sampler<> {
 public:
  /// Start after the first `done` batches of `batch_size`.
  EndlessOrder(size_t size, uint64_t seed, size_t done = 0, size_t batch_size = 1)
      : size_(size), done_(done), batch_size_(batch_size), epoch_(size, seed) {}
  void reset(std::optional<size_t> new_size = {}) override;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;

 private:
  size_t size_, done_, batch_size_;
  ambit::data::samplers::RandomSampler epoch_;
};

}  // namespace training
