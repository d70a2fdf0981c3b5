#include "training/order.h"

#include <ambit/error.h>

#include <fmt/format.h>

#include <utility>

namespace training {

namespace samplers = ambit::data::samplers;

Order::Order(size_t size, bool shuffle, size_t done) : done_(done) {
  if (shuffle) {
    whole_ = std::make_shared<samplers::RandomSampler>(size);
  } else {
    whole_ = std::make_shared<samplers::SequentialSampler>(size);
  }
}

void Order::reset(std::optional<size_t> new_size) {
  whole_->reset(new_size);
  if (const size_t done = std::exchange(done_, 0)) whole_->next(done);
}

std::optional<std::vector<size_t>> Order::next(size_t batch_size) {
  auto batch = whole_->next(batch_size);
  const Ranks& ranks = Ranks::of_process();
  if (!batch || ranks.size() == 1) return batch;
  const Share share = ranks.share(batch->size());
  const auto first = batch->begin() + static_cast<std::ptrdiff_t>(share.first);
  return std::vector<size_t>(first, first + static_cast<std::ptrdiff_t>(share.count));
}

void EndlessOrder::reset(std::optional<size_t> new_size) {
  size_ = new_size.value_or(size_);
  epoch_.reset(new_size);
  for (size_t done = std::exchange(done_, 0); done > 0; --done) next(batch_size_);
}

std::optional<std::vector<size_t>> EndlessOrder::next(size_t batch_size) {
  if (batch_size > size_) {
    throw ambit::Error(fmt::format("expected batches of at most {}, the number of samples, got {}",
                                   size_, batch_size));
  }
  auto batch = epoch_.next(batch_size);
  if (!batch || batch->size() < batch_size) {
    epoch_.reset();
    batch = epoch_.next(batch_size);
  }
  return batch;
}

}  // namespace training
