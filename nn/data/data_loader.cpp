// The parts of loaders and datasets that are not templates: their errors.
#include <ambit/data/chunk_dataset.h>
#include <ambit/data/data_loader_base.h>
#include <ambit/data/stateful_dataset.h>

#include <fmt/format.h>

#include <chrono>
#include <utility>

namespace ambit::data {
namespace {

std::string message_of(const std::exception_ptr& original) {
  constexpr const char* kCaught = "Caught exception in DataLoader worker thread.";
  try {
    std::rethrow_exception(original);
  } catch (const std::exception& e) {
    return fmt::format("{} Original message: {}", kCaught, e.what());
  } catch (...) {
    return kCaught;
  }
}

}  // namespace

WorkerException::WorkerException(std::exception_ptr original)
    : Error(message_of(original)), original_exception(std::move(original)) {}
WorkerException::WorkerException(const WorkerException&) = default;
WorkerException::~WorkerException() = default;

void throw_past_the_end(const char* what) {
  throw Error(
      fmt::format("DataLoader: expected an iterator before the end to {}, got one past it", what));
}
void throw_failed_batch() {
  throw Error(
      "DataLoader: expected a batch, got one that could not be made; continue with the next");
}
void throw_timeout(std::chrono::milliseconds timeout) {
  throw Error(fmt::format("DataLoader: expected a batch within {} ms, got none", timeout.count()));
}

namespace datasets {

void throw_not_saved(const char* base, const char* function) {
  throw NotImplementedError(fmt::format(
      "{}: expected a {} whose class has this function, got one without", function, base));
}
void throw_without_epoch() {
  throw Error("ChunkDataset: expected reset() before get_batch(), got none");
}
void throw_other_size(size_t got, size_t expected) {
  throw Error(fmt::format("ChunkDataset: expected the batch size of its options, {}, got {}",
                          expected, got));
}
void throw_bad_order(size_t size) {
  throw Error(fmt::format(
      "ChunkDataset: expected each position below {} once from the sampler, got others", size));
}

ChunkDatasetOptions::ChunkDatasetOptions(size_t preloader_count, size_t batch_size,
                                         size_t cache_size, size_t cross_chunk_shuffle_count)
    : preloader_count_(preloader_count),
      batch_size_(batch_size),
      cache_size_(cache_size),
      cross_chunk_shuffle_count_(cross_chunk_shuffle_count) {
  check();
}

void ChunkDatasetOptions::check() const {
  const auto at_least = [](const char* what, size_t least, size_t got) {
    if (got < least) {
      throw Error(
          fmt::format("ChunkDataset: expected {} of at least {}, got {}", what, least, got));
    }
  };
  at_least("preloader_count", 1, preloader_count_);
  at_least("batch_size", 1, batch_size_);
  at_least("cache_size", batch_size_, cache_size_);
  at_least("cross_chunk_shuffle_count", 1, cross_chunk_shuffle_count_);
}

}  // namespace datasets
}  // namespace ambit::data
