// A convolutional network learns MNIST. Pictures come from the data pipeline: a dataset, maps that
// normalise and stack, a sampler, and a DataLoader with worker threads. Source: libtorch's example
// mnist.
#include <ambit/ambit.h>

#include <fmt/format.h>

#include <algorithm>

#include "terminal/program.h"
#include "training/order.h"
#include "training/steps.h"
#include "zoo/shared/digits.h"

namespace {

using namespace ambit;
namespace F = nn::functional;
namespace transforms = data::transforms;

struct NetImpl : nn::Module {
  nn::Conv2d conv1{register_module("conv1", nn::Conv2d(1, 10, 5))};
  nn::Conv2d conv2{register_module("conv2", nn::Conv2d(10, 20, 5))};
  nn::Dropout2d conv2_drop{register_module("conv2_drop", nn::Dropout2d())};
  nn::Linear fc1{register_module("fc1", nn::Linear(320, 50))};
  nn::Linear fc2{register_module("fc2", nn::Linear(50, 10))};

  Tensor forward(Tensor x) {
    x = F::relu(F::max_pool2d(conv1(x), 2));
    x = F::relu(F::max_pool2d(conv2_drop(conv2(x)), 2));
    x = x.view({-1, 320});
    x = F::relu(fc1(x));
    x = F::dropout(x, /*p=*/0.5, /*training=*/is_training());
    x = fc2(x);
    return F::log_softmax(x, /*dim=*/1);
  }
};
AMBIT_MODULE(Net);

template <class Sampler>
auto make_loader(const zoo::Digits& digits, Sampler sampler, int64_t batch_size) {
  auto dataset = digits.map(transforms::Normalize<>(0.1307, 0.3081)).map(transforms::Stack<>());
  return data::make_data_loader(
      std::move(dataset), std::move(sampler),
      data::DataLoaderOptions().batch_size(static_cast<size_t>(batch_size)).workers(2));
}

struct Result {
  double loss, accuracy;
};
Result test(Net& net, const zoo::Digits& digits, Device device) {
  const size_t size = *digits.size();
  auto loader = make_loader(digits, data::samplers::SequentialSampler(size), 500);
  net->eval();
  const NoGradGuard no_grad;
  double test_loss = 0;
  int64_t correct = 0;
  for (const auto& batch : *loader) {
    auto data = batch.data.to(device), targets = batch.target.to(device);
    auto output = net(data);
    test_loss += F::nll_loss(output, targets, {}, Reduction::sum).item<double>();
    auto pred = output.argmax(1);
    correct += pred.eq(targets).sum().item<int64_t>();
  }
  const auto count = static_cast<double>(size);
  return {test_loss / count, static_cast<double>(correct) / count};
}

int run(const training::StepOptions& options) {
  const Device device = options.chosen_device();
  const zoo::DigitData digits = zoo::find_digits(options.data, options.seed);
  Net net = Net().to(device);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(options.lr).momentum(0.5));
  fmt::print("Training on {} with {}\n", device.str(), digits.source);

  training::Steps steps(options, *net, {&optimizer});
  const auto batch_size = static_cast<size_t>(options.batch_size);
  auto loader = make_loader(digits.train,
                            training::EndlessOrder(*digits.train.size(), options.seed,
                                                   static_cast<size_t>(steps.count()), batch_size),
                            options.batch_size);
  for (auto batch = loader->begin(); steps.next(); ++batch) {
    auto data = batch->data.to(device), targets = batch->target.to(device);
    optimizer.zero_grad();
    auto output = net(data);
    auto loss = F::nll_loss(output, targets);
    loss.backward();
    optimizer.step();
    steps.done(loss, data.size(0));
  }
  Result result;
  steps.report("test loss", [&] {
    result = test(net, digits.test, device);
    return result.loss;
  });
  steps.report("test accuracy", [&] { return result.accuracy; });
  return steps.finish();
}

}  // namespace

int main(int argc, char** argv) {
  return terminal::run_program("mnist", [&] {
    training::StepOptions options{
        .name = "mnist",
        .about = "Train a convolutional network on MNIST through a DataLoader, then test it.",
        .data_help = zoo::kDigitsHelp,
        .steps = 1875,  // two epochs of MNIST
        .batch_size = 64,
        .lr = 0.02,
        .may_quantize = true};
    options.parse(argc, argv);
    return run(options);
  });
}
