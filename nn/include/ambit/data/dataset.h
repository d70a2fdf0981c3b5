// Datasets: sources of batches for a loader. Derive from Dataset and implement get() and size();
// from StreamDataset if only the next samples can be read; from StatefulDataset
// (stateful_dataset.h) if the dataset itself determines the end of an epoch.
#pragma once

#include <ambit/array_ref.h>
#include <ambit/data/example.h>

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace ambit::data {

/// Positions in a dataset, from 0; a non-owning view, valid for one call.
using Indices = ArrayRef<size_t>;

namespace datasets {

template <class Source, class Transform>
class MapDataset;

/// Whether T is a std::optional, the batch type of stateful datasets.
template <class T>
inline constexpr bool is_optional = false;
/// The case of a std::optional.
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

/// A source of batches. A loader makes one copy per worker, each used by one thread, so copies
/// should be cheap. `BatchRequest` specifies a batch: positions, or a number of samples.
template <class Self, class Batch = std::vector<Example<>>, class BatchRequest = Indices>
class BatchDataset {
 public:
  using SelfType = Self;
  using BatchType = Batch;
  using BatchRequestType = BatchRequest;
  /// True if get_batch() may return nullopt, at the end of an epoch. A loader for such a dataset
  /// uses no sampler, and its workers share one instance.
  static constexpr bool is_stateful = is_optional<Batch>;

  virtual ~BatchDataset() = default;
  /// Return the requested samples, in that order.
  virtual Batch get_batch(BatchRequest request) = 0;
  /// Return the number of samples; nullopt if unknown.
  virtual std::optional<size_t> size() const = 0;

  /// Return a dataset that applies `transform` to the batches of this one.
  template <class Transform>
  MapDataset<Self, Transform> map(Transform transform) & {
    return {static_cast<Self&>(*this), std::move(transform)};
  }
  template <class Transform>
  MapDataset<Self, Transform> map(Transform transform) const& {
    return {static_cast<const Self&>(*this), std::move(transform)};
  }
  template <class Transform>
  MapDataset<Self, Transform> map(Transform transform) && {
    return {std::move(static_cast<Self&>(*this)), std::move(transform)};
  }
};

/// A source of single samples.
template <class Self, class SingleExample = Example<>>
class Dataset : public BatchDataset<Self, std::vector<SingleExample>> {
 public:
  using ExampleType = SingleExample;

  /// Return sample `index`, which is below size().
  virtual SingleExample get(size_t index) = 0;
  /// Return get() of each index.
  std::vector<SingleExample> get_batch(Indices indices) override {
    std::vector<SingleExample> batch;
    batch.reserve(indices.size());
    for (const size_t i : indices) batch.push_back(get(i));
    return batch;
  }
};

/// A source that returns the next n samples and has no random access. Use it with
/// samplers::StreamSampler.
template <class Self, class Batch = std::vector<Example<>>>
using StreamDataset = BatchDataset<Self, Batch, size_t>;

}  // namespace datasets
using datasets::BatchDataset;
using datasets::Dataset;
}  // namespace ambit::data

#include <ambit/data/map_dataset.h>
