// MapDataset: the result of BatchDataset::map.
#pragma once

#include <ambit/data/dataset.h>
#include <ambit/data/transforms.h>

#include <optional>
#include <type_traits>
#include <utility>

namespace ambit::data::datasets {

/// Batch type of a source; for a stateful source without the optional.
template <class Source>
struct SourceBatch {
  /// The batch type.
  using type = typename Source::BatchType;
};
/// The case of a stateful source.
template <class Source>
requires(Source::is_stateful) struct SourceBatch<Source> {
  /// The batch type.
  using type = typename Source::BatchType::value_type;
};

/// Batch type after a transform of a source's batches.
template <class Source, class Transform>
struct MappedBatch {
  /// The argument of the transform.
  using In = typename SourceBatch<Source>::type;
  /// Whether the transform accepts the source's batches.
  static constexpr bool fits = requires(Transform & t, In batch) {
    t.apply_batch(std::move(batch));
  };
  static_assert(fits, "map: expected a transform whose apply_batch() accepts its batches");
  /// The result of the transform.
  using Out = decltype(std::declval<Transform&>().apply_batch(std::declval<In>()));
  /// The result of the MapDataset's get_batch().
  using type = std::conditional_t<Source::is_stateful, std::optional<Out>, Out>;
};

/// The batches of `source` with `transform` applied. If a source implements a transform itself, as
/// datasets of bytes implement normalisation by a lookup table, that is used.
template <class Source, class Transform>
class MapDataset : public BatchDataset<MapDataset<Source, Transform>,
                                       typename MappedBatch<Source, Transform>::type,
                                       typename Source::BatchRequestType> {
  using Request = typename Source::BatchRequestType;
  using Batch = typename MappedBatch<Source, Transform>::type;
  static constexpr bool kSourceTransforms = requires(Source & s, const Transform& t) {
    s.take_over(t);
  };
  static constexpr bool kSourceStacks = requires(Source & s, Request r) { s.get_stacked(r); };
  static constexpr bool kStacks = kSourceStacks && std::is_same_v<Transform, transforms::Stack<>>;

 public:
  using DatasetType = Source;
  using TransformType = Transform;
  using OutputBatchType = Batch;

  /// Own the source and the transform.
  MapDataset(Source source, Transform transform)
      : source_(std::move(source)), transform_(std::move(transform)), mapped_(source_) {
    if constexpr (kSourceTransforms) mapped_.take_over(transform_);
  }

  /// Return the transformed batch; nullopt at the end of an epoch of a stateful source.
  Batch get_batch(Request request) override {
    if constexpr (kStacks) {
      return source_.get_stacked(request);
    } else if constexpr (kSourceTransforms) {
      return mapped_.get_batch(std::move(request));
    } else if constexpr (Source::is_stateful) {
      auto batch = source_.get_batch(std::move(request));
      if (!batch) return {};
      return transform_.apply_batch(std::move(*batch));
    } else {
      return transform_.apply_batch(source_.get_batch(std::move(request)));
    }
  }
  /// Return a batch in one tensor; for sources that can write it there directly.
  auto get_stacked(Request request) requires(kSourceTransforms&& kSourceStacks) {
    return mapped_.get_stacked(request);
  }
  /// Return the size of the source.
  std::optional<size_t> size() const override { return source_.size(); }
  /// Start an epoch of a stateful source.
  void reset() requires(Source::is_stateful) { source_.reset(); }

  /// Return the source, without the transform.
  const Source& dataset() const { return source_; }
  /// Return the transform.
  const Transform& transform() const { return transform_; }

 private:
  struct Nothing {
    explicit Nothing(const Source&) {}
  };

  Source source_;
  Transform transform_;
  // A copy of the source that applies the transform itself, if it can; source_ is unmodified.
  [[no_unique_address]] std::conditional_t<kSourceTransforms, Source, Nothing> mapped_;
};

/// Return `dataset.map(transform)`.
template <class Source, class Transform>
MapDataset<Source, Transform> map(Source dataset, Transform transform) {
  return {std::move(dataset), std::move(transform)};
}

}  // namespace ambit::data::datasets
