// Datasets: what a loader asks for batches. Derive from Dataset and write get() and size(); from
// StreamDataset where batches come one after the other; from StatefulDataset (stateful_dataset.h)
// where the dataset itself says when an epoch ends.
#pragma once

#include <ambit/array_ref.h>
#include <ambit/data/example.h>

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace ambit::data {

/// Positions in a dataset, from 0 on, borrowed for one call.
using Indices = ArrayRef<size_t>;

namespace datasets {

template <class Source, class Transform>
class MapDataset;

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

/// A source of batches. Copies are cheap to make, one for each worker of a loader, and used by one
/// thread each. `BatchRequest` says what to put in a batch: positions, or how many samples.
template <class Self, class Batch = std::vector<Example<>>, class BatchRequest = Indices>
class BatchDataset {
 public:
  using SelfType = Self;
  using BatchType = Batch;
  using BatchRequestType = BatchRequest;
  /// Whether get_batch() may return nothing, at the end of an epoch. Such a dataset needs no
  /// sampler; a loader's workers share one and the same.
  static constexpr bool is_stateful = is_optional<Batch>;

  virtual ~BatchDataset() = default;
  /// Return the samples that are asked for, in that order.
  virtual Batch get_batch(BatchRequest request) = 0;
  /// Return the number of samples; nothing where it is not known.
  virtual std::optional<size_t> size() const = 0;

  /// Return a dataset that applies `transform` to what this one gives.
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

/// A source of samples, one by one.
template <class Self, class SingleExample = Example<>>
class Dataset : public BatchDataset<Self, std::vector<SingleExample>> {
 public:
  using ExampleType = SingleExample;

  /// Return sample `index`, below size().
  virtual SingleExample get(size_t index) = 0;
  /// Return get() of each index.
  std::vector<SingleExample> get_batch(Indices indices) override {
    std::vector<SingleExample> batch;
    batch.reserve(indices.size());
    for (const size_t i : indices) batch.push_back(get(i));
    return batch;
  }
};

/// A source that is asked for the next so many samples, and never for one of them. Its sampler is a
/// samplers::StreamSampler.
template <class Self, class Batch = std::vector<Example<>>>
using StreamDataset = BatchDataset<Self, Batch, size_t>;

}  // namespace datasets
using datasets::BatchDataset;
using datasets::Dataset;
}  // namespace ambit::data

#include <ambit/data/map_dataset.h>
