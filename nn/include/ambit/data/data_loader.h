// DataLoader: batches of a dataset in a sampler's order, made ahead by worker threads.
//   auto loader = data::make_data_loader<data::samplers::RandomSampler>(
//       std::move(dataset), data::DataLoaderOptions().batch_size(4).workers(2));
//   for (auto& batch : *loader) net->forward(batch.data);
#pragma once

#include <ambit/autograd.h>
#include <ambit/data/dataset.h>
#include <ambit/data/samplers.h>
#include <ambit/data/worker_pool.h>
#include <ambit/detail/memory_errors.h>
#include <ambit/error.h>
#include <ambit/nn/options.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace ambit::data {

/// Options of DataLoader; a number alone is the batch size.
class DataLoaderOptions : public nn::Options<DataLoaderOptions> {
 public:
  DataLoaderOptions() = default;
  DataLoaderOptions(size_t batch_size) : batch_size_(batch_size) {}

  /// Samples per batch. Default: 1.
  DataLoaderOptions& batch_size(size_t n) { return set(batch_size_, n); }
  /// Threads that make batches; 0: the thread that iterates does. Default: 0.
  DataLoaderOptions& workers(size_t n) { return set(workers_, n); }
  /// Batches made ahead. Default: twice the number of workers.
  DataLoaderOptions& max_jobs(size_t n) { return set(max_jobs_, n); }
  /// Leave out the last batch where it is smaller than the others. Default: false.
  DataLoaderOptions& drop_last(bool on) { return set(drop_last_, on); }
  /// Hand out batches in pinned memory, so that `to(device, /*non_blocking=*/true)` returns at
  /// once; those who make batches bring them there. Default: plain memory.
  DataLoaderOptions& pin_memory(Device device) { return set(pin_memory_, device); }

  size_t batch_size() const { return batch_size_; }
  size_t workers() const { return workers_; }
  size_t max_jobs() const { return std::max<size_t>(1, max_jobs_.value_or(2 * workers_)); }
  bool drop_last() const { return drop_last_; }
  std::optional<Device> pin_memory() const { return pin_memory_; }

 private:
  size_t batch_size_ = 1, workers_ = 0;
  std::optional<size_t> max_jobs_;
  bool drop_last_ = false;
  std::optional<Device> pin_memory_;
};

/// Iterate over a dataset in batches, of what its get_batch() returns. The batches are the same
/// whatever the number of workers. An exception of the dataset or of a transform is thrown where
/// its batch would have come; iterating may go on behind it, or start again. Where the loader
/// itself lacks memory or threads it says so by an OutOfMemoryError or Error, and no batch is lost:
/// go on, or where begin() failed begin again. Thread safety: one thread iterates.
template <class Dataset, class Sampler>
class DataLoader {
 public:
  using BatchType = typename Dataset::BatchType;

  /// Errors: Error for a batch size of 0.
  DataLoader(Dataset dataset, Sampler sampler, DataLoaderOptions options)
      : options_(options), dataset_(std::move(dataset)), sampler_(std::move(sampler)) {
    if (options_.batch_size() == 0) {
      throw Error("DataLoader: expected a batch size of at least 1, got 0");
    }
  }
  DataLoader(const DataLoader&) = delete;
  DataLoader& operator=(const DataLoader&) = delete;

  /// At the loader's current batch; all iterators of one loader share it.
  class Iterator {
   public:
    using iterator_concept = std::input_iterator_tag;
    using value_type = BatchType;
    using difference_type = std::ptrdiff_t;

    explicit Iterator(DataLoader* loader) : loader_(loader) {}
    BatchType& operator*() const { return *loader_->current_; }
    BatchType* operator->() const { return &*loader_->current_; }
    Iterator& operator++() {
      loader_->advance();
      return *this;
    }
    void operator++(int) { loader_->advance(); }
    bool operator==(std::default_sentinel_t) const { return !loader_->current_; }

   private:
    DataLoader* loader_;
  };

  /// Start an epoch; iterators of an earlier one end.
  Iterator begin() {
    typed_memory_errors("DataLoader", [this] {
      pending_.clear();
      next_.reset();
      current_.reset();
      if (pool_) {
        pool_->cancel();
      } else if (options_.workers() > 0) {
        auto pool = std::make_unique<WorkerPool>(options_.workers());
        copies_.assign(options_.workers(), dataset_);
        pool_ = std::move(pool);
      }
      sampler_.reset();
    });
    advance();
    return Iterator(this);
  }
  /// The end of an epoch: `for (auto& batch : *loader)`.
  std::default_sentinel_t end() const { return {}; }

