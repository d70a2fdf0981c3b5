// Loaders: batches of a dataset, prepared by worker threads.
//   auto loader = data::make_data_loader<data::samplers::RandomSampler>(
//       std::move(dataset), data::DataLoaderOptions().batch_size(4).workers(2));
//   for (auto& batch : *loader) net->forward(batch.data);
#pragma once

#include <ambit/data/data_loader_base.h>
#include <ambit/data/dataset.h>
#include <ambit/data/samplers.h>

#include <concepts>
#include <memory>
#include <optional>
#include <utility>

namespace ambit::data {

/// Batches of a dataset in a sampler's order. Each worker has a copy of the dataset; without
/// workers the dataset is not copied. See DataLoaderBase.
template <class Dataset, class Sampler>
class StatelessDataLoader : public DataLoaderBase<Dataset, typename Dataset::BatchType,
                                                  typename Sampler::BatchRequestType> {
  using Base =
      DataLoaderBase<Dataset, typename Dataset::BatchType, typename Sampler::BatchRequestType>;
  using typename Base::BatchRequestType, typename Base::BatchType;

 public:
  /// Errors: Error for a batch size of 0, and for workers with a dataset that is not copyable.
  StatelessDataLoader(Dataset dataset, Sampler sampler, const DataLoaderOptions& options)
      : Base(options, std::make_unique<Dataset>(std::move(dataset))), sampler_(std::move(sampler)) {
    if (!std::copy_constructible<Dataset> && this->options().workers > 0) {
      throw Error("DataLoader: expected a dataset that can be copied for its workers, got another");
    }
  }
  ~StatelessDataLoader() override { this->join(); }

 private:
  void reset() override { sampler_.reset(std::nullopt); }

  std::optional<BatchRequestType> next_request() override {
    auto request = sampler_.next(this->options().batch_size);
    if (!request) return {};
    const size_t size = request->size();
    if (size == 0) throw Error("DataLoader: expected a sampler's batch of at least 1, got 0");
    if (this->options().drop_last && size < this->options().batch_size) return {};
    return request;
  }

  std::unique_ptr<Dataset> make_copy(const Dataset& dataset) const override {
    if constexpr (std::copy_constructible<Dataset>) {
      return std::make_unique<Dataset>(dataset);
    } else {
      return nullptr;  // the constructor has refused workers
    }
  }

  std::optional<BatchType> get_batch(Dataset& dataset, BatchRequestType request) const override {
    return dataset.get_batch(std::move(request));
  }

  Sampler sampler_;
};

/// Batches of a dataset that determines itself what comes next. All workers share it: with more
/// than one, its get_batch() must be thread-safe. See DataLoaderBase.
template <class Dataset>
class StatefulDataLoader : public DataLoaderBase<Dataset, typename Dataset::BatchType::value_type,
                                                 typename Dataset::BatchRequestType> {
  using Base = DataLoaderBase<Dataset, typename Dataset::BatchType::value_type,
                              typename Dataset::BatchRequestType>;
  using typename Base::BatchRequestType, typename Base::BatchType;

 public:
  /// Errors: Error for a batch size of 0.
  StatefulDataLoader(Dataset dataset, const DataLoaderOptions& options)
      : Base(options, std::make_unique<Dataset>(std::move(dataset))) {}
  ~StatefulDataLoader() override { this->join(); }

 private:
  void reset() override { this->dataset().reset(); }
  std::optional<BatchRequestType> next_request() override { return this->options().batch_size; }
  std::unique_ptr<Dataset> make_copy(const Dataset&) const override { return nullptr; }
  std::optional<BatchType> get_batch(Dataset& dataset, BatchRequestType request) const override {
    return dataset.get_batch(std::move(request));
  }
};

/// Make a loader for a dataset in the order of a sampler. Errors: those of StatelessDataLoader.
template <class Dataset, class Sampler>
requires(!Dataset::is_stateful)
    std::unique_ptr<StatelessDataLoader<Dataset, Sampler>> make_data_loader(
        Dataset dataset, Sampler sampler, DataLoaderOptions options) {
  return typed_memory_errors("DataLoader", [&] {
    return std::make_unique<StatelessDataLoader<Dataset, Sampler>>(std::move(dataset),
                                                                   std::move(sampler), options);
  });
}

/// As above, with a sampler over the whole dataset. Errors: Error if its size is unknown.
template <class Sampler = samplers::RandomSampler, class Dataset>
requires(!Dataset::is_stateful && std::constructible_from<Sampler, size_t>)
    std::unique_ptr<StatelessDataLoader<Dataset, Sampler>> make_data_loader(
        Dataset dataset, DataLoaderOptions options = {}) {
  const std::optional<size_t> size = dataset.size();
  if (!size) throw Error("make_data_loader: expected a dataset of known size, or a sampler");
  return make_data_loader(std::move(dataset), Sampler(*size), options);
}

/// Make a loader for a stateful dataset. Errors: those of StatefulDataLoader.
template <class Dataset>
requires(Dataset::is_stateful) std::unique_ptr<StatefulDataLoader<Dataset>> make_data_loader(
    Dataset dataset, DataLoaderOptions options = {}) {
  return typed_memory_errors("DataLoader", [&] {
    return std::make_unique<StatefulDataLoader<Dataset>>(std::move(dataset), options);
  });
}

}  // namespace ambit::data
