// Checkpoints that PyTorch writes of the zoo's networks (zoo_torch.py): they load by name, give the
// same logits, and training from them has the same losses in each step.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "tests/temporary_folder.h"
#include "zoo/models/gpt.h"
#include "zoo/models/keywords.h"
#include "zoo/models/lstm.h"
#include "zoo/models/resnet.h"
#include "zoo/models/unet.h"

using namespace ambit;

namespace {

bool has_torch(const std::string& python) {
  return std::system(
             ("OMP_NUM_THREADS=1 '" + python + "' -c 'import torch.nn' 2>/dev/null").c_str()) == 0;
}

// Return the interpreter, empty if there is none. One named by the environment must work.
std::string find_python() {
  if (const char* asked = std::getenv("AMBIT_PYTHON")) {
    CHECK_MESSAGE(has_torch(asked), "AMBIT_PYTHON has no torch: ", asked);
    return asked;
  }
  for (const char* python : {"python3", "/usr/bin/python3"}) {
    if (has_torch(python)) return python;
  }
  return "";
}

// |got - expected| <= tolerance |expected|; numbers that are rounding errors of larger ones are
// compared relative to the largest number.
void check_close(const Tensor& got, const Tensor& expected, double tolerance) {
  const Tensor error = (got - expected).abs(), size = expected.abs();
  const double worst =
      (error / size.clamp_min(0.1 * size.max().item<double>())).max().item<double>();
  CHECK(got.sizes() == expected.sizes());
  CHECK(worst <= tolerance);
}

// `run(inputs)`: the network's logits, classes in dim `class_dim`.
template <class Net, class Optimizer, class Run>
void check_checkpoint(const std::string& name, const Net& net, Optimizer optimizer,
                      int64_t class_dim, Run run) {
  constexpr int kSteps = 100;
  static const std::string python = find_python();
  if (python.empty()) {
    MESSAGE("skipped: no PyTorch (AMBIT_PYTHON names a Python that has it)");
    return;
  }
  const TemporaryFolder folder;
  REQUIRE(std::system(("OMP_NUM_THREADS=1 '" + python + "' '" AMBIT_ZOO_SCRIPT "' " + name + " '" +
                       folder.path().string() + "' " + std::to_string(kSteps))
                          .c_str()) == 0);
  const Value saved = load_checkpoint(folder / (name + ".pth"));
  const Tensor inputs = saved["inputs"].to_tensor(), targets = saved["targets"].to_tensor();
  net->load_state_dict(saved["model"].to_state_dict());
  {
    const NoGradGuard no_grad;
    net->eval();
    check_close(run(inputs[0]), saved["logits"].to_tensor(), 1e-4);
  }

  net->train();
  std::vector<double> losses;
  for (int64_t step = 0; step < kSteps; ++step) {
    const int64_t batch = step % inputs.size(0);
    optimizer.zero_grad();
    Tensor loss = cross_entropy(run(inputs[batch]).movedim(class_dim, 1), targets[batch]);
    loss.backward();
    optimizer.step();
    losses.push_back(loss.item<double>());
  }
  const Tensor expected = saved["losses"].to_tensor();
  CHECK(expected.min().item<double>() <
        0.98 * expected[0].item<double>());  // the training has reduced the loss
  check_close(tensor(losses, kFloat64), expected, 1e-3);
}

}  // namespace

// Batch norms over 8 samples amplify differences of rounding, more so with large steps: at this
// rate PyTorch itself differs by a sixth of the bound after 100 steps from a start whose parameters
// differ by one rounding.
TEST_CASE("ResNet-18: PyTorch's checkpoint, logits and losses") {
  zoo::ResNet net;
  check_checkpoint(
      "resnet18", net,
      optim::SGD(net->parameters(), optim::SGDOptions(5e-6).momentum(0.9).weight_decay(5e-4)), 1,
      [&](const Tensor& x) { return net(x); });
}

TEST_CASE("GPT: PyTorch's checkpoint, logits and losses") {
  zoo::GPT net(zoo::GPTConfig{.vocabulary = 65, .block = 32, .layers = 3, .heads = 4, .width = 64});
  check_checkpoint("gpt", net,
                   optim::AdamW(net->parameters(),
                                optim::AdamWOptions(1e-3).betas({0.9, 0.99}).weight_decay(0.01)),
                   2, [&](const Tensor& x) { return net(x); });
}

TEST_CASE("LSTM: PyTorch's checkpoint, logits and losses") {
  zoo::LSTMModel net(65, 32, 64, 2);
  check_checkpoint("lstm", net, optim::Adam(net->parameters(), optim::AdamOptions(2e-3)), 2,
                   [&](const Tensor& x) { return std::get<0>(net(x)); });
}

TEST_CASE("U-Net: PyTorch's checkpoint, logits and losses") {
  zoo::UNet net(3, 3, 8, 4);
  check_checkpoint("unet", net, optim::Adam(net->parameters(), optim::AdamOptions(1e-4)), 1,
                   [&](const Tensor& x) { return net(x); });
}

// The checkpoint has PyTorch's window and mel filters, which replace ambit's. Both are at most 1
// and computed in float32 or rounded to it; 1e-6 is 16 roundings.
TEST_CASE("Keyword spotter: PyTorch's checkpoint, logits and losses") {
  zoo::KeywordNet net(4000, 4);
  const Tensor window = net->log_mel->window.clone(), filters = net->log_mel->filters.clone();
  check_checkpoint("keywords", net, optim::Adam(net->parameters(), optim::AdamOptions(1e-4)), 1,
                   [&](const Tensor& x) { return net(x); });
  CHECK(allclose(window, net->log_mel->window, 0, 1e-6));
  CHECK(allclose(filters, net->log_mel->filters, 0, 1e-6));
}
