// What all loaders do: hand requests for batches to workers, and their batches to who iterates.
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

/// Errors: always, Error saying that no batch came within options.timeout.
[[noreturn]] AMBIT_API void throw_timeout(std::chrono::milliseconds timeout);

/// Iterate over a dataset in batches, of what its get_batch() returns. With enforce_ordering they
/// are the same whatever the number of workers.
/// Where making a batch throws, it is thrown where the batch would have come: a worker's exception
/// as a WorkerException, which holds it. Iterating may go on behind it, or start again. Where the
/// loader itself lacks memory or threads it says so by an OutOfMemoryError or Error, and no batch
/// is lost, as none is after a timeout: go on, or where begin() failed begin again.
/// Thread safety: one thread iterates.
template <class Dataset, class Batch, class BatchRequest>
class DataLoaderBase : private BatchSource<Batch> {
 public:
  using BatchType = Batch;
  using BatchRequestType = BatchRequest;

  DataLoaderBase(const DataLoaderBase&) = delete;
  DataLoaderBase& operator=(const DataLoaderBase&) = delete;

  /// Start an epoch; iterators of an earlier one go on with this one.
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
  /// The end of an epoch.
  Iterator<Batch> end() { return {}; }

  /// End the workers. The next epoch starts others.
  void join() {
    pool_.reset();
    pending_.clear();
    copies_.clear();
  }

  const FullDataLoaderOptions& options() const noexcept { return options_; }
  const Dataset& dataset() const { return *dataset_; }

 protected:
  DataLoaderBase(const DataLoaderOptions& options, std::unique_ptr<Dataset> dataset)
      : options_(options), dataset_(std::move(dataset)) {
    if (options_.batch_size == 0) {
      throw Error("DataLoader: expected a batch size of at least 1, got 0");
    }
  }

  Dataset& dataset() { return *dataset_; }

  /// Begin an epoch.
  virtual void reset() = 0;
  /// Return what to ask the dataset for; nothing at the end of the epoch.
  virtual std::optional<BatchRequest> next_request() = 0;
  /// Return a copy of the dataset for one worker; null where all share one.
  virtual std::unique_ptr<Dataset> make_copy(const Dataset& dataset) const = 0;
  /// Return the batch; nothing at the end of the epoch. Called by the workers.
  virtual std::optional<Batch> get_batch(Dataset& dataset, BatchRequest request) const = 0;

 private:
  using BatchSource<Batch>::current_, BatchSource<Batch>::is_at_end_;

  // A batch that a worker makes, and where the loader finds it. What was made moves to the loader:
  // an exception that the worker still held could be freed after the caller has caught it.
  struct Task {
    std::optional<BatchRequest> request;
    bool grad_mode = true;  // the caller's: it belongs to each thread
    bool is_done = false;   // guarded by monitor_, as what follows
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
      has_ended_ = true;  // a stateful dataset says so; others may have got the last batches
    }
  }

  // Take the first task, or else any, when it is done.
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

  // Hand the next batch to the workers; return whether there is one. The request stays here until
  // that has succeeded.
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
  std::optional<BatchRequest> request_;  // not yet handed out
  bool has_ended_ = false;               // of a stateful dataset
  Tasks pending_;                        // in the order of their requests
  Monitor monitor_;
  std::vector<std::unique_ptr<Dataset>> copies_;  // so that get_batch() need not be thread-safe
  std::unique_ptr<WorkerPool> pool_;              // last: its threads end before what they use
};

}  // namespace ambit::data
