// An optimizer's options and state in PyTorch's format. The state of a parameter is checked by
// load_state_dict() (optimizer_state.cpp).
#include <ambit/detail/memory_errors.h>
#include <ambit/detail/printable.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/optim/optimizer.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "option_values.h"

namespace ambit::optim {
namespace {

template <class... T>
[[noreturn]] void fail(fmt::format_string<T...> text, T&&... args) {
  throw SerializationError("checkpoint: " + printable(fmt::format(text, std::forward<T>(args)...)));
}

// PyTorch stores step counts and other numbers as tensors, before 1.12 as ints and floats.
Tensor to_single(const Value& value, bool is_number) {
  double n = 0;
  if (value.kind() == Value::Kind::tensor && value.to_tensor().numel() == 1) {
    n = value.to_tensor().item<double>();
  } else {
    n = value.to_double();
  }
  if (is_number) return full({}, n, TensorOptions(kFloat64).device(kCPU));
  constexpr double kMost = 1LL << 53;  // a double cannot represent all larger integers
  if (!(n >= 0 && n <= kMost && n == std::floor(n))) fail("expected a count, got {}", n);
  return full({}, static_cast<int64_t>(n), kCPU);
}

// Map the numbers in "params" to positions in the optimizer; they are listed in the same order.
std::unordered_map<int64_t, size_t> positions(const Value::List& groups,
                                              const std::vector<OptimizerParamGroup>& own) {
  if (groups.size() != own.size()) {
    fail("expected {} parameter groups, got {}", own.size(), groups.size());
  }
  std::unordered_map<int64_t, size_t> all;
  for (size_t g = 0; g < own.size(); ++g) {
    const Value::List& params = groups[g]["params"].items();
    if (params.size() != own[g].params().size()) {
      fail("expected {} parameters in group {}, got {}", own[g].params().size(), g, params.size());
    }
    for (const Value& number : params) {
      if (!all.emplace(number.to_int(), all.size()).second) {
        fail("expected each parameter once, got {} twice", number.to_int());
      }
    }
  }
  return all;
}

// ambit's own option; stored only if it is on.
constexpr const char* kMasterWeights = "master_weights";
constexpr std::string_view kSchedule[] = {"initial_lr", "max_lr", "min_lr", "max_momentum",
                                          "base_momentum"};
// Options of PyTorch that do not affect the result of a step.
constexpr std::string_view kWithoutEffect[] = {"foreach", "fused", "capturable", "param_names"};

std::map<std::string, double> schedule_of(const Value& group) {
  std::map<std::string, double> schedule;
  for (const std::string_view view : kSchedule) {
    const std::string name(view);
    if (group.find(name)) schedule[name] = number(group, name.c_str());
  }
  return schedule;
}

std::string describe(const Value& v) {
  switch (v.kind()) {
    case Value::Kind::boolean:
      return v.to_bool() ? "True" : "False";
    case Value::Kind::integer:
      return fmt::format("{}", v.to_int());
    case Value::Kind::real:
      return fmt::format("{}", v.to_double());
    default:
      return v.kind_name();
  }
}

// An option that is None or False counts as off.
void check_known(const OptimizerOptions& own, const Value& group) {
  const Value known = Value::dict(own.values());
  for (const auto& [key, value] : group.entries()) {
    const bool is_off = value.is_none() || (value.isBool() && !value.to_bool());
    if (is_off || known.find(key)) continue;
    const std::string& name = key.to_string();
    if (name == "params" || name == kMasterWeights || std::ranges::count(kSchedule, name) > 0 ||
        std::ranges::count(kWithoutEffect, name) > 0) {
      continue;
    }
    fail("expected options that this optimizer has, got {} = {}", name, describe(value));
  }
}

void set_options(OptimizerOptions& options, const Value& group) {
  options.set_values(group);
  if (group.find(kMasterWeights)) options.keep_master_weights(flag(group, kMasterWeights));
}

Value::Dict values_of(const OptimizerOptions& options) {
  Value::Dict values = options.values();
  if (options.keeps_master_weights()) values.emplace_back(kMasterWeights, true);
  return values;
}

}  // namespace

Value Optimizer::state_value(const State& state) const {
  Value::Dict tensors;
  const auto description = state_tensors();
  for (size_t i = 0; i < description.size(); ++i) {
    const Tensor& t = state.tensors[i];
    if (!t.defined()) continue;
    const bool is_count = !description[i].like_param && !description[i].is_number;
    tensors.emplace_back(description[i].name, is_count ? t.to(kCPU, kFloat32) : t.detach());
  }
  if (state.master.defined()) tensors.emplace_back("master_weight", state.master.detach());
  return Value::dict(std::move(tensors));
}

Value::Dict Optimizer::checkpoint_state() const {
  Value::Dict state;
  int64_t position = 0;
  for (const OptimizerParamGroup& group : param_groups_) {
    for (const Tensor& param : group.params()) {
      const auto known = state_.find(param.impl());
      if (known != state_.end() && !known->second.fresh) {
        state.emplace_back(position, state_value(known->second));
      }
      ++position;
    }
  }
  return state;
}

Value Optimizer::checkpoint() const try {
  Value::List groups;
  int64_t position = 0;
  for (const OptimizerParamGroup& group : param_groups_) {
    Value::List params;
    for (size_t i = 0; i < group.params().size(); ++i) params.emplace_back(position++);
    Value::Dict values = values_of(group.options());
    for (const auto& [name, value] : group.schedule()) values.emplace_back(name, value);
    values.emplace_back("params", Value::list(std::move(params)));
    groups.push_back(Value::dict(std::move(values)));
  }
  return Value::dict({{"state", Value::dict(checkpoint_state())},
                      {"param_groups", Value::list(std::move(groups))}});
} catch (const std::bad_alloc&) {
  throw_out_of_host_memory("checkpoint");
}

void Optimizer::load_checkpoint_state(const Value::Dict& state) {
  const auto all = state_tensors();
  StateDict dict;
  for (const auto& [position, values] : state) {
    for (const auto& [key, value] : values.entries()) {
      if (value.is_none()) continue;  // an unused momentum
      const std::string& name = key.to_string();
      const auto which = std::find_if(all.begin(), all.end(),
                                      [&](const StateTensor& t) { return t.name == name; });
      const bool is_single = which != all.end() && !which->like_param;
      dict.emplace_back(fmt::format("{}.{}", position.to_int(), name),
                        is_single ? to_single(value, which->is_number) : value.to_tensor());
    }
  }
  load_state_dict(dict);
}

void Optimizer::load_checkpoint(const Value& checkpoint) try {
  const Value::List& groups = checkpoint["param_groups"].items();
  const auto position_of = positions(groups, param_groups_);
  std::vector<std::map<std::string, double>> schedules;
  std::vector<OptimizerParamGroup> loaded = param_groups_;  // with copies of the options
  for (size_t g = 0; g < groups.size(); ++g) {
    OptimizerOptions& options = loaded[g].options();
    check_known(options, groups[g]);
    set_options(options, groups[g]);
    options.check();
    schedules.push_back(schedule_of(groups[g]));
  }
  Value::Dict state;
  for (const auto& [number, values] : checkpoint["state"].entries()) {
    const auto position = position_of.find(number.to_int());
    if (position == position_of.end()) {
      fail("expected state of the parameters listed, got some of {}", number.to_int());
    }
    state.emplace_back(position->second, values);
  }
  param_groups_.swap(loaded);  // the options determine which state is allowed
  try {
    load_checkpoint_state(state);
  } catch (...) {
    param_groups_.swap(loaded);
    throw;
  }
  param_groups_.swap(loaded);
  for (size_t g = 0; g < groups.size(); ++g) {
    set_options(param_groups_[g].options(), groups[g]);  // in place: there may be references
    param_groups_[g].schedule() = std::move(schedules[g]);
  }
} catch (const std::bad_alloc&) {
  throw_out_of_host_memory("load_checkpoint");
}

}  // namespace ambit::optim
