// Base of the loaders: sends requests for batches to workers and returns their batches in order.
#pragma once

#include <ambit/autograd.h>
#include <ambit/data/data_loader_options.h>
#include <ambit/data/example.h>
#include <ambit/data/iterator.h>
#include <ambit/data/monitor.h>
#include <ambit/data/worker_exception.h>
#include <ambit/data/worker_pool.h>
#include <ambit/detail/memory_errors.h>
#include <ambit/error.h>

#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace ambit::data {

/// Throw Error saying that no batch arrived within options.timeout.
[[noreturn]] AMBIT_API void throw_timeout(std::chrono::milliseconds timeout);

/// Iterates over a dataset in batches of the type that its get_batch() returns. With
/// enforce_ordering the batches do not depend on the number of workers.
/// An exception thrown while a batch is made is rethrown instead of that batch; one of a worker as
/// a WorkerException, which holds it. Iteration may continue or start again. If the loader itself
/// runs out of memory or threads, it throws OutOfMemoryError or Error and no batch is lost, nor
/// after a timeout: continue, or call begin() again if begin() failed. Thread safety: only one
/// thread may iterate.
template <class Dataset, class Batch, class BatchRequest>
class DataLoaderBase : private BatchSource<Batch> {
 public:
  using BatchType = Batch;
  using BatchRequestType = BatchRequest;

  DataLoaderBase(const DataLoaderBase&) = delete;
  DataLoaderBase& operator=(const DataLoaderBase&) = delete;

  /// Start an epoch; iterators of an earlier one continue with this one.
  Iterator<Batch> begin() {
    typed_memory_errors("DataLoader", [this] {
      pending_.clear();
      request_.reset();
      current_.reset();
      has_ended_ = is_at_end_ = false;
      if (pool_) {
        pool_->cancel();
      } else if (options_.workers > 0) {
        start_workers();
      }
      reset();
    });
    advance();
    return Iterator<Batch>(this);
  }
  /// Return the end iterator.
  Iterator<Batch> end() { return {}; }

  /// Stop the workers. The next epoch starts new ones.
  void join() {
    pool_.reset();
    pending_.clear();
    copies_.clear();
  }

  /// Return the options with all defaults resolved.
  const FullDataLoaderOptions& options() const noexcept { return options_; }
  /// Return the dataset; workers use copies of it, unless it is stateful.
  const Dataset& dataset() const { return *dataset_; }

 protected:
  /// Errors: Error for a batch size of 0.
  DataLoaderBase(const DataLoaderOptions& options, std::unique_ptr<Dataset> dataset)
      : options_(options), dataset_(std::move(dataset)) {
    if (options_.batch_size == 0) {
      throw Error("DataLoader: expected a batch size of at least 1, got 0");
    }
  }

  Dataset& dataset() { return *dataset_; }

  /// Start an epoch: reset the sampler or the stateful dataset. begin() calls it.
  virtual void reset() = 0;
  /// Return the next request to the dataset; nullopt at the end of the epoch.
  virtual std::optional<BatchRequest> next_request() = 0;
  /// Return a copy of the dataset for one worker; null if all share one.
  virtual std::unique_ptr<Dataset> make_copy(const Dataset& dataset) const = 0;
  /// Return the batch; nullopt at the end of the epoch. Workers call it.
  virtual std::optional<Batch> get_batch(Dataset& dataset, BatchRequest request) const = 0;

 private:
  using BatchSource<Batch>::current_, BatchSource<Batch>::is_at_end_;

  // A batch that a worker makes, shared with the loader. Results are moved to the loader: if the
  // worker kept a reference to an exception, it could be freed after the caller has caught it.
  struct Task {
    std::optional<BatchRequest> request;
    bool grad_mode = true;  // grad mode of the calling thread
    bool is_done = false;   // guarded by monitor_, as are the next two
    std::optional<Batch> batch;
    std::exception_ptr error;
  };
  using Tasks = std::vector<std::shared_ptr<Task>>;

