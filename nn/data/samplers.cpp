// Samplers: sequential, random (shuffled by Philox), and streams.
#include <ambit/data/samplers.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/random.h>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "sampler_state.h"
#include "shuffle.h"

namespace ambit::data::samplers {

void throw_not_saved(const char* function) {
  throw NotImplementedError(fmt::format(
      "{}: expected a sampler whose class has this function, got one without", function));
}

CustomBatchRequest::~CustomBatchRequest() = default;

// --- sequential

void SequentialSampler::reset(std::optional<size_t> new_size) {
  size_ = new_size.value_or(size_);
  next_ = 0;
}

std::optional<std::vector<size_t>> SequentialSampler::next(size_t batch_size) {
  if (next_ >= size_) return {};
  std::vector<size_t> indices =
      allocate_order("SequentialSampler", std::min(batch_size, size_ - next_));
  std::iota(indices.begin(), indices.end(), next_);
  next_ += indices.size();
  return indices;
}

void SequentialSampler::save(serialize::OutputArchive& archive) const {
  write_count(archive, "index", next_);
}
void SequentialSampler::load(serialize::InputArchive& archive) {
  next_ = read_count(archive, "index", size_);
}

// --- random

RandomSampler::RandomSampler(size_t size, DType index_dtype) : RandomSampler(size) {
  if (is_floating_point(index_dtype) || index_dtype == kBool) {
    throw DTypeError(
        fmt::format("RandomSampler: expected a dtype of integers, got {}", name(index_dtype)));
  }
}

RandomSampler::Place RandomSampler::claim() const {
  const uint64_t blocks = blocks_to_shuffle(size_);
  if (seed_) return {*seed_, std::exchange(offset_, offset_ + blocks)};
  const Generator& shared = default_generator();
  return {shared.seed(), shared.advance(blocks)};
}

void RandomSampler::reset(std::optional<size_t> new_size) {
  const size_t size = new_size.value_or(size_);
  // Allocate first: a failure must not change the sampler.
  if (size != order_.size()) order_ = allocate_order("RandomSampler", size);
  if (ahead_ && size != size_) {  // the number of blocks differs
    if (seed_) offset_ = ahead_->offset;
    ahead_.reset();
  }
  size_ = size;
  next_ = 0;
  const Place place = ahead_ ? *ahead_ : claim();
  ahead_.reset();
  shuffle(order_, place.seed, place.offset);
}

std::optional<std::vector<size_t>> RandomSampler::next(size_t batch_size) {
  if (order_.size() != size_) reset();
  if (next_ >= size_) return {};
  const auto first = order_.begin() + static_cast<std::ptrdiff_t>(next_);
  const size_t n = std::min(batch_size, size_ - next_);
  std::vector<size_t> indices(first, first + static_cast<std::ptrdiff_t>(n));
  next_ += n;
  return indices;
}

// libtorch stores only "index" and "indices". ambit adds "seed", the seed and the offset in its
// stream for later epochs, and "ahead", the seed and the offset for the order of an epoch that has
// not begun.
void RandomSampler::save(serialize::OutputArchive& archive) const {
  const bool has_begun = order_.size() == size_;
  std::vector<size_t> order = order_;
  if (!has_begun) {
    order = allocate_order("RandomSampler", size_);
    if (!ahead_) ahead_ = claim();
    shuffle(order, ahead_->seed, ahead_->offset);
  }
  write_count(archive, "index", next_);
  const Tensor indices =
      empty({static_cast<int64_t>(order.size())}, TensorOptions(kInt64).device(kCPU));
  std::copy(order.begin(), order.end(), indices.data_ptr<int64_t>());
  archive.write("indices", indices, /*is_buffer=*/true);
  if (seed_) write_words(archive, "seed", {*seed_, offset_});
  if (!has_begun) write_words(archive, "ahead", {ahead_->seed, ahead_->offset});
}

void RandomSampler::load(serialize::InputArchive& archive) {
  Tensor order;
  archive.read("indices", order, /*is_buffer=*/true);
  std::vector<size_t> indices = checked_order(order);
  const std::vector<uint64_t> seed = read_words(archive, "seed", 2);
  const std::vector<uint64_t> ahead = read_words(archive, "ahead", 2);
  const size_t index = read_count(archive, "index", ahead.empty() ? indices.size() : 0);
  if (!indices.empty()) size_ = indices.size();
  if (!seed.empty()) {
    seed_ = seed[0];
    offset_ = seed[1];
  }
  ahead_.reset();
  if (ahead.empty()) {
    order_ = std::move(indices);
  } else {
    ahead_ = Place{ahead[0], ahead[1]};
    order_.clear();
  }
  next_ = index;
}

// --- streams

void StreamSampler::reset(std::optional<size_t> new_size) {
  epoch_size_ = new_size.value_or(epoch_size_);
  taken_ = 0;
}

std::optional<BatchSize> StreamSampler::next(size_t batch_size) {
  if (taken_ >= epoch_size_) return {};
  const size_t n = std::min(batch_size, epoch_size_ - taken_);
  taken_ += n;
  return BatchSize(n);
}

void StreamSampler::save(serialize::OutputArchive& archive) const {
  write_count(archive, "examples_retrieved_so_far", taken_);
}
void StreamSampler::load(serialize::InputArchive& archive) {
  taken_ = read_count(archive, "examples_retrieved_so_far", epoch_size_);
}

}  // namespace ambit::data::samplers
