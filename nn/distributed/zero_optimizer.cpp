#include <ambit/archive.h>
#include <ambit/autograd.h>
#include <ambit/distributed/data_parallel.h>
#include <ambit/distributed/zero_optimizer.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/reduce.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <sstream>

#include "bytes.h"

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
    *least += params[i].nbytes() + 1;  // so that each gets one before any gets two
    owner[i] = static_cast<int>(least - load.begin());
  }
  return owner;
}

ZeroRedundancy::ZeroRedundancy(std::vector<Tensor> params, std::shared_ptr<ProcessGroup> group)
    : params_(std::move(params)), group_(std::move(group)) {
  if (!group_ || params_.size() < static_cast<size_t>(group_->size())) {
    throw Error(fmt::format(
        "ZeroRedundancyOptimizer: expected a parameter or more for each of {} ranks, got {} in all",
        group_ ? group_->size() : 0, params_.size()));
  }
  owner_ = partition_parameters(params_, group_->size());
}

ZeroRedundancy::~ZeroRedundancy() = default;

std::vector<size_t> ZeroRedundancy::own_positions() const {
  std::vector<size_t> mine;
  for (size_t i = 0; i < params_.size(); ++i) {
    if (owner_[i] == group_->rank()) mine.push_back(i);
  }
  return mine;
}

std::vector<Tensor> ZeroRedundancy::own() const {
  std::vector<Tensor> mine;
  for (const size_t i : own_positions()) mine.push_back(params_[i]);
  return mine;
}

Tensor ZeroRedundancy::step(optim::Optimizer::LossClosure closure) {
  Tensor loss = local_->step(std::move(closure));
  for (int r = 0; r < group_->size(); ++r) {
    std::vector<Tensor> theirs;
    for (size_t i = 0; i < params_.size(); ++i) {
      if (owner_[i] == r) theirs.push_back(params_[i]);
    }
    broadcast_coalesced(*group_, theirs, r);
  }
  return loss;
}

void ZeroRedundancy::zero_grad() {
  for (const Tensor& p : params_) p.mutable_grad() = Tensor();
}

// Each rank's states as an archive, under the positions of their parameters.
Value ZeroRedundancy::checkpoint() const {
  const Value mine = local_->checkpoint();
  const std::vector<size_t> positions = own_positions();
  serialize::OutputArchive own;
  for (const auto& [number, state] : mine["state"].entries()) {
    serialize::OutputArchive one;
    for (const auto& [name, value] : state.entries()) {
      one.write(name.to_string(), value.to_tensor());
    }
    own.write(std::to_string(positions[static_cast<size_t>(number.to_int())]), one);
  }
  std::ostringstream bytes;
  own.save_to(bytes);
  std::map<int64_t, Value> by_position;
  const Device device = params_[0].device();
  for (int r = 0; r < group_->size(); ++r) {
    const std::string theirs = broadcast_bytes(*group_, bytes.str(), device, r);
    serialize::InputArchive archive;
    archive.load_from(theirs.data(), theirs.size(), device);
    for (const auto& [position, state] : archive.value().entries()) {
      by_position.emplace(std::stoll(position.to_string()), state);
    }
  }
  Value::Dict states;
  for (const auto& [position, state] : by_position) states.emplace_back(position, state);
  Value::Dict group;
  for (const auto& [key, value] : mine["param_groups"].items()[0].entries()) {
    if (key.to_string() != "params") group.emplace_back(key, value);
  }
  Value::List all;
  for (size_t i = 0; i < params_.size(); ++i) all.emplace_back(static_cast<int64_t>(i));
  group.emplace_back("params", Value::list(std::move(all)));
  return Value::dict({{"state", Value::dict(std::move(states))},
                      {"param_groups", Value::list({Value::dict(std::move(group))})}});
}

void ZeroRedundancy::load_checkpoint(const Value& checkpoint) {
  const Value::List& groups = checkpoint["param_groups"].items();
  const size_t count = groups.size() == 1 ? groups[0]["params"].items().size() : 0;
  if (count != params_.size()) {
    throw SerializationError(
        fmt::format("checkpoint: expected one group of {} parameters, got {} in {} groups",
                    params_.size(), count, groups.size()));
  }
  const std::vector<size_t> positions = own_positions();
  Value::List params;
  Value::Dict state, group;
  for (const size_t p : positions) {
    const Value& number = groups[0]["params"].items()[p];
    params.push_back(number);
    for (const auto& [key, value] : checkpoint["state"].entries()) {
      if (key.to_int() == number.to_int()) state.emplace_back(key, value);
    }
  }
  for (const auto& [key, value] : groups[0].entries()) {
    if (key.to_string() != "params") group.emplace_back(key, value);
  }
  group.emplace_back("params", Value::list(std::move(params)));
  local_->load_checkpoint(
      Value::dict({{"state", Value::dict(std::move(state))},
                   {"param_groups", Value::list({Value::dict(std::move(group))})}}));
}

double clip_grad_norm_(ProcessGroup& group, TensorList parameters, double max_norm,
                       double norm_type) {
  const NoGradGuard no_grad;
  const bool is_largest = norm_type == std::numeric_limits<double>::infinity();
  double mine = 0;
  Device device;
  for (const Tensor& p : parameters) {
    device = p.device();
    if (!p.grad().defined() || p.grad().numel() == 0) continue;
    const Tensor g = p.grad().detach();
    const double norm = (is_largest ? g.abs().max() : g.norm(norm_type)).item<double>();
    mine = is_largest ? std::max(mine, norm) : mine + std::pow(norm, norm_type);
  }
  const Tensor all = full({}, mine, TensorOptions(kFloat64)).to(device);
  group.allreduce(all, is_largest ? ReduceOp::MAX : ReduceOp::SUM)->wait();
  const double sum = all.item<double>();
  const double norm = is_largest ? sum : std::pow(sum, 1 / norm_type);
  const double factor = std::min(1.0, max_norm / (norm + 1e-6));
  for (const Tensor& p : parameters) {
    if (p.grad().defined()) p.grad().detach().mul_(factor);
  }
  return norm;
}

}  // namespace ambit::distributed
