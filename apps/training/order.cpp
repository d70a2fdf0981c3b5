#include "training/order.h"

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
  return whole_->next(batch_size);
}

}  // namespace training
