// Samplers: counting, and shuffling by Philox.
#include <ambit/backend/philox.h>
#include <ambit/data/samplers.h>
#include <ambit/random.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace ambit::data::samplers {

Sampler::~Sampler() = default;

void SequentialSampler::reset(std::optional<size_t> new_size) {
  size_ = new_size.value_or(size_);
  next_ = 0;
}

std::optional<std::vector<size_t>> SequentialSampler::next(size_t batch_size) {
  if (next_ >= size_) return {};
  std::vector<size_t> indices(std::min(batch_size, size_ - next_));
  std::iota(indices.begin(), indices.end(), next_);
  next_ += indices.size();
  return indices;
}

// Fisher-Yates on the Philox stream, which gives the same order on every machine.
void RandomSampler::reset(std::optional<size_t> new_size) {
  order_.resize(
      new_size.value_or(size_));  // first, since it may fail, and nothing has changed then
  size_ = order_.size();
  next_ = 0;
  const uint64_t blocks = philox::blocks(size_);
  Generator& shared = default_generator();
  const uint64_t seed = seed_ ? *seed_ : shared.seed();
  const uint64_t offset = seed_ ? std::exchange(offset_, offset_ + blocks) : shared.advance(blocks);
  std::iota(order_.begin(), order_.end(), size_t{0});
  for (size_t i = size_; i > 1; --i) {
    std::swap(order_[i - 1], order_[philox::below(seed, offset, i - 1, i)]);
  }
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

}  // namespace ambit::data::samplers
