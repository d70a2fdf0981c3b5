// Options of the loaders, as set by the user and with defaults resolved.
#pragma once

#include <ambit/device.h>
#include <ambit/nn/options.h>

#include <cstddef>
#include <mutex>  // for durations; <chrono> also has calendars, which double the compile time
#include <optional>

namespace ambit::data {

/// Options of a loader; a single number is the batch size.
class DataLoaderOptions : public nn::Options<DataLoaderOptions> {
 public:
  DataLoaderOptions() = default;
  DataLoaderOptions(size_t batch_size) : batch_size_(batch_size) {}

  /// Samples per batch. Default: 1.
  DataLoaderOptions& batch_size(size_t n) { return set(batch_size_, n); }
  /// Number of threads that make batches; 0: the iterating thread does. Default: 0.
  DataLoaderOptions& workers(size_t n) { return set(workers_, n); }
  /// Number of batches prepared ahead, at least 1. Default: twice the number of workers.
  DataLoaderOptions& max_jobs(std::optional<size_t> n) { return set(max_jobs_, n); }
  /// Longest wait for a batch of the workers. Default: unlimited.
  DataLoaderOptions& timeout(std::optional<std::chrono::milliseconds> t) {
    return set(timeout_, t);
  }
  /// Return batches in the sampler's order; if false, in the order in which workers finish them, so
  /// that they do not wait for each other. Default: true.
  DataLoaderOptions& enforce_ordering(bool on) { return set(enforce_ordering_, on); }
  /// Drop the last batch if it is smaller than the others. Default: false.
  DataLoaderOptions& drop_last(bool on) { return set(drop_last_, on); }
  /// Copy batches to pinned memory (in the workers), so that `to(device, /*non_blocking=*/true)`
  /// returns at once. Default: pageable memory.
  DataLoaderOptions& pin_memory(std::optional<Device> device) { return set(pin_memory_, device); }

  size_t batch_size() const { return batch_size_; }
  size_t workers() const { return workers_; }
  std::optional<size_t> max_jobs() const { return max_jobs_; }
  std::optional<std::chrono::milliseconds> timeout() const { return timeout_; }
  bool enforce_ordering() const { return enforce_ordering_; }
  bool drop_last() const { return drop_last_; }
  std::optional<Device> pin_memory() const { return pin_memory_; }

 private:
  size_t batch_size_ = 1, workers_ = 0;
  std::optional<size_t> max_jobs_;
  std::optional<std::chrono::milliseconds> timeout_;
  bool enforce_ordering_ = true, drop_last_ = false;
  std::optional<Device> pin_memory_;
};

/// The options with all defaults resolved; a loader's options() returns them.
struct FullDataLoaderOptions {
  explicit FullDataLoaderOptions(const DataLoaderOptions& o)
      : batch_size(o.batch_size()),
        workers(o.workers()),
        max_jobs(o.max_jobs().value_or(2 * workers)),
        timeout(o.timeout()),
        enforce_ordering(o.enforce_ordering()),
        drop_last(o.drop_last()),
        pin_memory(o.pin_memory()) {}

  size_t batch_size, workers, max_jobs;              ///< see DataLoaderOptions
  std::optional<std::chrono::milliseconds> timeout;  ///< nullopt: unlimited
  bool enforce_ordering, drop_last;                  ///< see DataLoaderOptions
  std::optional<Device> pin_memory;                  ///< nullopt: pageable memory
};

}  // namespace ambit::data