  void start_workers() {
    auto pool = std::make_unique<WorkerPool>(options_.workers);
    std::vector<std::unique_ptr<Dataset>> copies;
    for (size_t i = 0; i < options_.workers; ++i) copies.push_back(make_copy(*dataset_));
    copies_ = std::move(copies);
    pool_ = std::move(pool);
  }

  void advance() override {
    current_.reset();
    typed_memory_errors("DataLoader", [this] {
      if (!pool_) {
        if (auto request = next_request()) current_ = make(*dataset_, std::move(*request));
      } else {
        current_ = next_of_workers();
      }
    });
    is_at_end_ = !current_;
  }

  std::optional<Batch> next_of_workers() {
    while (true) {
      const size_t most = options_.max_jobs > 0 ? options_.max_jobs : 1;
      while (!has_ended_ && pending_.size() < most && submit()) {
      }
      if (pending_.empty()) return {};
      const std::shared_ptr<Task> task = wait_for_one();
      if (task->error) throw WorkerException(std::exchange(task->error, nullptr));
      if (task->batch) return std::move(task->batch);
      has_ended_ = true;  // end of a stateful dataset; other workers may still return batches
    }
  }

  // Return the first task, or without enforce_ordering any task, once it is done.
  std::shared_ptr<Task> wait_for_one() {
    Monitor::Lock lock(monitor_);
    size_t found = 0;
    const auto is_there = [&] {
      const size_t end = options_.enforce_ordering ? 1 : pending_.size();
      for (found = 0; found < end && !pending_[found]->is_done;) ++found;
      return found < end;
    };
    if (!options_.timeout) {
      lock.wait(is_there);
    } else if (!lock.wait_until(std::chrono::steady_clock::now() + *options_.timeout, is_there)) {
      throw_timeout(*options_.timeout);
    }
    std::shared_ptr<Task> task = std::move(pending_[found]);
    pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(found));
    return task;
  }

  // Submit the next request to the workers; return false at the end. request_ is kept until that
  // has succeeded.
  bool submit() {
    if (!request_) request_ = next_request();
    if (!request_) return false;
    const auto task = std::make_shared<Task>();
    task->grad_mode = GradMode::is_enabled();
    WorkerPool::Job job = [this, task](size_t worker) { work(*task, worker); };
    pending_.push_back(task);
    try {
      task->request.emplace(*request_);
      pool_->submit(std::move(job));
    } catch (...) {
      pending_.pop_back();
      throw;
    }
    request_.reset();
    return true;
  }

  void work(Task& task, size_t worker) {
    const AutoGradMode mode(task.grad_mode);
    std::optional<Batch> batch;
    std::exception_ptr error;
    try {
      Dataset& dataset = copies_[worker] ? *copies_[worker] : *dataset_;
      batch = make(dataset, std::move(*task.request));
    } catch (...) {
      error = std::current_exception();
    }
    const Monitor::Lock lock(monitor_);
    task.batch = std::move(batch);
    task.error = std::move(error);
    task.is_done = true;
    monitor_.notify_one();
  }

  std::optional<Batch> make(Dataset& dataset, BatchRequest request) const {
    std::optional<Batch> batch = get_batch(dataset, std::move(request));
    if (!batch || !options_.pin_memory) return batch;
    return pinned(std::move(*batch), *options_.pin_memory);
  }

  const FullDataLoaderOptions options_;
  std::unique_ptr<Dataset> dataset_;
  std::optional<BatchRequest> request_;  // next request, not submitted yet
  bool has_ended_ = false;               // a stateful dataset has ended
  Tasks pending_;                        // in the order of requests
  Monitor monitor_;
  std::vector<std::unique_ptr<Dataset>> copies_;  // one per worker, or null: all share dataset_
  std::unique_ptr<WorkerPool> pool_;              // last member: its threads end before the others
};

}  // namespace ambit::data
