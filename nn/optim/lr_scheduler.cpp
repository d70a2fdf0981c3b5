#include <ambit/detail/memory_errors.h>
#include <ambit/error.h>
#include <ambit/optim/schedulers/lr_scheduler.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "scheduler_values.h"

namespace ambit::optim {

LRScheduler::LRScheduler(Optimizer& optimizer) : optimizer_(optimizer) {
  for (OptimizerParamGroup& group : optimizer.param_groups()) {
    base_lrs_.push_back(
        group.schedule().try_emplace("initial_lr", group.options().current_lr()).first->second);
  }
}
LRScheduler::~LRScheduler() = default;

void LRScheduler::step() {
  set_lrs(get_lrs());
  ++step_count_;
}

void LRScheduler::restart() {
  set_lrs(base_lrs_);
  step_count_ = 0;
}

std::vector<double> LRScheduler::get_current_lrs() const {
  std::vector<double> lrs;
  for (const OptimizerParamGroup& group : optimizer_.param_groups()) {
    lrs.push_back(group.options().current_lr());
  }
  return lrs;
}

void LRScheduler::set_lrs(const std::vector<double>& lrs) {
  std::vector<OptimizerParamGroup>& groups = optimizer_.param_groups();
  if (lrs.size() != groups.size()) {
    throw Error(fmt::format("LRScheduler: expected {} learning rates, one per group, got {}",
                            groups.size(), lrs.size()));
  }
  for (size_t i = 0; i < lrs.size(); ++i) {
    OptimizerOptions& options = groups[i].options();
    options.set_lr(lrs[i]);
    options.current_lr();  // writes to the tensor of the rate, if there is one
  }
}

Value LRScheduler::checkpoint() const {
  return typed_memory_errors("checkpoint", [&] {
    Value::Dict dict = values();
    const int64_t epoch = step_count_ - steps_behind();
    const std::pair<const char*, Value> common[] = {{"base_lrs", base_lrs_},
                                                    {"last_epoch", epoch},
                                                    {"_step_count", epoch + 1},
                                                    {"verbose", false},
                                                    {"_get_lr_called_within_step", false},
                                                    {"_last_lr", get_current_lrs()}};
    for (const auto& [name, value] : common) dict.emplace_back(name, value);
    return Value::dict(std::move(dict));
  });
}

void LRScheduler::load_checkpoint(const Value& checkpoint) {
  typed_memory_errors("load_checkpoint", [&] {
    const int64_t epoch = count_of(checkpoint, "last_epoch", -steps_behind());
    std::vector<double> base = base_lrs_;
    if (const Value* there = checkpoint.find("base_lrs")) base = there->toDoubleVector();
    if (base.size() != optimizer_.param_groups().size()) {
      throw SerializationError(
          fmt::format("checkpoint: expected {} base_lrs, one per group, got {}",
                      optimizer_.param_groups().size(), base.size()));
    }
    set_values(checkpoint);
    base_lrs_ = std::move(base);
    step_count_ = epoch + steps_behind();
  });
}

// --- StepLR

namespace {

void check_step_size(int64_t step_size) {
  if (step_size < 1) {
    throw Error(fmt::format("StepLR: expected a step_size of at least 1, got {}", step_size));
  }
}

}  // namespace

StepLR::StepLR(Optimizer& optimizer, int64_t step_size, double gamma)
    : LRScheduler((check_step_size(step_size), optimizer)), step_size_(step_size), gamma_(gamma) {}

std::vector<double> StepLR::get_lrs() {
  std::vector<double> lrs = get_current_lrs();
  if (step_count_ == 0 || step_count_ % step_size_ != 0) return lrs;
  for (double& lr : lrs) lr *= gamma_;
  return lrs;
}

Value::Dict StepLR::values() const { return {{"step_size", step_size_}, {"gamma", gamma_}}; }

void StepLR::set_values(const Value& dict) {
  const int64_t step_size = dict["step_size"].to_int();
  const double gamma = dict["gamma"].to_double();
  check_step_size(step_size);
  step_size_ = step_size;
  gamma_ = gamma;
}

}  // namespace ambit::optim
