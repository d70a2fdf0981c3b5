// An optimizer's state as named tensors (state dict).
#include <ambit/autograd.h>
#include <ambit/detail/memory_errors.h>
#include <ambit/detail/printable.h>
#include <ambit/error.h>
#include <ambit/ops/shape.h>
#include <ambit/optim/optimizer.h>

#include <fmt/format.h>

#include <charconv>

namespace ambit::optim {

// Name of the float32 master copy in state dicts.
static constexpr const char* kMaster = "master_weight";
static constexpr StateTensor kMasterWeight{kMaster};

// The dtype of a count or a number in state dicts.
static DType single(const StateTensor& which) { return which.is_number ? kFloat64 : kInt64; }

StateDict Optimizer::state_dict() const try {
  StateDict dict;
  const auto params = parameters();
  const auto description = state_tensors();
  for (size_t p = 0; p < params.size(); ++p) {
    const auto state = state_.find(params[p].impl());
    if (state == state_.end() || state->second.fresh) continue;
    for (size_t i = 0; i < description.size(); ++i) {
      const Tensor& t = state->second.tensors[i];
      if (!t.defined()) continue;
      dict.emplace_back(
          fmt::format("{}.{}", p, description[i].name),
          description[i].like_param ? t.detach() : t.to(kCPU, single(description[i])));
    }
    const Tensor& master = state->second.master;
    if (master.defined()) dict.emplace_back(fmt::format("{}.{}", p, kMaster), master.detach());
  }
  return dict;
} catch (const std::bad_alloc&) {
  throw_out_of_host_memory("state_dict");
}

namespace {

// Split "3.momentum_buffer" into 3 and the name; the position is past the end for invalid keys.
std::pair<size_t, std::string_view> split(std::string_view key) {
  const size_t dot = key.find('.');
  size_t position = 0;
  const char* end = key.data() + std::min(dot, key.size());
  const auto [last, error] = std::from_chars(key.data(), end, position);
  if (dot == key.npos || error != std::errc() || last != end) return {SIZE_MAX, {}};
  return {position, key.substr(dot + 1)};
}

std::string describe(const Tensor& t) {
  return t.defined() ? ambit::name(t.dtype()) + str(t.sizes()) : "undefined";
}

}  // namespace

// Return why `value` cannot be state `which` of `param`, empty if it can.
std::string Optimizer::misfit(const Tensor& param, DType like_param, const StateTensor& which,
                              const Tensor& value) {
  const IntArrayRef sizes = which.like_param ? param.sizes() : IntArrayRef();
  const DType dtype = which.like_param ? like_param : single(which);
  if (value.defined() && value.sizes() == sizes && value.dtype() == dtype) return "";
  return fmt::format("expected {}{}, got {}", ambit::name(dtype), str(sizes), describe(value));
}

// Copy the tensors, so that a dict can be loaded into several optimizers.
void Optimizer::copy_state(const Tensor& param, State& state) const {
  const auto description = state_tensors();
  state.param = param;
  state.names = description;
  state.fresh = false;
  if (state.master.defined()) {
    state.master = state.master.detach().to(param.device(), kFloat32, false, true);
    state.master_version = param.version() - 1;  // stale, so the next step compares them
  }
  for (size_t i = 0; i < description.size(); ++i) {
    Tensor& t = state.tensors[i];
    if (!t.defined()) continue;
    t = t.detach().to(description[i].like_param ? param.device() : kCPU, t.dtype(), false, true);
  }
}

void Optimizer::load_state_dict(const StateDict& dict) try {
  const auto params = parameters();
  std::vector<bool> masters;  // whether each has a master copy
  for (const OptimizerParamGroup& group : param_groups_) {
    for (const Tensor& param : group.params()) {
      masters.push_back(has_master(param, group.options()));
    }
  }
  const auto description = state_tensors();
  StateMap loaded;
  std::string wrong;
  const auto complain = [&wrong](std::string_view key, std::string_view why) {
    wrong += fmt::format("\n  {}: {}", printable(key), why);
  };
  for (const auto& [key, value] : dict) {
    const auto [position, name] = split(key);
    size_t i = 0;
    while (i < description.size() && description[i].name != name) ++i;
    const bool is_master = name == kMaster && position < params.size() && masters[position];
    if (!is_master && (position >= params.size() || i == description.size())) {
      complain(key, "unexpected");
      continue;
    }
    const Tensor& param = params[position];
    State& state = loaded[param.impl()];
    Tensor& target = is_master ? state.master : state.tensors[i];
    if (target.defined()) complain(key, "given twice");
    const DType dtype = masters[position] ? kFloat32 : param.dtype();
    const StateTensor& which = is_master ? kMasterWeight : description[i];
    if (const auto why = misfit(param, dtype, which, value); !why.empty()) complain(key, why);
    target = value;
  }
  for (size_t p = 0; p < params.size(); ++p) {
    const auto state = loaded.find(params[p].impl());
    if (state == loaded.end()) continue;
    for (size_t i = 0; i < description.size(); ++i) {
      const bool there = state->second.tensors[i].defined();
      if (!there && !description[i].optional)
        complain(fmt::format("{}.{}", p, description[i].name), "missing");
    }
  }
  if (!wrong.empty()) throw Error("load_state_dict: expected this optimizer's state, got" + wrong);
  for (const Tensor& param : params) {
    const auto state = loaded.find(param.impl());
    if (state != loaded.end()) copy_state(param, state->second);
  }
  state_at_.clear();
  state_ = std::move(loaded);
} catch (const std::bad_alloc&) {
  throw_out_of_host_memory("load_state_dict");
}

}  // namespace ambit::optim
