// ChunkDataset: data in chunks, such as files, that preloader threads read ahead as a whole and
// split into batches. Chunks are shuffled, and so are the samples of one chunk or several together.
// Source: Zinkevich et al. 2010, "Parallelized Stochastic Gradient Descent".
#pragma once

#include <ambit/autograd.h>
#include <ambit/data/batch_data_buffer.h>
#include <ambit/data/samplers.h>
#include <ambit/data/stateful_dataset.h>
#include <ambit/data/worker_pool.h>
#include <ambit/detail/memory_errors.h>
#include <ambit/error.h>
#include <ambit/nn/options.h>
#include <ambit/random.h>

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace ambit::data::datasets {

/// Reads chunks; called by several threads at once. A chunk is a list of samples.
template <class Example_, class Chunk = std::vector<Example_>>
class ChunkDataReader {
 public:
  using ChunkType = Chunk;
  using BatchType = Chunk;
  using ExampleType = Example_;

  virtual ~ChunkDataReader() = default;
  /// Return all samples of a chunk.
  virtual Chunk read_chunk(size_t chunk_index) = 0;
  /// Return the number of chunks.
  virtual size_t chunk_count() = 0;
  /// Start an epoch; ChunkDataset::reset() calls it.
  virtual void reset() = 0;
};

/// Options of ChunkDataset. Errors: Error for a 0, and for a cache_size below batch_size.
class AMBIT_API ChunkDatasetOptions : public nn::Options<ChunkDatasetOptions> {
 public:
  ChunkDatasetOptions(size_t preloader_count, size_t batch_size, size_t cache_size = 2048,
                      size_t cross_chunk_shuffle_count = 1);

  /// Number of threads that read ahead. With one, the samplers determine the order of batches.
  ChunkDatasetOptions& preloader_count(size_t n) { return set(preloader_count_, n); }
  /// Samples per batch; get_batch() must be called with this number.
  ChunkDatasetOptions& batch_size(size_t n) { return set(batch_size_, n); }
  /// Number of queued samples at which preloaders pause. Default: 2048.
  ChunkDatasetOptions& cache_size(size_t n) { return set(cache_size_, n); }
  /// Number of chunks whose samples are shuffled together. Default: 1.
  ChunkDatasetOptions& cross_chunk_shuffle_count(size_t n) {
    return set(cross_chunk_shuffle_count_, n);
  }

  size_t preloader_count() const { return preloader_count_; }
  size_t batch_size() const { return batch_size_; }
  size_t cache_size() const { return cache_size_; }
  size_t cross_chunk_shuffle_count() const { return cross_chunk_shuffle_count_; }
  /// Errors: those of the class.
  void check() const;

 private:
  size_t preloader_count_, batch_size_, cache_size_, cross_chunk_shuffle_count_;
};

/// Batches from the chunks that `chunk_sampler` selects, with samples in the order of
/// `example_sampler`. An epoch starts with reset(), which a loader calls. Workers of several
/// loaders may share one dataset (make_shared_dataset). It has its own reader threads, so one
/// worker is enough. If reading a chunk throws, get_batch() throws a WorkerException with the
/// message, and the epoch continues with the next chunk.
template <class ChunkReader, class ChunkSampler = samplers::RandomSampler,
          class ExampleSampler = samplers::RandomSampler>
class ChunkDataset final
    : public StatefulDataset<ChunkDataset<ChunkReader, ChunkSampler, ExampleSampler>,
                             typename ChunkReader::BatchType, size_t> {
 public:
  using UnwrappedBatchType = typename ChunkReader::BatchType;
  using BatchType = std::optional<UnwrappedBatchType>;
  using ChunkSamplerType = ChunkSampler;
  using ExampleSamplerType = ExampleSampler;
  using Preprocessing = std::function<void(UnwrappedBatchType&)>;

  /// `preprocessing_policy` may modify the samples of a chunk, or of chunks that are shuffled
  /// together, before they are shuffled. Errors: those of ChunkDatasetOptions.
  ChunkDataset(ChunkReader chunk_reader, ChunkSampler chunk_sampler, ExampleSampler example_sampler,
               ChunkDatasetOptions options, Preprocessing preprocessing_policy = {})
      : reader_(std::move(chunk_reader)),
        chunk_sampler_(std::move(chunk_sampler)),
        example_sampler_(std::move(example_sampler)),
        options_(options),
        preprocess_(std::move(preprocessing_policy)) {
    options_.check();
  }
  ~ChunkDataset() override { stop(); }
  ChunkDataset(const ChunkDataset&) = delete;
  ChunkDataset& operator=(const ChunkDataset&) = delete;

  /// Wait for the next batch. Batches have batch_size samples, except the last of the epoch and one
  /// before a chunk that failed. Thread-safe. Errors: Error before reset(), and for another size
  /// than the options'; WorkerException.
  BatchType get_batch(size_t batch_size) override {
    if (!buffer_) throw_without_epoch();
    if (batch_size != options_.batch_size()) throw_other_size(batch_size, options_.batch_size());
    return buffer_->pop();
  }
  BatchType get_batch() { return get_batch(options_.batch_size()); }

  /// Start an epoch: drop the rest of the last one and start reading. After load() the epoch
  /// continues where it was saved. Errors: Error if threads cannot be created.
  void reset() override {
    typed_memory_errors("ChunkDataset", [this] {
      stop();
      if (!std::exchange(was_loaded_, false)) {
        reader_.reset();
        chunk_sampler_.reset(reader_.chunk_count());
      }
      buffer_ =
          std::make_unique<Buffer>(options_.batch_size(), options_.cache_size(), example_sampler_);
      running_ = options_.preloader_count();
      try {
        preloaders_ = std::make_unique<WorkerPool>(options_.preloader_count());
        const bool grad_mode = GradMode::is_enabled();
        for (size_t i = 0; i < options_.preloader_count(); ++i) {
          preloaders_->submit([this, grad_mode](size_t) { preload(grad_mode); });
        }
      } catch (...) {  // no thread must wait for missing ones
        stop();
        buffer_.reset();
        throw;
      }
    });
  }

  /// Return nullopt: samples are not counted before they are read.
  std::optional<size_t> size() const override { return {}; }

  /// Return the sampler of chunks, for example to call set_epoch() of a distributed one. Do not
  /// call it while an epoch is being read.
  ChunkSampler& chunk_sampler() { return chunk_sampler_; }

  /// Write which chunks are unread; chunks that were read but not returned yet are not included.
  void save(serialize::OutputArchive& archive) const override {
    const std::lock_guard lock(chunk_mutex_);
    chunk_sampler_.save(archive);
  }
  /// Continue at the next reset() where save() was called. Does not advance the default generator.
  /// Errors: those of the sampler's load(); a dataset whose sampler can be copied is then
  /// unchanged.
  void load(serialize::InputArchive& archive) override {
    const std::lock_guard lock(chunk_mutex_);
    if (buffer_) {
      chunk_sampler_.load(archive);
    } else {
      load_before_first_epoch(archive);
    }
    was_loaded_ = true;
  }

 private:
  using Buffer = BatchDataBuffer<UnwrappedBatchType, ExampleSampler>;

  // The sampler need not know yet how many chunks there are. Its reset() may draw an order, which
  // load() replaces.
  void load_before_first_epoch(serialize::InputArchive& archive) {
    struct Rewind {
      Tensor state = default_generator().get_state();
      ~Rewind() { default_generator().set_state(state); }
    };
    constexpr bool is_copied =
        std::is_copy_constructible_v<ChunkSampler> && std::is_move_assignable_v<ChunkSampler>;
    std::optional<ChunkSampler> before;
    if constexpr (is_copied) before.emplace(chunk_sampler_);
    const Rewind rewind;
    try {
      chunk_sampler_.reset(reader_.chunk_count());
      chunk_sampler_.load(archive);
    } catch (...) {
      if constexpr (is_copied) chunk_sampler_ = *std::move(before);
      throw;
    }
  }

  void stop() {
    if (buffer_) buffer_->stop();
    preloaders_.reset();
  }

  // An exception is moved to the queue: if this thread kept a reference, it could be freed here
  // after the caller has caught it.
  void preload(bool grad_mode) {
    const AutoGradMode mode(grad_mode);
    bool goes_on = true;
    while (goes_on) {
      std::exception_ptr error;
      std::optional<std::vector<size_t>> chunks;
      try {
        chunks = next_chunks();
      } catch (...) {
        error = std::current_exception();  // a sampler that fails ends the epoch of this thread
      }
      goes_on = chunks.has_value();
      try {
        if (chunks) goes_on = push(*chunks);
      } catch (...) {
        error = std::current_exception();
      }
      if (error) goes_on = buffer_->push(std::move(error)) && goes_on;
    }
    if (--running_ == 0) buffer_->finish();
  }

  std::optional<std::vector<size_t>> next_chunks() {
    const std::lock_guard lock(chunk_mutex_);
    auto chunks = chunk_sampler_.next(options_.cross_chunk_shuffle_count());
    if (!chunks || chunks->empty()) return {};
    return {std::move(*chunks)};
  }

  bool push(const std::vector<size_t>& chunks) {
    UnwrappedBatchType data = read(chunks);
    if (preprocess_) preprocess_(data);
    return buffer_->push(std::move(data));
  }

  UnwrappedBatchType read(const std::vector<size_t>& chunks) {
    UnwrappedBatchType data = reader_.read_chunk(chunks[0]);
    for (size_t i = 1; i < chunks.size(); ++i) {
      UnwrappedBatchType more = reader_.read_chunk(chunks[i]);
      std::move(more.begin(), more.end(), std::back_inserter(data));
    }
    return data;
  }

  ChunkReader reader_;
  ChunkSampler chunk_sampler_;  // guarded by chunk_mutex_ while preloaders run
  ExampleSampler example_sampler_;
  ChunkDatasetOptions options_;
  Preprocessing preprocess_;
  bool was_loaded_ = false;
  mutable std::mutex chunk_mutex_;
  std::unique_ptr<Buffer> buffer_;          // of the current epoch
  std::atomic<size_t> running_{0};          // number of running preloaders
  std::unique_ptr<WorkerPool> preloaders_;  // last member: its threads end before the others
};

}  // namespace ambit::data::datasets
