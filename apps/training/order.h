// The order in which a training takes its images.
#pragma once

#include <ambit/data/samplers.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace training {

/// The order of the files, or a shuffled one, another each epoch, drawn from the CPU's generator.
/// The first epoch may begin in its middle, where an interrupted one ended.
class Order : public ambit::data::samplers::Sampler<> {
 public:
  /// Leave out the first `done` of `size` images in the first epoch.
  Order(size_t size, bool shuffle, size_t done = 0);
  void reset(std::optional<size_t> new_size = {}) override;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;

 private:
  std::shared_ptr<ambit::data::samplers::Sampler<>> whole_;
  size_t done_;
};

}  // namespace training
