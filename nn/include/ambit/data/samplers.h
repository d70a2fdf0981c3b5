// Samplers: the order in which a loader asks a dataset for its samples.
#pragma once

#include <ambit/archive.h>
#include <ambit/dtype.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace ambit::data::samplers {

/// Errors: always, NotImplementedError saying that a sampler has not written `function`.
[[noreturn]] AMBIT_API void throw_not_saved(const char* function);

/// Hands out requests for batches: positions, or what else a dataset takes and has a size().
/// reset() starts an epoch. One whose next() always returns something makes endless epochs.
template <class BatchRequest = std::vector<size_t>>
class Sampler {
 public:
  using BatchRequestType = BatchRequest;

  virtual ~Sampler() = default;
  /// Start over, with another number of samples if given.
  virtual void reset(std::optional<size_t> new_size = {}) = 0;
  /// Return the next request, for at most `batch_size` samples; nothing at the end of the epoch.
  virtual std::optional<BatchRequest> next(size_t batch_size) = 0;
  /// Write where the sampler is in its epoch. Errors: NotImplementedError unless the class has its
  /// own; those here have, under libtorch's names.
  virtual void save(serialize::OutputArchive&) const { throw_not_saved("save"); }
  /// Go where save() was. Errors: as save(), and those of reading.
  virtual void load(serialize::InputArchive&) { throw_not_saved("load"); }
};

template <class BatchRequest>
serialize::OutputArchive& operator<<(serialize::OutputArchive& archive,
                                     const Sampler<BatchRequest>& sampler) {
  sampler.save(archive);
  return archive;
}
template <class BatchRequest>
serialize::InputArchive& operator>>(serialize::InputArchive& archive,
                                    Sampler<BatchRequest>& sampler) {
  sampler.load(archive);
  return archive;
}

/// 0, 1, ..., size - 1.
class AMBIT_API SequentialSampler : public Sampler<> {
 public:
  /// Count to `size`, in the first epoch.
  explicit SequentialSampler(size_t size) : size_(size) {}
  void reset(std::optional<size_t> new_size = {}) override;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;
  /// Return how many positions the epoch has handed out.
  size_t index() const noexcept { return next_; }

 private:
  size_t size_, next_ = 0;
};

/// 0, ..., size - 1 in a random order, another one each epoch.
class AMBIT_API RandomSampler : public Sampler<> {
 public:
  /// The orders follow from `seed`, or else from the CPU's generator: after manual_seed() they
  /// repeat too. A `size` below the dataset's picks from its first samples only. save() holds the
  /// order of the epoch, also of one that has not begun, and what later orders follow from `seed`
  /// by.
  explicit RandomSampler(size_t size, std::optional<uint64_t> seed = {})
      : size_(size), seed_(seed) {}
  /// As libtorch's, whose dtype is that of the list of positions: here it has 64 bits in any case.
  /// Errors: DTypeError for a dtype that is not of integers.
  RandomSampler(size_t size, DType index_dtype);
  void reset(std::optional<size_t> new_size = {}) override;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;
  /// Return how many positions the epoch has handed out.
  size_t index() const noexcept { return next_; }

 private:
  /// Where an order's random numbers begin.
  struct Place {
    uint64_t seed, offset;
  };
  Place claim() const;

  size_t size_, next_ = 0;
  std::optional<uint64_t> seed_;
  mutable uint64_t offset_ = 0;         // in the stream of seed_
  mutable std::optional<Place> ahead_;  // of the first epoch, which save() has claimed
  std::vector<size_t> order_;           // empty before the first epoch
};

/// A request that is more than a list of positions: derive from it.
struct AMBIT_API CustomBatchRequest {
  virtual ~CustomBatchRequest();
  /// Return how many samples it asks for.
  virtual size_t size() const = 0;
};

/// A request for the next so many samples.
struct AMBIT_API BatchSize : public CustomBatchRequest {
  explicit BatchSize(size_t size) : size_(size) {}
  size_t size() const noexcept override { return size_; }
  operator size_t() const noexcept { return size_; }

  size_t size_;
};

/// Says how many samples to take from a stream, epoch_size in an epoch, and never which.
class AMBIT_API StreamSampler : public Sampler<BatchSize> {
 public:
  explicit StreamSampler(size_t epoch_size) : epoch_size_(epoch_size) {}
  void reset(std::optional<size_t> new_size = {}) override;
  std::optional<BatchSize> next(size_t batch_size) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;

 private:
  size_t epoch_size_, taken_ = 0;
};

}  // namespace ambit::data::samplers
