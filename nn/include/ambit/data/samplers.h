// Samplers: the order in which a loader asks a dataset for its samples.
#pragma once

#include <ambit/api.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace ambit::data::samplers {

/// Hands out positions. reset() starts an epoch.
class AMBIT_API Sampler {
 public:
  virtual ~Sampler();
  /// Start over, with another number of samples if given.
  virtual void reset(std::optional<size_t> new_size = {}) = 0;
  /// Return the next positions, at most `batch_size`; nothing at the end of the epoch.
  virtual std::optional<std::vector<size_t>> next(size_t batch_size) = 0;
};

/// 0, 1, ..., size - 1.
class AMBIT_API SequentialSampler : public Sampler {
 public:
  /// Count to `size`, in the first epoch.
  explicit SequentialSampler(size_t size) : size_(size) {}
  void reset(std::optional<size_t> new_size = {}) override;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;

 private:
  size_t size_, next_ = 0;
};

/// 0, ..., size - 1 in a random order, another one each epoch.
class AMBIT_API RandomSampler : public Sampler {
 public:
  /// The orders follow from `seed`, or else from the CPU's generator: after manual_seed() they
  /// repeat too. A `size` below the dataset's picks from its first samples only.
  explicit RandomSampler(size_t size, std::optional<uint64_t> seed = {})
      : size_(size), seed_(seed) {}
  void reset(std::optional<size_t> new_size = {}) override;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;

 private:
  size_t size_, next_ = 0;
  std::optional<uint64_t> seed_;
  uint64_t offset_ = 0;        // in the stream of seed_
  std::vector<size_t> order_;  // empty before the first epoch
};

}  // namespace ambit::data::samplers
