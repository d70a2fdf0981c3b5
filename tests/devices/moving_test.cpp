// A module that moves between devices during training has the same losses as a module that does not
// move.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include "tests/devices.h"

using namespace ambit;

namespace {

struct NetImpl : nn::Module {
  Tensor forward(const Tensor& images) {
    const Tensor x = norm->forward(conv->forward(images)).relu();
    return fc->forward(drop->forward(x.flatten(1)));
  }
  // The layer has no bias: batch norm cancels it, so its gradient consists of rounding errors,
  // which Adam would amplify.
  nn::Conv2d conv{register_module("conv", nn::Conv2d(nn::Conv2dOptions(2, 3, 3).bias(false)))};
  nn::BatchNorm2d norm{register_module("norm", nn::BatchNorm2d(3))};
  nn::Dropout drop{register_module("drop", nn::Dropout(0.5))};
  nn::Linear fc{register_module("fc", nn::Linear(12, 4))};
};
AMBIT_MODULE(Net);

constexpr int kSteps = 9;

struct Run {
  std::vector<double> losses;
  Tensor running_mean, running_var;
};

using MakeOptimizer =
    std::function<std::unique_ptr<optim::Optimizer>(const std::vector<Tensor>& parameters)>;

// Train on `route[step / 3]`, in float64: the module moves every three steps; the optimizer is
// created before the first move. The mask of dropout depends on a seed that is set before each
// step, since every device has its own generator.
Run train(const std::vector<Device>& route, const MakeOptimizer& make) {
  manual_seed(3);
  Net net;
  net->to(kFloat64);
  const auto optimizer = make(net->parameters());
  const Tensor images = randn({5, 2, 4, 4}, kFloat64), classes = tensor({0, 1, 2, 3, 1});
  Run run;
  for (int step = 0; step < kSteps; ++step) {
    const Device device = route[static_cast<size_t>(step / 3) % route.size()];
    net->to(device);
    manual_seed(static_cast<uint64_t>(step));
    optimizer->zero_grad();
    const Tensor loss = cross_entropy(net->forward(images.to(device)), classes.to(device));
    loss.backward();
    optimizer->step();
    CHECK(nn::find_device_mismatches(net, *optimizer).empty());
    run.losses.push_back(loss.item<double>());
  }
  net->to(kCPU);
  CHECK(net->norm->num_batches_tracked.item<int64_t>() == kSteps);
  return {run.losses, net->norm->running_mean, net->norm->running_var};
}

// Devices add at most 60 terms in other orders, a relative error of 60 * 1.1e-16; times 27 for
// three layers in nine steps, below 2e-13. A lost momentum or buffer changes the third digit.
constexpr double kRounding = 2e-13;

void check_same(const Run& moved, const Run& stayed) {
  for (size_t i = 0; i < stayed.losses.size(); ++i) {
    INFO("step ", i);
    CHECK(moved.losses[i] == doctest::Approx(stayed.losses[i]).epsilon(kRounding));
  }
  CHECK(moved.running_mean.allclose(stayed.running_mean, kRounding, kRounding));
  CHECK(moved.running_var.allclose(stayed.running_var, kRounding, kRounding));
}

template <class Optimizer, class Options>
MakeOptimizer made_with(const Options& options) {
  return [options](const std::vector<Tensor>& parameters) {
    return std::make_unique<Optimizer>(parameters, options);
  };
}

std::vector<MakeOptimizer> optimizers() {
  return {
      made_with<optim::SGD>(optim::SGDOptions(0.1).momentum(0.9).nesterov(true).weight_decay(1e-2)),
      made_with<optim::Adam>(optim::AdamOptions(0.02)),
      made_with<optim::AdamW>(optim::AdamWOptions(0.02))};
}

}  // namespace

TEST_CASE("training continues after a move, with the losses of a module that stays") {
  for (const MakeOptimizer& make : optimizers()) {
    const Run stayed = train({kCPU}, make);
    CHECK(stayed.losses.back() < stayed.losses.front());
    for_each_device([&](Device device) {
      check_same(train({device, kCPU, device}, make), stayed);
      check_same(train({kCPU, device}, make), stayed);
    });
  }
}

TEST_CASE("moves between devices with the same kernels do not change any bit") {
  // The simulator uses the kernels of the reference backend.
  const Device sim("sim"), reference("reference");
  for (const MakeOptimizer& make : optimizers()) {
    const Run moved = train({sim, reference, sim}, make), stayed = train({reference}, make);
    CHECK(moved.losses == stayed.losses);
    CHECK(moved.running_mean.equal(stayed.running_mean));
    CHECK(moved.running_var.equal(stayed.running_var));
  }
}

TEST_CASE("a module moves between the devices of one kind during training") {
  if (device_count("cuda") < 2) return;
  for (const MakeOptimizer& make : optimizers()) {
    check_same(train({Device("cuda:0"), Device("cuda:1"), kCPU}, make), train({kCPU}, make));
  }
}
