#include <ambit/error.h>
#include <ambit/optim/schedulers/sequential_lr.h>
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

namespace ambit::optim {
namespace {

bool rises(const std::vector<int64_t>& list) {
  return std::adjacent_find(list.begin(), list.end(), std::greater_equal<>()) == list.end();
}

}  // namespace

SequentialLR::SequentialLR(Optimizer& optimizer,
                           std::vector<std::shared_ptr<LRScheduler>> schedulers,
                           std::vector<int64_t> milestones)
    : LRScheduler(optimizer),
      schedulers_(std::move(schedulers)),
      milestones_(std::move(milestones)) {
  if (schedulers_.empty() || milestones_.size() + 1 != schedulers_.size()) {
    throw Error(
        fmt::format("SequentialLR: expected one milestone fewer than schedulers, got {} "
                    "milestones and {} schedulers",
                    milestones_.size(), schedulers_.size()));
  }
  for (const auto& scheduler : schedulers_) {
    if (!scheduler || &scheduler->optimizer() != &optimizer) {
      throw Error("SequentialLR: expected schedulers of its optimizer, got one of another");
    }
  }
  if (!rises(milestones_)) {
    throw Error("SequentialLR: expected increasing milestones, got others");
  }
  schedulers_[0]->restart();
}

void SequentialLR::restart() {
  LRScheduler::restart();
  schedulers_[0]->restart();
}

std::vector<double> SequentialLR::get_lrs() {
  const int64_t epoch = step_count_ + 1;
  const auto next = std::upper_bound(milestones_.begin(), milestones_.end(), epoch);
  LRScheduler& now = *schedulers_[static_cast<size_t>(next - milestones_.begin())];
  if (next != milestones_.begin() && *(next - 1) == epoch) {
    now.restart();
  } else {
    now.step();
  }
  return get_current_lrs();
}

Value::Dict SequentialLR::values() const {
  Value::List list;
  for (const auto& scheduler : schedulers_) list.push_back(scheduler->checkpoint());
  return {{"_milestones", milestones_}, {"_schedulers", Value::list(std::move(list))}};
}

void SequentialLR::load_checkpoint(const Value& checkpoint) {
  const Value::List& list = checkpoint["_schedulers"].items();
  const std::vector<int64_t> milestones = checkpoint["_milestones"].toIntVector();
  if (list.size() != schedulers_.size() || milestones.size() + 1 != list.size() ||
      !rises(milestones)) {
    throw SerializationError(
        fmt::format("checkpoint: expected {} schedulers, got {} with {} "
                    "milestones",
                    schedulers_.size(), list.size(), milestones.size()));
  }
  std::vector<Value> before;
  for (const auto& scheduler : schedulers_) before.push_back(scheduler->checkpoint());
  try {
    for (size_t i = 0; i < list.size(); ++i) schedulers_[i]->load_checkpoint(list[i]);
    LRScheduler::load_checkpoint(checkpoint);
  } catch (...) {
    for (size_t i = 0; i < list.size(); ++i) schedulers_[i]->load_checkpoint(before[i]);
    throw;
  }
  milestones_ = milestones;
}

}  // namespace ambit::optim
