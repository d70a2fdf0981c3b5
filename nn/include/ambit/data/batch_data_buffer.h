// BatchDataBuffer: between the threads that read chunks and those that take batches.
#pragma once

#include <ambit/data/monitor.h>
#include <ambit/data/worker_exception.h>
#include <ambit/error.h>

#include <cstddef>
#include <exception>
#include <list>
#include <new>
#include <optional>
#include <utility>
#include <vector>

namespace ambit::data::datasets {

// Errors: always, Error. Of ChunkDataset; and of a sampler that gives others than each of `size`
// positions once.
[[noreturn]] AMBIT_API void throw_without_epoch();
[[noreturn]] AMBIT_API void throw_other_size(size_t got, size_t expected);
[[noreturn]] AMBIT_API void throw_bad_order(size_t size);

/// A queue of batches, made of chunks as they come: what is left of one is filled up by the next.
/// `example_sampler` orders the samples of each chunk. Thread-safe.
template <class Batch, class ExampleSampler>
class BatchDataBuffer {
 public:
  /// Hold back those who push while `capacity` samples or more are waiting, at least batch_size.
  BatchDataBuffer(size_t batch_size, size_t capacity, ExampleSampler& example_sampler)
      : batch_size_(batch_size), capacity_(capacity), sampler_(example_sampler) {}

  /// Wait for a batch; return nothing when there will be none. Errors: WorkerException.
  std::optional<Batch> pop() {
    Monitor::Lock lock(monitor_);
    lock.wait([this] { return is_stopped_ || is_finished_ || is_front_whole() || unqueued_; });
    if (is_stopped_) return {};
    if (unqueued_) throw WorkerException(std::exchange(unqueued_, nullptr));
    if (queue_.empty()) return {};
    Entry entry = std::move(queue_.front());
    queue_.pop_front();
    waiting_ -= entry.batch.size();
    lock.unlock();
    monitor_.notify_all();
    if (entry.error) throw WorkerException(std::move(entry.error));
    return std::move(entry.batch);
  }

  /// Wait for room, and add the samples of a chunk, or what reading it threw. Return false, and add
  /// nothing, where nobody takes batches any more. Errors: those of the sampler; Error where it
  /// does not give each position once.
  bool push(Batch chunk) {
    Monitor::Lock lock(monitor_);
    if (!wait_for_room(lock)) return false;
    // All is moved out before any is added: where the sampler fails, the queue is as it was.
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

  /// Say that nothing more will be pushed.
  void finish() { set(is_finished_); }
  /// Wake all who wait, and hand out nothing more.
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
  Monitor monitor_;  // of all below
  std::list<Entry> queue_;
  std::exception_ptr unqueued_;  // one that the queue had no memory for
  size_t waiting_ = 0;           // samples in the queue
  bool is_stopped_ = false, is_finished_ = false;
};

}  // namespace ambit::data::datasets
