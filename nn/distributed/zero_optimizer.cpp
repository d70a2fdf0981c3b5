#include <ambit/autograd.h>
#include <ambit/distributed/data_parallel.h>
#include <ambit/distributed/zero_optimizer.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "nn/gradients.h"
#include "values.h"

namespace ambit::distributed {

std::vector<int> partition_parameters(const std::vector<Tensor>& params, int ranks) {
  std::vector<size_t> by_size(params.size());
  std::iota(by_size.begin(), by_size.end(), size_t{0});
  std::stable_sort(by_size.begin(), by_size.end(),
                   [&](size_t a, size_t b) { return params[a].nbytes() > params[b].nbytes(); });
  std::vector<size_t> load(static_cast<size_t>(ranks));
  std::vector<int> owner(params.size());
  for (const size_t i : by_size) {
    const auto least = std::min_element(load.begin(), load.end());
    *least +=
        params[i].nbytes() + 1;  // + 1 also spreads parameters without elements over the ranks
    owner[i] = static_cast<int>(least - load.begin());
  }
  return owner;
}

namespace {

// Return an optimizer checkpoint with the options of `group`, these parameters and their state.
Value with_group(Value::Dict state, const Value& group, Value::List params) {
  Value::Dict options;
  for (const auto& [key, value] : group.entries()) {
    if (key.to_string() != "params") options.emplace_back(key, value);
  }
  options.emplace_back("params", Value::list(std::move(params)));
  return Value::dict({{"state", Value::dict(std::move(state))},
                      {"param_groups", Value::list({Value::dict(std::move(options))})}});
}

}  // namespace

ZeroRedundancy::ZeroRedundancy(std::vector<Tensor> params, std::shared_ptr<ProcessGroup> group)
    : params_(std::move(params)), group_(std::move(group)) {
  if (!group_ || params_.size() < static_cast<size_t>(group_->size())) {
    throw Error(fmt::format(
        "ZeroRedundancyOptimizer: expected a parameter or more for each of {} ranks, got {} in all",
        group_ ? group_->size() : 0, params_.size()));
  }
  positions_.resize(static_cast<size_t>(group_->size()));
  const std::vector<int> owner = partition_parameters(params_, group_->size());
  for (size_t i = 0; i < owner.size(); ++i) {
    positions_[static_cast<size_t>(owner[i])].push_back(i);
  }
}

ZeroRedundancy::~ZeroRedundancy() = default;

std::vector<Tensor> ZeroRedundancy::share(int rank) const {
  std::vector<Tensor> theirs;
  for (const size_t i : positions_[static_cast<size_t>(rank)]) theirs.push_back(params_[i]);
  return theirs;
}

Tensor ZeroRedundancy::step(optim::Optimizer::LossClosure closure) {
  Tensor loss = local_->step(std::move(closure));
  for (int r = 0; r < group_->size(); ++r) broadcast_coalesced(*group_, share(r), r);
  return loss;
}

void ZeroRedundancy::zero_grad() {
  for (const Tensor& p : params_) p.mutable_grad() = Tensor();
}

Value ZeroRedundancy::checkpoint() const {
  const Value mine = local_->checkpoint();
  std::map<size_t, Value> by_position;
  const auto states = allgather_values(*group_, mine["state"], params_[0].device());
  for (size_t r = 0; r < states.size(); ++r) {
    for (const auto& [number, state] : states[r].entries()) {
      by_position.emplace(positions_[r][static_cast<size_t>(number.to_int())], state);
    }
  }
  Value::List all;
  for (size_t i = 0; i < params_.size(); ++i) all.emplace_back(i);
  return with_group({by_position.begin(), by_position.end()}, mine["param_groups"].items()[0],
                    std::move(all));
}

void ZeroRedundancy::load_checkpoint(const Value& checkpoint) {
  const Value::List& groups = checkpoint["param_groups"].items();
  const size_t count = groups.size() == 1 ? groups[0]["params"].items().size() : 0;
  if (count != params_.size()) {
    throw SerializationError(
        fmt::format("checkpoint: expected one group of {} parameters, got {} in {} groups",
                    params_.size(), count, groups.size()));
  }
  Value::List params;
  Value::Dict states;
  for (const size_t p : positions_[static_cast<size_t>(group_->rank())]) {
    const Value& number = params.emplace_back(groups[0]["params"].items()[p]);
    const Value* const state = checkpoint["state"].find(number);
    if (state) states.emplace_back(number, *state);
  }
  local_->load_checkpoint(with_group(std::move(states), groups[0], std::move(params)));
}

double clip_grad_norm_(ProcessGroup& group, TensorList parameters, double max_norm,
                       double norm_type) {
  const NoGradGuard no_grad;
  const std::vector<Tensor> grads = nn::gradients(parameters);
  const bool is_largest = norm_type == std::numeric_limits<double>::infinity();
  const bool is_sum = is_largest || norm_type == 0;  // the ranks' values can be reduced directly
  const double mine = grads.empty() ? 0 : nn::norm_of(grads, norm_type).item<double>();
  const Device device = parameters.empty() ? Device() : parameters[0].device();
  const Tensor all =
      full({}, is_sum ? mine : std::pow(mine, norm_type), TensorOptions(kFloat64)).to(device);
  group.allreduce(all, is_largest ? ReduceOp::MAX : ReduceOp::SUM)->wait();
  const Tensor norm = is_sum ? all : all.pow(1 / norm_type);
  nn::clip_to(max_norm, norm, grads);
  return norm.item<double>();
}

}  // namespace ambit::distributed
