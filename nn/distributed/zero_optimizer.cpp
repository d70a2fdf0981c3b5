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
#include <numeric>

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

// One state at a time: its name, dtype and sizes as numbers, then the tensor.
Value ZeroRedundancy::checkpoint() const {
  constexpr int64_t kName = 64, kHeader = kName + 10;  // name, is there, dtype, dims, sizes
  const Value mine = local_->checkpoint();
  const std::vector<size_t> positions = own_positions();
  const auto state_of = [&](size_t param) {
    const auto at = std::find(positions.begin(), positions.end(), param) - positions.begin();
    for (const auto& [number, state] : mine["state"].entries()) {
      if (number.to_int() == at) return state.entries();
    }
    return Value::Dict();
  };
  Value::Dict states;
  for (size_t i = 0; i < params_.size(); ++i) {
    const Device device = params_[i].device();
    const bool is_mine = owner_[i] == group_->rank();
    const Value::Dict source = is_mine ? state_of(i) : Value::Dict();
    Value::Dict state;
    for (size_t k = 0;; ++k) {
      Tensor header = zeros({kHeader}, TensorOptions(kInt64));
      int64_t* const h = header.data_ptr<int64_t>();
      Tensor value;
      if (k < source.size()) {
        const std::string name = source[k].first.to_string();
        value = source[k].second.to_tensor().to(device).contiguous();
        if (name.size() >= static_cast<size_t>(kName) || value.dim() > 7) {
          throw Error(fmt::format("checkpoint: expected a state of a short name, got {}", name));
        }
        std::copy(name.begin(), name.end(), h);
        h[kName] = 1;
        h[kName + 1] = static_cast<int64_t>(value.dtype());
        h[kName + 2] = value.dim();
        std::copy(value.sizes().begin(), value.sizes().end(), h + kName + 3);
      }
      Tensor sent = header.to(device);
      group_->broadcast(sent, owner_[i])->wait();
      header = sent.cpu();
      const int64_t* const got = header.data_ptr<int64_t>();
      if (got[kName] == 0) break;
      if (!is_mine) {
        const std::vector<int64_t> sizes(got + kName + 3, got + kName + 3 + got[kName + 2]);
        value = empty(sizes, TensorOptions(static_cast<DType>(got[kName + 1])).device(device));
      }
      group_->broadcast(value, owner_[i])->wait();
      std::string name;
      for (int64_t c = 0; got[c] != 0; ++c) name += static_cast<char>(got[c]);
      state.emplace_back(name, value);
    }
    if (!state.empty()) {
      states.emplace_back(static_cast<int64_t>(i), Value::dict(std::move(state)));
    }
  }
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
