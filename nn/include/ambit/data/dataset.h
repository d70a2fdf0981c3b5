// Datasets: what a loader asks for batches. Derive from Dataset and write get() and size().
#pragma once

#include <ambit/data/example.h>
#include <ambit/data/transforms.h>

#include <cstddef>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace ambit::data {

/// Positions in a dataset, from 0 on, borrowed for one call.
using Indices = std::span<const size_t>;

namespace datasets {

template <class Source, class Transform>
class MapDataset;

/// A source of batches. Copies are cheap to make, one for each worker of a loader, and used by one
/// thread each.
template <class Self, class Batch = std::vector<Example<>>>
class BatchDataset {
 public:
  using BatchType = Batch;

  virtual ~BatchDataset() = default;
  /// Return the samples at `indices`, in that order.
  virtual Batch get_batch(Indices indices) = 0;
  /// Return the number of samples; nothing where it is not known.
  virtual std::optional<size_t> size() const = 0;

  /// Return a dataset that applies `transform` to what this one gives.
  template <class Transform>
  MapDataset<Self, Transform> map(Transform transform) & {
    return {static_cast<Self&>(*this), std::move(transform)};
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

/// What a transform makes of a source's batches.
template <class Source, class Transform>
using MappedBatch =
    decltype(std::declval<Transform&>().apply_batch(std::declval<typename Source::BatchType>()));

/// What BatchDataset::map returns: batches of `source` through `transform`.
template <class Source, class Transform>
class MapDataset
    : public BatchDataset<MapDataset<Source, Transform>, MappedBatch<Source, Transform>> {
 public:
  MapDataset(Source source, Transform transform)
      : source_(std::move(source)), transform_(std::move(transform)) {}

  MappedBatch<Source, Transform> get_batch(Indices indices) override {
    // A source that can write its samples into one tensor spares making and stacking many.
    if constexpr (std::is_same_v<Transform, transforms::Stack<>> &&
                  requires { source_.get_stacked(indices); }) {
      return source_.get_stacked(indices);
    } else {
      return transform_.apply_batch(source_.get_batch(indices));
    }
  }
  std::optional<size_t> size() const override { return source_.size(); }
  const Source& dataset() const { return source_; }
  const Transform& transform() const { return transform_; }

 private:
  Source source_;
  Transform transform_;
};

}  // namespace datasets
}  // namespace ambit::data
