#include <ambit/data/distributed_samplers.h>
#include <ambit/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "sampler_state.h"
#include "shuffle.h"

namespace ambit::data::samplers {

void throw_bad_rank(size_t rank, size_t num_replicas) {
  throw Error(
      fmt::format("DistributedSampler: expected a rank below the number of replicas, {}, got {}",
                  num_replicas, rank));
}

void DistributedOrder::reset(std::optional<size_t> new_size) {
  const size_t before = std::exchange(size_, new_size.value_or(size_));
  const size_t mine = local_sample_count();
  // Duplicates are added after the last position, so that all ranks have equal counts; a single
  // rank needs no duplicates.
  const size_t count = num_replicas_ == 1 ? size_ : mine * num_replicas_;
  try {
    if (count != order_.size()) order_ = allocate_order("DistributedSampler", count);
  } catch (...) {
    size_ = before;
    throw;
  }
  arrange(order_);
  for (size_t& position : order_) position %= std::max<size_t>(size_, 1);
  next_ = rank_ * mine;
  end_ = next_ + mine;
  begun_ = true;
}

std::optional<std::vector<size_t>> DistributedOrder::next(size_t batch_size) {
  if (!begun_) reset();
  if (next_ >= end_) return {};
  const size_t n = std::min(batch_size, end_ - next_);
  const auto first = order_.begin() + static_cast<std::ptrdiff_t>(next_);
  next_ += n;
  return std::vector<size_t>(first, first + static_cast<std::ptrdiff_t>(n));
}

void DistributedOrder::save(serialize::OutputArchive& archive) const {
  write_count(archive, "sample_index_", begun_ ? next_ : rank_ * local_sample_count());
  write_count(archive, "epoch_", epoch_);
}

void DistributedOrder::load(serialize::InputArchive& archive) {
  // libtorch's DistributedSequentialSampler stores no epoch.
  Tensor there;
  const size_t epoch = archive.try_read("epoch_", there) ? read_count(archive, "epoch_") : epoch_;
  const size_t begin = rank_ * local_sample_count();
  const size_t next = read_count(archive, "sample_index_", begin + local_sample_count());
  if (next < begin) {
    throw SerializationError(fmt::format(
        "load: expected 'sample_index_' of rank {}, at least {}, got {}", rank_, begin, next));
  }
  epoch_ = epoch;
  reset();
  next_ = next;
}

void DistributedRandomSampler::arrange(std::vector<size_t>& order) const {
  shuffle(order, epoch_, 0);
}

void DistributedSequentialSampler::arrange(std::vector<size_t>& order) const {
  std::iota(order.begin(), order.end(), size_t{0});
}

}  // namespace ambit::data::samplers
