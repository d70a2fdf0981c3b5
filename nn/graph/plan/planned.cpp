#include "planned.h"

#include <ambit/autograd.h>
#include <ambit/detail/memory_errors.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/random.h>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "trace.h"

namespace ambit::graph {
namespace {

std::string described(DType dtype, IntArrayRef sizes) { return name(dtype) + str(sizes); }

// The state of the random numbers of the devices on which a plan runs, restored at the end.
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

Planned::Planned(std::shared_ptr<const Program> program, std::vector<Tensor> state,
                 TensorList inputs, const Mode& mode, const PlanOptions&)
    : program_(std::move(program)), state_(std::move(state)), mode_(mode), memory_(mode.device) {
  const NoGradGuard no_grad;
  const KeptRandomState random(mode_.device);
  for (const Tensor& t : state_) {
    detached_.push_back(t.detach());
    expected_state_.emplace_back(t);
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool is_number = !program_->block.values[program_->inputs[i].value].dtype;
    expected_inputs_.emplace_back(inputs[i]);
    numbers_.push_back(is_number ? inputs[i].item() : Scalar());
  }
  slots_.resize(program_->block.values.size());
  find_sources();
  find_written(inputs);
  compute(inputs, nullptr, true);  // fills caches, which would be recorded as needed in each run
  std::vector<Tensor> outputs;     // outlive the recorded run
  {
    PlannedMemory::Run run(memory_);
    outputs = compute(inputs, &run, true);
  }
  memory_.arrange();
}

void Planned::find_sources() {
  const Program& p = *program_;
  std::vector<size_t> source(p.block.values.size());
  for (size_t i = 0; i < p.state.size(); ++i) source[p.state[i].value] = i;
  for (size_t i = 0; i < p.inputs.size(); ++i) source[p.inputs[i].value] = p.state.size() + i;
  for (const uint32_t v : p.block.inputs) sources_.push_back(source[v]);
}

// Trace the program, which refuses calls that cannot be planned.
void Planned::find_written(TensorList inputs) {
  const Program& p = *program_;
  std::vector<Slot> given;
  std::vector<bool> is_constant;
  for (const size_t source : sources_) {
    given.push_back(content_of(source, inputs));
    is_constant.push_back(source < state_.size());
  }
  const Trace traced = trace(p.block, given, is_constant, mode_);
  is_written_.resize(state_.size() + inputs.size());
  for (size_t k = 0; k < sources_.size(); ++k) {
    is_written_[sources_[k]] = traced.is_written(p.block.inputs[k]);
  }
  for (const Update& update : p.updates) {
    for (size_t k = 0; k < sources_.size(); ++k) {
      if (p.block.inputs[k] == update.to) update_targets_.push_back(sources_[k]);
    }
  }
}

void Planned::check_input(size_t i, const Tensor& input) const {
  const Expected& expected = expected_inputs_[i];
  const Value& value = program_->block.values[program_->inputs[i].value];
  if (!input.defined()) {
    throw Error(fmt::format("plan: expected the input '{}', got an undefined tensor", value.name));
  }
  if (input.device() != expected.device) {
    throw DeviceMismatchError(
        "plan",
        {{"planned " + value.name, described(expected.dtype, expected.sizes), expected.device, {}},
         {value.name, described(input.dtype(), input.sizes()), input.device(), {}}},
        0, 1);
  }
  const auto text = [&] {
    return fmt::format("plan: expected the input '{}' as planned, {}, got {}", value.name,
                       described(expected.dtype, expected.sizes),
                       described(input.dtype(), input.sizes()));
  };
  if (input.dtype() != expected.dtype) throw DTypeError(text());
  if (input.sizes() != IntArrayRef(expected.sizes)) throw ShapeError(text());
  if (value.dtype) return;
  const auto planned = numbers_[i].to<int64_t>(), given = input.item<int64_t>();
  if (given != planned) {
    throw ShapeError(fmt::format("plan: expected the input '{}' as planned, {}, got {}", value.name,
                                 planned, given));
  }
}

void Planned::check_inputs(TensorList inputs) const {
  if (inputs.size() != expected_inputs_.size()) {
    throw Error(
        fmt::format("plan: expected {} inputs, got {}", expected_inputs_.size(), inputs.size()));
  }
  for (size_t i = 0; i < inputs.size(); ++i) check_input(i, inputs[i]);
}

// Parameters may have other values than at planning, and other memory.
void Planned::check_state() {
  for (size_t i = 0; i < state_.size(); ++i) {
    const Tensor& t = state_[i];
    if (t.storage() == detached_[i].storage()) continue;
    if (!expected_state_[i].fits(t)) {
      const Expected& expected = expected_state_[i];
      throw Error(
          fmt::format("plan: expected '{}' as planned, {} on {}, got {} on {}: make a new "
                      "plan after to()",
                      program_->state[i].name, described(expected.dtype, expected.sizes),
                      expected.device.str(), described(t.dtype(), t.sizes()), t.device().str()));
    }
    detached_[i] = t.detach();
  }
}

Slot Planned::content_of(size_t source, TensorList inputs) const {
  if (source < state_.size()) return {detached_[source], {}};
  const size_t i = source - state_.size();
  const Input& input = program_->inputs[i];
  if (!program_->block.values[input.value].dtype) return {{}, numbers_[i]};
  // As in GraphImpl::forward().
  const bool copies = input.is_contiguous && !input.is_written;
  return {copies ? inputs[i].detach().contiguous() : inputs[i].detach(), {}};
}

std::vector<Tensor> Planned::compute(TensorList inputs, PlannedMemory::Run* run, bool keeps) {
  const Block& block = program_->block;
  const Cleared cleared(slots_);
  if (run) run->step(0);
  for (size_t k = 0; k < sources_.size(); ++k) {
    Slot& slot = slots_[block.inputs[k]];
    slot = content_of(sources_[k], inputs);
    if (keeps && is_written_[sources_[k]]) slot.tensor = slot.tensor.clone();
  }
  for (size_t i = 0; i < block.nodes.size(); ++i) {
    const Node& node = block.nodes[i];
    if (run) run->step(static_cast<uint32_t>(i + 1));
    std::vector<Slot> results = call_results(node, slots_, mode_);
    for (size_t j = 0; j < node.outputs.size(); ++j) {
      slots_[node.outputs[j]] = std::move(results[j]);
    }
    for (const uint32_t v : node.last_used) slots_[v] = {};
  }
  if (run) run->step(static_cast<uint32_t>(block.nodes.size() + 1));
  const Node none;
  const Call call(none, slots_, mode_);
  std::vector<Tensor> outputs;
  for (const Argument& a : program_->outputs) {
    const Slot slot = call.slot(a);
    outputs.push_back(slot.number ? scalar_tensor(*slot.number, slot.number->dtype())
                                  : slot.tensor);
  }
  if (!keeps) update(inputs);
  return outputs;
}

// Write the new values of buffers and inputs.
void Planned::update(TensorList inputs) {
  for (size_t i = 0; i < program_->updates.size(); ++i) {
    const Update& u = program_->updates[i];
    if (u.counts_steps && mode_.training == false) continue;
    const size_t target = update_targets_[i];
    const Tensor& to = target < state_.size() ? detached_[target] : inputs[target - state_.size()];
    copy_(to, slots_[u.from].tensor);
  }
}

std::vector<Tensor> Planned::run(TensorList inputs) {
  check_inputs(inputs);
  const std::lock_guard lock(mutex_);
  const NoGradGuard no_grad;
  check_state();
  return typed_memory_errors("plan", [&] {
    PlannedMemory::Run run(memory_);
    return compute(inputs, &run, false);
  });
}

}  // namespace ambit::graph
