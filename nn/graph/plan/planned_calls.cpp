#include <ambit/autograd.h>
#include <ambit/detail/memory_errors.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/random.h>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "planned.h"

namespace ambit::graph {
namespace {

// Restores the state of random numbers at its end.
class KeptRandomState {
 public:
  explicit KeptRandomState(Device device)
      : generators_{default_generator(device), default_generator(kCPU)},
        states_{generators_[0].get_state(), generators_[1].get_state()} {}
  ~KeptRandomState() {
    for (size_t i = 0; i < 2; ++i) generators_[i].set_state(states_[i]);
  }
  KeptRandomState(const KeptRandomState&) = delete;
  KeptRandomState& operator=(const KeptRandomState&) = delete;

 private:
  Generator generators_[2];
  Tensor states_[2];
};

// Drops the contents of all values, also after an exception.
class Cleared {
 public:
  explicit Cleared(std::vector<Slot>& slots) : slots_(slots) {}
  ~Cleared() { std::fill(slots_.begin(), slots_.end(), Slot()); }
  Cleared(const Cleared&) = delete;
  Cleared& operator=(const Cleared&) = delete;

 private:
  std::vector<Slot>& slots_;
};

}  // namespace

PlannedCalls::PlannedCalls(std::shared_ptr<const Program> program, PlannedState state,
                           TensorList inputs, const Mode& mode)
    : program_(std::move(program)),
      state_(std::move(state)),
      mode_(mode),
      expected_(*program_, inputs),
      memory_(mode.device) {
  const NoGradGuard no_grad;
  const KeptRandomState random(mode_.device);
  for (const Tensor& t : state_.tensors) detached_.push_back(t.detach());
  slots_.resize(program_->block.values.size());
  find_sources();
  if (state_.constants) state_.constants->refresh(detached_);
  find_written(inputs);
  refresh_state();
  // Fills caches, so that the recorded run does not include memory that is allocated only once.
  compute(inputs, nullptr, true);
  std::vector<Tensor> outputs;  // outlive the recorded run
  {
    PlannedMemory::Run run(memory_);
    outputs = compute(inputs, &run, true);
  }
  memory_.arrange();
}

void PlannedCalls::find_sources() {
  const Program& p = *program_;
  std::vector<size_t> source(p.block.values.size());
  size_t position = 0;
  for (const State& s : p.state) source[s.value] = position++;
  for (const Input& input : p.inputs) source[input.value] = position++;
  for (size_t i = 0; state_.constants && i < state_.constants->size(); ++i) {
    source[state_.constants->value(i)] = position++;
  }
  for (const uint32_t v : p.block.inputs) sources_.push_back(source[v]);
  is_written_.resize(position);
  for (const Update& u : p.updates) update_targets_.push_back(source[u.to]);
  for (const Argument& a : p.outputs) {
    bool is_constant = false;
    for (size_t i = 0; state_.constants && i < state_.constants->size(); ++i) {
      each_value(a, [&](uint32_t v) { is_constant |= v == state_.constants->value(i); });
    }
    is_constant_.push_back(is_constant);
  }
}

void PlannedCalls::find_written(TensorList inputs) {
  std::vector<Slot> given;
  std::vector<bool> is_constant;
  for (const size_t source : sources_) {
    given.push_back(content_of(source, inputs));
    is_constant.push_back(source - detached_.size() >= inputs.size());
  }
  const Trace traced = trace(program_->block, given, is_constant, mode_);
  for (size_t k = 0; k < sources_.size(); ++k) {
    is_written_[sources_[k]] = traced.is_written(program_->block.inputs[k]);
  }
}

// The values and the memory of parameters may have changed since planning.
void PlannedCalls::refresh_state() {
  for (size_t i = 0; i < detached_.size(); ++i) {
    const Tensor& t = state_.tensors[i];
    Tensor& old = detached_[i];
    if (t.is_set_to(old) && t.dtype() == old.dtype()) continue;
    if (t.dtype() != old.dtype() || t.sizes() != old.sizes() || t.device() != old.device()) {
      const auto text = [](const Tensor& x) {
        return fmt::format("{}{} on {}", name(x.dtype()), str(x.sizes()), x.device().str());
      };
      throw Error(
          fmt::format("plan: expected '{}' as planned, {}, got {}: make a new plan after to()",
                      program_->state[i].name, text(old), text(t)));
    }
    old = t.detach();
  }
  if (state_.constants) state_.constants->refresh(detached_);
  if (state_.packed) refresh_packed();
}

// Drop packed forms of parameters that have changed.
void PlannedCalls::refresh_packed() {
  PackedState& packed = *state_.packed;
  bool is_new = packed.versions.size() != detached_.size();
  packed.versions.resize(detached_.size());
  for (size_t i = 0; i < detached_.size(); ++i) {
    is_new = is_new || !packed.versions[i].is_current(detached_[i]);
  }
  if (!is_new) return;
  for (size_t i = 0; i < detached_.size(); ++i) packed.versions[i] = StateVersion(detached_[i]);
  std::vector<const void*> addresses;
  const auto add = [&](const Tensor& t) {
    if (t.defined() && t.numel() > 0) addresses.push_back(t.data_ptr());
  };
  for (size_t i = 0; i < detached_.size(); ++i) {
    if (!is_written_[i]) add(detached_[i]);
  }
  for (size_t i = 0; i < state_.constants->size(); ++i) add((*state_.constants)[i].tensor);
  packed.forms.reset(std::move(addresses));
}

Slot PlannedCalls::content_of(size_t source, TensorList inputs) const {
  if (source < detached_.size()) return {detached_[source], {}};
  const size_t i = source - detached_.size();
  if (i >= inputs.size()) return (*state_.constants)[i - inputs.size()];
  const Input& input = program_->inputs[i];
  if (!program_->block.values[input.value].dtype) return {{}, expected_.number(i)};
  // As in GraphImpl::forward().
  const bool copies = input.is_contiguous && !input.is_written;
  const Tensor t = inputs[i].requires_grad() ? inputs[i].detach() : inputs[i];
  return {copies ? t.contiguous() : t, {}};
}

std::vector<Tensor> PlannedCalls::compute(TensorList inputs, PlannedMemory::Run* run, bool keeps) {
  const Block& block = program_->block;
  const Cleared cleared(slots_);
  std::optional<PackedConstants::Scope> forms;
  if (state_.packed) forms.emplace(state_.packed->forms);
  if (run) run->step(0);
  for (size_t k = 0; k < sources_.size(); ++k) {
    Slot& slot = slots_[block.inputs[k]];
    slot = content_of(sources_[k], inputs);
    if (keeps && is_written_[sources_[k]]) slot.tensor = slot.tensor.clone();
  }
  for (size_t i = 0; i < block.nodes.size(); ++i) {
    const Node& node = block.nodes[i];
    if (run) run->step(static_cast<uint32_t>(i + 1));
    Slots results = call_results(node, slots_, mode_);
    for (size_t j = 0; j < node.outputs.size(); ++j) {
      slots_[node.outputs[j]] = std::move(results[j]);
    }
    for (const uint32_t v : node.last_used) slots_[v] = {};
  }
  if (run) run->step(static_cast<uint32_t>(block.nodes.size() + 1));
  const Node none;
  const Call call(none, slots_, mode_);
  std::vector<Tensor> outputs;
  for (size_t i = 0; i < program_->outputs.size(); ++i) {
    const Slot slot = call.slot(program_->outputs[i]);
    outputs.push_back(slot.number       ? scalar_tensor(*slot.number, slot.number->dtype())
                      : is_constant_[i] ? slot.tensor.clone()
                                        : slot.tensor);
  }
  if (!keeps) update(inputs);
  return outputs;
}

// Write the new values of buffers and inputs.
void PlannedCalls::update(TensorList inputs) {
  for (size_t i = 0; i < program_->updates.size(); ++i) {
    const Update& u = program_->updates[i];
    if (u.counts_steps && mode_.training == false) continue;
    const size_t target = update_targets_[i];
    const Tensor& to =
        target < detached_.size() ? detached_[target] : inputs[target - detached_.size()];
    copy_(to, slots_[u.from].tensor);
  }
}

std::vector<Tensor> PlannedCalls::run(TensorList inputs) {
  expected_.check(inputs);
  const std::lock_guard lock(mutex_);
  const NoGradGuard no_grad;
  refresh_state();
  return typed_memory_errors("plan", [&] {
    PlannedMemory::Run run(memory_);
    return compute(inputs, &run, false);
  });
}

}  // namespace ambit::graph