  const Dataset& dataset() const { return dataset_; }
  const DataLoaderOptions& options() const { return options_; }

 private:
  // A batch that a worker makes, and where the loader finds it. What was made moves to the loader:
  // an exception that the worker still held could be freed after the caller has caught it.
  struct Task {
    std::vector<size_t> indices;
    bool grad_mode = true;  // the caller's: it belongs to each thread
    std::mutex mutex;
    std::condition_variable done;
    bool is_done = false;  // guarded by mutex, as what follows
    std::optional<BatchType> batch;
    std::exception_ptr error;
  };

  void advance() {
    current_.reset();
    typed_memory_errors("DataLoader", [this] {
      if (!pool_) {
        if (const auto indices = next_indices()) current_ = make(dataset_, *indices);
        return;
      }
      while (pending_.size() < options_.max_jobs() && submit()) {
      }
      if (!pending_.empty()) current_ = wait_for_first();
    });
  }

  std::optional<BatchType> wait_for_first() {
    const std::shared_ptr<Task> task = std::move(pending_.front());
    pending_.pop_front();
    std::unique_lock lock(task->mutex);
    task->done.wait(lock, [&] { return task->is_done; });
    if (task->error) std::rethrow_exception(std::exchange(task->error, nullptr));
    return std::move(task->batch);
  }

  BatchType make(Dataset& dataset, const std::vector<size_t>& indices) const {
    BatchType batch = dataset.get_batch(indices);
    if (!options_.pin_memory()) return batch;
    return pinned(std::move(batch), *options_.pin_memory());
  }

  std::optional<std::vector<size_t>> next_indices() {
    auto indices = sampler_.next(options_.batch_size());
    if (indices && options_.drop_last() && indices->size() < options_.batch_size()) return {};
    return indices;
  }

  // Hand the next batch to the workers; return whether there is one. The positions stay here until
  // that has succeeded.
  bool submit() {
    if (!next_) next_ = next_indices();
    if (!next_) return false;
    const auto task = std::make_shared<Task>();
    task->grad_mode = GradMode::is_enabled();
    WorkerPool::Job job = [this, task](size_t worker) { work(*task, copies_[worker]); };
    pending_.push_back(task);
    try {
      task->indices = *next_;
      pool_->submit(std::move(job));
    } catch (...) {
      pending_.pop_back();
      throw;
    }
    next_.reset();
    return true;
  }

  void work(Task& task, Dataset& dataset) const {
    const AutoGradMode mode(task.grad_mode);
    std::optional<BatchType> batch;
    std::exception_ptr error;
    try {
      batch = make(dataset, task.indices);
    } catch (...) {
      error = std::current_exception();
    }
    const std::lock_guard lock(task.mutex);
    task.batch = std::move(batch);
    task.error = std::move(error);
    task.is_done = true;
    task.done.notify_one();
  }

  DataLoaderOptions options_;
  Dataset dataset_;
  Sampler sampler_;
  std::optional<BatchType> current_;           // empty at the end of an epoch
  std::optional<std::vector<size_t>> next_;    // asked of the sampler, and not yet handed out
  std::deque<std::shared_ptr<Task>> pending_;  // in the sampler's order
  std::vector<Dataset> copies_;       // one per worker, so that get_batch() need not be thread-safe
  std::unique_ptr<WorkerPool> pool_;  // last: its threads end before what they use
};

/// Make a loader of a dataset in the order of a sampler. Errors: Error for a batch size of 0.
template <class Dataset, class Sampler>
std::unique_ptr<DataLoader<Dataset, Sampler>> make_data_loader(Dataset dataset, Sampler sampler,
                                                               DataLoaderOptions options) {
  return typed_memory_errors("DataLoader", [&] {
    return std::make_unique<DataLoader<Dataset, Sampler>>(std::move(dataset), std::move(sampler),
                                                          options);
  });
}

/// The same with a sampler over the whole dataset. Errors: Error where its size is not known.
template <class Sampler = samplers::RandomSampler, class Dataset>
std::unique_ptr<DataLoader<Dataset, Sampler>> make_data_loader(Dataset dataset,
                                                               DataLoaderOptions options = {}) {
  const std::optional<size_t> size = dataset.size();
  if (!size) throw Error("make_data_loader: expected a dataset of known size, or a sampler");
  return make_data_loader(std::move(dataset), Sampler(*size), options);
}

}  // namespace ambit::data
