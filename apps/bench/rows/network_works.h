// A training step and inference of any network, as rows.
#pragma once

#include <ambit/autocast.h>
#include <ambit/ops/loss.h>
#include <ambit/optim/sgd.h>
#include <ambit/random.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "../row.h"

namespace bench {

template <class Network>
Network network_of(const Inputs& inputs, size_t first_parameter, ambit::Device device) {
  Network network;
  ambit::StateDict state;
  for (size_t i = first_parameter; i < inputs.size(); ++i) {
    state.emplace_back(inputs[i].name, inputs[i].value);
  }
  network->load_state_dict(state);
  network.to(device);
  return network;
}

template <class Network>
class Training final : public Work {
 public:
  Training(const Inputs& inputs, ambit::Device device, const ambit::optim::SGDOptions& options,
           bool amp)
      : amp_(amp),
        network_(network_of<Network>(inputs, 2, device)),
        optimizer_(network_->parameters(), options),
        images_(inputs[0].value.to(device)),
        labels_(inputs[1].value.to(device)) {}

  void run() override {
    optimizer_.zero_grad();
    const ambit::Tensor loss = make_loss();
    loss.backward();
    optimizer_.step();
    loss_ = loss.item<double>();
  }
  double result() override { return loss_; }

 private:
  ambit::Tensor make_loss() {
    std::optional<ambit::AutocastGuard> autocast;
    if (amp_) autocast.emplace(images_.device(), ambit::kBFloat16);
    return cross_entropy(network_(images_), labels_);
  }

  bool amp_;
  Network network_;
  ambit::optim::SGD optimizer_;
  ambit::Tensor images_, labels_;
  double loss_ = 0;
};

template <class Network>
class Inference final : public Work {
 public:
  Inference(const Inputs& inputs, ambit::Device device, bool amp)
      : amp_(amp),
        network_(network_of<Network>(inputs, 1, device)),
        images_(inputs[0].value.to(device)) {
    network_->eval();
  }

  void run() override {
    const ambit::NoGradGuard no_grad;
    std::optional<ambit::AutocastGuard> autocast;
    if (amp_) autocast.emplace(images_.device(), ambit::kBFloat16);
    logits_.reset();  // free them before the next ones are allocated
    logits_ = network_(images_);
    ambit::synchronize(logits_.device());
  }
  double result() override { return logits_.to(ambit::kFloat32).sum().item<double>(); }

 private:
  bool amp_;
  Network network_;
  ambit::Tensor images_, logits_;
};

/// `batch()`: {"input", "target"}.
template <class Network>
Inputs network_inputs(const std::function<Inputs()>& batch, bool with_targets) {
  ambit::manual_seed(1);
  Inputs all = batch();
  if (!with_targets) all.pop_back();
  for (const auto& [name, parameter] : Network()->state_dict()) all.push_back({name, parameter});
  return all;
}

/// A layer rounds its two operands to bfloat16, by at most 2^-9 each; ResNet-18 has 18 layers.
inline constexpr double kAmpTolerance = 2 * 18 * 0x1p-9;

/// The common properties of the rows of a network.
struct NetworkRow {
  std::string name;
  int64_t size;      // batch size
  const char* unit;  // name of its samples
  std::function<Inputs()> batch;
  bool amp = false;  // products in bfloat16, by autocast

  Row row(const std::string& kind) const {
    Row row{name + "/" + kind + (amp ? "_amp" : ""), std::to_string(size)};
    if (amp) row.tolerance = kAmpTolerance;
    row.amount = static_cast<double>(size);
    row.unit = unit;
    row.memory = true;
    return row;
  }
};

template <class Network>
Row training_row(const NetworkRow& about, const ambit::optim::SGDOptions& options) {
  Row row = about.row("train");
  row.inputs = [about] { return network_inputs<Network>(about.batch, true); };
  row.set_make(about.amp, [options](const Inputs& in, ambit::Device device, bool amp) {
    return std::make_unique<Training<Network>>(in, device, options, amp);
  });
  return row;
}

template <class Network>
Row inference_row(const NetworkRow& about) {
  Row row = about.row("infer");
  row.inputs = [about] { return network_inputs<Network>(about.batch, false); };
  row.set_make(about.amp, [](const Inputs& in, ambit::Device device, bool amp) {
    return std::make_unique<Inference<Network>>(in, device, amp);
  });
  return row;
}

}  // namespace bench
