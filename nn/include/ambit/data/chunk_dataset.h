// ChunkDataset: data in chunks, such as files, that preloader threads read whole and ahead, and
// that are cut into batches. Chunks are shuffled, and the samples of each, or of a few together.
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

/// Reads chunks, by several threads at once. A chunk is a list of samples.
template <class Example_, class Chunk = std::vector<Example_>>
class ChunkDataReader {
 public:
  using ChunkType = Chunk;
  using BatchType = Chunk;
  using ExampleType = Example_;

  virtual ~ChunkDataReader() = default;
  /// Return the whole of a chunk.
  virtual Chunk read_chunk(size_t chunk_index) = 0;
  /// Return how many chunks there are.
  virtual size_t chunk_count() = 0;
  /// Begin an epoch.
  virtual void reset() = 0;
};

/// Options of ChunkDataset. Errors: Error for a 0, and for a cache below the batch size.
class AMBIT_API ChunkDatasetOptions : public nn::Options<ChunkDatasetOptions> {
 public:
  ChunkDatasetOptions(size_t preloader_count, size_t batch_size, size_t cache_size = 2048,
                      size_t cross_chunk_shuffle_count = 1);

  /// Threads that read chunks ahead. With one, batches come in an order that the samplers decide.
  ChunkDatasetOptions& preloader_count(size_t n) { return set(preloader_count_, n); }
  /// Samples per batch, which is what get_batch() must be asked for.
  ChunkDatasetOptions& batch_size(size_t n) { return set(batch_size_, n); }
  /// Samples read ahead, at which preloaders stop to read. Default: 2048.
  ChunkDatasetOptions& cache_size(size_t n) { return set(cache_size_, n); }
  /// Chunks whose samples are shuffled together. Default: 1.
  ChunkDatasetOptions& cross_chunk_shuffle_count(size_t n) {
    return set(cross_chunk_shuffle_count_, n);
  }

  size_t preloader_count() const { return preloader_count_; }
  size_t batch_size() const { return batch_size_; }
  size_t cache_size() const { return cache_size_; }
  size_t cross_chunk_shuffle_count() const { return cross_chunk_shuffle_count_; }
  void check() const;

 private:
  size_t preloader_count_, batch_size_, cache_size_, cross_chunk_shuffle_count_;
};

/// Batches of the chunks that `chunk_sampler` chooses, their samples in the order of
/// `example_sampler`. An epoch begins with reset(), which a loader calls; several loaders' workers
/// may share one dataset (make_shared_dataset). Its own threads read ahead, so that one worker is
/// enough. What reading a chunk throws comes out of get_batch() as a WorkerException, and the epoch
/// goes on with the next chunk.
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

  /// `preprocessing_policy` may change what was read, chunks that are shuffled together in one,
  /// before it is shuffled. Errors: those of ChunkDatasetOptions.
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

  /// Wait for the next batch: all of batch_size, but for the last of the epoch and one before a
  /// chunk that failed. Thread-safe. Errors: Error before reset(), and for another size than the
  /// options'; WorkerException.
  BatchType get_batch(size_t batch_size) override {
    if (!buffer_) throw_without_epoch();
    if (batch_size != options_.batch_size()) throw_other_size(batch_size, options_.batch_size());
    return buffer_->pop();
  }
  BatchType get_batch() { return get_batch(options_.batch_size()); }

  /// Begin an epoch: drop what is left of the last, and start to read. After load() the epoch goes
  /// on where it was saved. Errors: Error where the system has no more threads.
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
      } catch (...) {  // nobody is to wait for threads that there are not
        stop();
        buffer_.reset();
        throw;
      }
    });
  }

  /// Return nothing: chunks are not counted before they are read.
  std::optional<size_t> size() const override { return {}; }

  /// Return the sampler of chunks, for instance to set_epoch() of a distributed one. Not while an
  /// epoch is being read.
  ChunkSampler& chunk_sampler() { return chunk_sampler_; }

  /// Write which chunks are not yet read; those that are, but not handed out, are not among them.
  void save(serialize::OutputArchive& archive) const override {
    const std::lock_guard lock(chunk_mutex_);
    chunk_sampler_.save(archive);
  }
  /// Go on at the next reset() where save() was. The default generator stays where it is. Errors:
  /// those of the sampler's load(); the dataset is then as it was, if the sampler can be copied.
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

  // An exception is handed over when this thread holds it no more: it could be freed here after the
  // caller has caught it.
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
  std::unique_ptr<Buffer> buffer_;          // of this epoch
  std::atomic<size_t> running_{0};          // preloaders
  std::unique_ptr<WorkerPool> preloaders_;  // last: its threads end before what they use
};

}  // namespace ambit::data::datasets
