// SharedBatchDataset: one dataset that all workers of a loader share.
#pragma once

#include <ambit/data/dataset.h>
#include <ambit/detail/memory_errors.h>
#include <ambit/error.h>

#include <memory>
#include <optional>
#include <utility>

namespace ambit::data::datasets {

/// A handle on a dataset; copies share it. With more than one worker its get_batch() must be
/// thread-safe. Errors: Error for a null pointer.
template <class Underlying>
class SharedBatchDataset
    : public BatchDataset<SharedBatchDataset<Underlying>, typename Underlying::BatchType,
                          typename Underlying::BatchRequestType> {
 public:
  using BatchType = typename Underlying::BatchType;
  using BatchRequestType = typename Underlying::BatchRequestType;

  /// Share a dataset.
  SharedBatchDataset(std::shared_ptr<Underlying> dataset) : dataset_(std::move(dataset)) {
    if (!dataset_) throw Error("SharedBatchDataset: expected a dataset, got null");
  }

  /// Call get_batch() of the dataset.
  BatchType get_batch(BatchRequestType request) override {
    return dataset_->get_batch(std::move(request));
  }
  /// Return the size of the dataset.
  std::optional<size_t> size() const override { return dataset_->size(); }
  /// Start an epoch of a stateful dataset.
  void reset() { dataset_->reset(); }

  /// Return the dataset.
  Underlying& operator*() { return *dataset_; }
  const Underlying& operator*() const { return *dataset_; }
  /// Access a member of the dataset.
  Underlying* operator->() { return dataset_.get(); }
  const Underlying* operator->() const { return dataset_.get(); }

 private:
  std::shared_ptr<Underlying> dataset_;
};

/// Construct a dataset from its constructor's arguments and return a handle on it.
template <class Underlying, class... Args>
SharedBatchDataset<Underlying> make_shared_dataset(Args&&... args) {
  return typed_memory_errors("make_shared_dataset", [&] {
    return SharedBatchDataset<Underlying>(
        std::make_shared<Underlying>(std::forward<Args>(args)...));
  });
}

}  // namespace ambit::data::datasets
