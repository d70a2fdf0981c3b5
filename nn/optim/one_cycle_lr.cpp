#include <ambit/error.h>
#include <ambit/optim/schedulers/one_cycle_lr.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "scheduler_values.h"

namespace ambit::optim {
namespace {

void check(const Optimizer& optimizer, const OneCycleLROptions& o) {
  const auto& groups = optimizer.param_groups();
  if (o.total_steps() < 1) {
    throw Error(
        fmt::format("OneCycleLR: expected total_steps of at least 1, got {}", o.total_steps()));
  }
  if (!(o.pct_start() >= 0 && o.pct_start() <= 1)) {
    throw Error(fmt::format("OneCycleLR: expected a pct_start in [0, 1], got {}", o.pct_start()));
  }
  if (!(o.div_factor() > 0 && o.final_div_factor() > 0)) {
    throw Error(fmt::format("OneCycleLR: expected factors above 0, got {} and {}", o.div_factor(),
                            o.final_div_factor()));
  }
  if (o.max_lrs().size() != 1 && o.max_lrs().size() != groups.size()) {
    throw Error(fmt::format("OneCycleLR: expected one max_lr or {}, one per group, got {}",
                            groups.size(), o.max_lrs().size()));
  }
  const bool cycles = !o.cycle_momentum() ||
                      std::all_of(groups.begin(), groups.end(), [](const OptimizerParamGroup& g) {
                        return g.options().get_momentum().has_value();
                      });
  if (!cycles) {
    throw Error(
        "OneCycleLR: expected an optimizer with momentum, got one without; use "
        "cycle_momentum(false)");
  }
}

}  // namespace

Optimizer& OneCycleLR::prepared(Optimizer& optimizer, const OneCycleLROptions& o) {
  check(optimizer, o);
  for (size_t g = 0; g < optimizer.param_groups().size(); ++g) {
    OptimizerParamGroup& group = optimizer.param_groups()[g];
    auto& schedule = group.schedule();
    const double most = o.max_lrs()[o.max_lrs().size() == 1 ? 0 : g];
    schedule["initial_lr"] = most / o.div_factor();
    schedule["max_lr"] = most;
    schedule["min_lr"] = schedule["initial_lr"] / o.final_div_factor();
    if (!o.cycle_momentum()) continue;
    schedule["max_momentum"] = o.max_momentum();
    schedule["base_momentum"] = o.base_momentum();
    group.options().set_momentum(o.max_momentum());
  }
  return optimizer;
}

OneCycleLR::OneCycleLR(Optimizer& optimizer, const OneCycleLROptions& o)
    : EpochLR(prepared(optimizer, o)),
      total_steps_(o.total_steps()),
      pct_start_(o.pct_start()),
      anneal_linear_(o.anneal_linear()),
      cycle_momentum_(o.cycle_momentum()),
      three_phase_(o.three_phase()) {
  begin();
}

std::vector<OneCycleLR::Phase> OneCycleLR::phases() const {
  const double total = static_cast<double>(total_steps_), up = pct_start_ * total - 1;
  const Phase rise{up, "initial_lr", "max_lr", "max_momentum", "base_momentum"};
  if (!three_phase_) {
    return {rise, {total - 1, "max_lr", "min_lr", "base_momentum", "max_momentum"}};
  }
  return {rise,
          {2 * pct_start_ * total - 2, "max_lr", "initial_lr", "base_momentum", "max_momentum"},
          {total - 1, "initial_lr", "min_lr", "max_momentum", "max_momentum"}};
}

double OneCycleLR::lr(const Rate& r) {
  if (r.epoch > total_steps_) {
    throw Error(fmt::format("OneCycleLR: expected at most {} steps, got one more", total_steps_));
  }
  const auto all = phases();
  double start = 0;
  size_t i = 0;
  for (; i + 1 < all.size() && static_cast<double>(r.epoch) > all[i].end_step; ++i) {
    start = all[i].end_step;
  }
  const Phase& phase = all[i];
  const double part = (static_cast<double>(r.epoch) - start) / (phase.end_step - start);
  const auto between = [&](double from, double to) {
    if (anneal_linear_) return (to - from) * part + from;
    return to + (from - to) / 2 * (std::cos(std::numbers::pi * part) + 1);
  };
  OptimizerParamGroup& group = optimizer_.param_groups()[r.group];
  const auto scheduled = [&](const char* name) {
    const auto found = group.schedule().find(name);
    if (found != group.schedule().end()) return found->second;
    throw Error(
        fmt::format("OneCycleLR: expected {} in the schedule of group {}, got none; was the "
                    "optimizer loaded from a file that was written without OneCycleLR?",
                    name, r.group));
  };
  if (cycle_momentum_) {
    group.options().set_momentum(
        between(scheduled(phase.start_momentum), scheduled(phase.end_momentum)));
  }
  return between(scheduled(phase.start_lr), scheduled(phase.end_lr));
}

Value::Dict OneCycleLR::values() const {
  Value::List list;
  for (const Phase& p : phases()) {
    list.push_back(Value::dict({{"end_step", p.end_step},
                                {"start_lr", p.start_lr},
                                {"end_lr", p.end_lr},
                                {"start_momentum", p.start_momentum},
                                {"end_momentum", p.end_momentum}}));
  }
  return {{"total_steps", total_steps_},
          {"_schedule_phases", Value::list(std::move(list))},
          {"_anneal_func_type", anneal_linear_ ? "linear" : "cos"},
          {"cycle_momentum", cycle_momentum_}};
}

void OneCycleLR::set_values(const Value& dict) {
  const int64_t total = count_of(dict, "total_steps", 1);
  const Value::List& list = dict["_schedule_phases"].items();
  if (list.size() != 2 && list.size() != 3) {
    throw SerializationError(
        fmt::format("checkpoint: expected 2 or 3 phases, got {}", list.size()));
  }
  const double up = list[0]["end_step"].to_double();
  const std::string& function = dict["_anneal_func_type"].to_string();
  if (function != "linear" && function != "cos") {
    throw SerializationError(
        fmt::format("checkpoint: expected to anneal by cos or linear, got \"{}\"", function));
  }
  cycle_momentum_ = dict["cycle_momentum"].to_bool();
  total_steps_ = total;
  pct_start_ = (up + 1) / static_cast<double>(total);
  anneal_linear_ = function == "linear";
  three_phase_ = list.size() == 3;
}

}  // namespace ambit::optim
