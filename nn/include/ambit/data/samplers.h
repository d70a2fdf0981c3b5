// Samplers: the order in which a loader requests samples from a dataset.
#pragma once

#include <ambit/archive.h>
#include <ambit/dtype.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace ambit::data::samplers {

/// Throw NotImplementedError saying that a sampler does not implement `function`.
[[noreturn]] AMBIT_API void throw_not_saved(const char* function);

/// Produces requests for batches: positions, or another request type with a size(). reset() starts
/// an epoch. If next() never returns nullopt, the epoch is endless.
template <class BatchRequest = std::vector<size_t>>
class Sampler {
 public:
  using BatchRequestType = BatchRequest;

  virtual ~Sampler() = default;
  /// Start over, with another number of samples if given.
  virtual void reset(std::optional<size_t> new_size = {}) = 0;
  /// Return the next request, for at most `batch_size` samples; nullopt at the end of the epoch.
  virtual std::optional<BatchRequest> next(size_t batch_size) = 0;
  /// Write the position in the epoch. Errors: NotImplementedError unless the class overrides it;
  /// all samplers here do, with libtorch's names.
  virtual void save(serialize::OutputArchive&) const { throw_not_saved("save"); }
  /// Continue where save() was called. Errors: as save(), and those of reading.
  virtual void load(serialize::InputArchive&) { throw_not_saved("load"); }
};

/// Call sampler.save(archive).
template <class BatchRequest>
serialize::OutputArchive& operator<<(serialize::OutputArchive& archive,
                                     const Sampler<BatchRequest>& sampler) {
  sampler.save(archive);
  return archive;
}
/// Call sampler.load(archive).
template <class BatchRequest>
serialize::InputArchive& operator>>(serialize::InputArchive& archive,
                                    Sampler<BatchRequest>& sampler) {
  sampler.load(archive);
  return archive;
}

/// Returns 0, 1, ..., size - 1.
class AMBIT_API SequentialSampler : public Sampler<> {
 public:
  /// `size` is the number of samples in the first epoch.
  explicit SequentialSampler(size_t size) : size_(size) {}
  void reset(std::optional<size_t> new_size = {}) override;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;
  /// Return how many positions of the epoch have been returned.
  size_t index() const noexcept { return next_; }

 private:
  size_t size_, next_ = 0;
};

/// Returns 0, ..., size - 1 in a random order that differs each epoch.
class AMBIT_API RandomSampler : public Sampler<> {
 public:
  /// Orders depend on `seed`, or else on the CPU generator, so manual_seed() makes them
  /// reproducible too. A `size` below the dataset's selects from its first samples only. save()
  /// stores the order of the epoch, even if it has not begun, and the random state of later orders
  /// if `seed` was given.
  explicit RandomSampler(size_t size, std::optional<uint64_t> seed = {})
      : size_(size), seed_(seed) {}
  /// For compatibility with libtorch, where the dtype is that of the positions; here they always
  /// have 64 bits. Errors: DTypeError unless it is an integer dtype.
  RandomSampler(size_t size, DType index_dtype);
  void reset(std::optional<size_t> new_size = {}) override;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;
  /// Return how many positions of the epoch have been returned.
  size_t index() const noexcept { return next_; }

 private:
  /// Start of an order's random numbers in a generator's stream.
  struct Place {
    uint64_t seed, offset;
  };
  Place claim() const;

  size_t size_, next_ = 0;
  std::optional<uint64_t> seed_;
  mutable uint64_t offset_ = 0;         // position in the stream of seed_
  mutable std::optional<Place> ahead_;  // of the first epoch, reserved by save()
  std::vector<size_t> order_;           // empty before the first epoch
};

/// Base of requests that are more than a list of positions.
struct AMBIT_API CustomBatchRequest {
  virtual ~CustomBatchRequest();
  /// Return the number of requested samples.
  virtual size_t size() const = 0;
};

/// A request for the next n samples.
struct AMBIT_API BatchSize : public CustomBatchRequest {
  /// Request this number of samples.
  explicit BatchSize(size_t size) : size_(size) {}
  size_t size() const noexcept override { return size_; }
  /// Return the number of requested samples.
  operator size_t() const noexcept { return size_; }

  /// The number of requested samples.
  size_t size_;
};

/// Requests the next samples of a stream without positions, epoch_size per epoch.
class AMBIT_API StreamSampler : public Sampler<BatchSize> {
 public:
  /// epoch_size: samples per epoch.
  explicit StreamSampler(size_t epoch_size) : epoch_size_(epoch_size) {}
  void reset(std::optional<size_t> new_size = {}) override;
  std::optional<BatchSize> next(size_t batch_size) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;

 private:
  size_t epoch_size_, taken_ = 0;
};

}  // namespace ambit::data::samplers
