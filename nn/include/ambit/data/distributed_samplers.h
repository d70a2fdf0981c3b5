// Samplers for several processes that train together, each on its share of the dataset.
#pragma once

#include <ambit/data/samplers.h>

#include <cstddef>
#include <optional>
#include <vector>

namespace ambit::data::samplers {

/// Throw Error naming both.
[[noreturn]] AMBIT_API void throw_bad_rank(size_t rank, size_t num_replicas);

/// Base of the two samplers below: assigns positions to process `rank` of `num_replicas`. All get
/// the same number: size / num_replicas, rounded up by repeating some positions if
/// `allow_duplicates`, else rounded down. Errors: Error unless rank < num_replicas.
template <class BatchRequest = std::vector<size_t>>
class DistributedSampler : public Sampler<BatchRequest> {
 public:
  /// size: number of samples of the whole dataset.
  explicit DistributedSampler(size_t size, size_t num_replicas = 1, size_t rank = 0,
                              bool allow_duplicates = true)
      : size_(size), num_replicas_(num_replicas), rank_(rank), allow_duplicates_(allow_duplicates) {
    if (rank >= num_replicas) throw_bad_rank(rank, num_replicas);
  }

  /// Set the epoch of the next reset(), which selects the random order; the same on all processes.
  void set_epoch(size_t epoch) { epoch_ = epoch; }
  /// Return the epoch of the next reset(), initially 0.
  size_t epoch() const { return epoch_; }

 protected:
  /// Return the number of positions of this process in an epoch.
  size_t local_sample_count() const {
    const size_t rest = size_ % num_replicas_;
    return size_ / num_replicas_ + (allow_duplicates_ && rest > 0 ? 1 : 0);
  }

  size_t size_, num_replicas_, rank_;  ///< the arguments of the constructor
  size_t epoch_ = 0;                   ///< set by set_epoch()
  bool allow_duplicates_;              ///< the argument of the constructor
};

/// Base of both samplers: iteration over this process's share of an order.
class AMBIT_API DistributedOrder : public DistributedSampler<> {
 public:
  using DistributedSampler::DistributedSampler;
  void reset(std::optional<size_t> new_size = {}) override;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;
  /// Return the next position in the order of all processes.
  size_t index() const noexcept { return next_; }

 protected:
  /// Permute 0 ... order.size() - 1 into the order of this epoch.
  virtual void arrange(std::vector<size_t>& order) const = 0;

 private:
  size_t next_ = 0, end_ = 0;  // indices into order_
  std::vector<size_t> order_;  // for all processes; empty before the first epoch
  bool begun_ = false;
};

/// Gives each process its share of one random order that depends only on the epoch.
class AMBIT_API DistributedRandomSampler : public DistributedOrder {
 public:
  using DistributedOrder::DistributedOrder;

 protected:
  void arrange(std::vector<size_t>& order) const override;
};

/// Gives process 0 the first positions, process 1 the next, and so on.
class AMBIT_API DistributedSequentialSampler : public DistributedOrder {
 public:
  using DistributedOrder::DistributedOrder;

 protected:
  void arrange(std::vector<size_t>& order) const override;
};

}  // namespace ambit::data::samplers
