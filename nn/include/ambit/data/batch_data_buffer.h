// BatchDataBuffer: a queue between threads that read chunks and threads that consume batches.
#pragma once

#include <ambit/data/monitor.h>
#include <ambit/data/worker_exception.h>
#include <ambit/error.h>

#include <cstddef>
#include <exception>
#include <new>
#include <optional>
#include <utility>
#include <vector>

namespace ambit::data::datasets {

/// Throw Error of ChunkDataset: get_batch() before reset().
[[noreturn]] AMBIT_API void throw_without_epoch();
/// Throw Error of ChunkDataset: a batch whose size is not the options'.
[[noreturn]] AMBIT_API void throw_other_size(size_t got, size_t expected);
/// Throw Error: a sampler does not return each of `size` positions exactly once.
[[noreturn]] AMBIT_API void throw_bad_order(size_t size);

/// A queue of batches that are assembled from chunks: the remainder of one chunk is completed from
/// the next. `example_sampler` orders the samples of each chunk. Thread-safe.
template <class Batch, class ExampleSampler>
class BatchDataBuffer {
 public:
  /// push() blocks while `capacity` samples, at least batch_size, or more are queued.
  BatchDataBuffer(size_t batch_size, size_t capacity, ExampleSampler& example_sampler)
      : batch_size_(batch_size), capacity_(capacity), sampler_(example_sampler) {}

  /// Wait for a batch; return nullopt at the end of the epoch. Errors: WorkerException.
  std::optional<Batch> pop() {
    Monitor::Lock lock(monitor_);
    lock.wait([this] { return is_stopped_ || is_finished_ || is_front_whole() || unqueued_; });
    if (is_stopped_) return {};
    if (unqueued_) throw WorkerException(std::exchange(unqueued_, nullptr));
    if (queue_.empty()) return {};
    Entry entry = std::move(queue_.front());
    queue_.erase(queue_.begin());
    waiting_ -= entry.batch.size();
    lock.unlock();
    monitor_.notify_all();
    if (entry.error) throw WorkerException(std::move(entry.error));
    return std::move(entry.batch);
  }

  /// Wait for space, then add the samples of a chunk, or the exception of reading it. Return false,
  /// and add nothing, after stop(). Errors: those of the sampler; Error unless it returns each
  /// position exactly once.
  bool push(Batch chunk) {
    Monitor::Lock lock(monitor_);
    if (!wait_for_room(lock)) return false;
    // Get the whole order before adding samples: if the sampler throws, the queue is unchanged.
    const size_t size = chunk.size();
    std::vector<size_t> order;
    if (size > 0) sampler_.reset(size);
    while (order.size() < size) {
      const auto some = sampler_.next(size - order.size());
      if (!some || some->empty()) throw_bad_order(size);
      for (const size_t i : *some) order.push_back(i);
    }
    check(order, size);
    for (const size_t i : order) add(std::move(chunk[i]));
    waiting_ += size;
    lock.unlock();
    monitor_.notify_all();
    return true;
  }
  bool push(std::exception_ptr error) noexcept {
    Monitor::Lock lock(monitor_);
    if (!wait_for_room(lock)) return false;
    try {
      queue_.emplace_back();
      queue_.back().error = std::move(error);
    } catch (const std::bad_alloc&) {
      unqueued_ = std::move(error);
    }
    lock.unlock();
    monitor_.notify_all();
    return true;
  }

  /// Mark the end: no more pushes.
  void finish() { set(is_finished_); }
  /// Wake all waiting threads and return no more batches.
  void stop() { set(is_stopped_); }

 private:
  struct Entry {
    Batch batch;
    std::exception_ptr error;
  };

  bool is_front_whole() const {
    if (queue_.empty()) return false;
    return queue_.size() > 1 || queue_.front().error || queue_.front().batch.size() >= batch_size_;
  }

  bool wait_for_room(Monitor::Lock& lock) {
    lock.wait([this] { return is_stopped_ || waiting_ < capacity_; });
    return !is_stopped_;
  }

  static void check(const std::vector<size_t>& order, size_t size) {
    std::vector<bool> seen(size);
    for (const size_t i : order) {
      if (i >= size || seen[i]) throw_bad_order(size);
      seen[i] = true;
    }
  }

  template <class Sample>
  void add(Sample&& sample) {
    const bool begins =
        queue_.empty() || queue_.back().error || queue_.back().batch.size() >= batch_size_;
    if (begins) {
      queue_.emplace_back();
      queue_.back().batch.reserve(batch_size_);
    }
    queue_.back().batch.push_back(std::forward<Sample>(sample));
  }

  void set(bool& flag) {
    {
      const Monitor::Lock lock(monitor_);
      flag = true;
    }
    monitor_.notify_all();
  }

  const size_t batch_size_, capacity_;
  ExampleSampler& sampler_;
  Monitor monitor_;              // guards all below
  std::vector<Entry> queue_;     // few: erase() at the front is cheap
  std::exception_ptr unqueued_;  // an exception that could not be queued for lack of memory
  size_t waiting_ = 0;           // number of samples in the queue
  bool is_stopped_ = false, is_finished_ = false;
};

}  // namespace ambit::data::datasets
