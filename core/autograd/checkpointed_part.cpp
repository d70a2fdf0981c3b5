// Activation checkpointing.
#include "checkpointed_part.h"

#include <ambit/activation_checkpoint.h>
#include <ambit/autocast.h>
#include <ambit/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace ambit {

constinit thread_local CheckpointedPart* CheckpointedPart::current = nullptr;

namespace {

// Makes a part the current one of this thread.
class Current {
 public:
  explicit Current(CheckpointedPart* part)
      : before_(std::exchange(CheckpointedPart::current, part)) {}
  ~Current() { CheckpointedPart::current = before_; }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;

 private:
  CheckpointedPart* before_;
};

// Moves a device's default generator to another state, and back at the end of the scope.
class RandomState {
 public:
  explicit RandomState(const Generator& state)
      : generator_(default_generator(state.device())), before_(generator_.get_state()) {
    generator_.set_state(state.get_state());
  }
  ~RandomState() { generator_.set_state(before_); }
  RandomState(const RandomState&) = delete;
  RandomState& operator=(const RandomState&) = delete;

 private:
  Generator& generator_;
  Tensor before_;
};

}  // namespace

CheckpointedPart::CheckpointedPart(Function function, TensorList inputs, bool preserve_rng_state)
    : Node("checkpoint", 0), function_(std::move(function)) {
  std::vector<Device> devices{kCPU};
  for (const Tensor& t : inputs) {
    inputs_.emplace_back(t, -1);
    if (t.defined() && !t.is_meta() && std::ranges::find(devices, t.device()) == devices.end()) {
      devices.push_back(t.device());
    }
  }
  for (const Device d : devices) {
    devices_.push_back({d, autocast::is_autocast_enabled(d), autocast::get_autocast_dtype(d),
                        preserve_rng_state ? default_generator(d).clone() : Generator()});
  }
}

std::vector<Tensor> CheckpointedPart::run(const std::vector<Tensor>& inputs) {
  const Current scope(this);
  return function_(inputs);
}

Tensor CheckpointedPart::restore(int number) {
  {
    const std::lock_guard lock(mutex_);
    if (!is_computed_) compute_again();
    is_computed_ = true;
  }
  return kept_[static_cast<size_t>(number)]();
}

void CheckpointedPart::compute_again() {
  const Current no_part(nullptr);  // restore the inputs outside of any part
  AutoGradMode records(true);
  std::vector<Tensor> inputs;
  for (const Saved& input : inputs_) inputs.push_back(input());
  std::vector<std::unique_ptr<AutocastGuard>> casts;
  std::vector<std::unique_ptr<RandomState>> random;
  for (const DeviceState& d : devices_) {
    casts.push_back(std::make_unique<AutocastGuard>(d.device, d.autocast_dtype, d.autocasts));
    if (d.generator.defined()) random.push_back(std::make_unique<RandomState>(d.generator));
  }
  kept_.clear();
  saves_ = true;
  {
    const Current scope(this);
    function_(inputs);
  }
  if (kept_.size() == count_) return;
  throw AutogradError(fmt::format(
      "checkpoint: expected a function that saves {} tensors for backward, as in forward, got {}",
      count_, kept_.size()));
}

std::vector<Tensor> utils::checkpoint(CheckpointedPart::Function function,
                                      std::vector<Tensor> inputs, bool preserve_rng_state) {
  if (!GradMode::is_enabled()) return function(inputs);
  const intrusive_ptr<CheckpointedPart> part(
      new CheckpointedPart(std::move(function), inputs, preserve_rng_state));
  return part->run(inputs);
}

}  // namespace ambit
