// ResNet-18 learns CIFAR-10, or generated images if there is none. Images come from a DataLoader
// with worker threads; half of them are mirrored on the device.
#include <ambit/ambit.h>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "images/images.h"
#include "terminal/numbers.h"
#include "terminal/program.h"
#include "training/order.h"
#include "training/steps.h"
#include "zoo/models/resnet.h"

namespace {

using namespace ambit;
using zoo::ResNet;
namespace F = nn::functional;
namespace transforms = data::transforms;

template <class Sampler>
auto make_loader(const data::datasets::CIFAR10& images, Sampler sampler, int64_t batch_size) {
  auto dataset =
      images.map(transforms::Normalize<>({0.4914, 0.4822, 0.4465}, {0.2470, 0.2435, 0.2616}))
          .map(transforms::Stack<>());
  return data::make_data_loader(
      std::move(dataset), std::move(sampler),
      data::DataLoaderOptions().batch_size(static_cast<size_t>(batch_size)).workers(2));
}

Tensor mirror_half(const Tensor& x) {
  const Tensor coins = rand({x.size(0), 1, 1, 1}).to(x.device());  // restored by --resume
  return where(coins < 0.5, x, x.flip({3}));
}

double test(ResNet& net, const data::datasets::CIFAR10& images, Device device) {
  const size_t size = std::min<size_t>(*images.size(), 2000);
  auto loader = make_loader(images, data::samplers::SequentialSampler(size), 100);
  int64_t correct = 0;
  const NoGradGuard no_grad;
  for (auto& batch : *loader) {
    const Tensor guesses = net(batch.data.to(device)).argmax(1);
    correct += (guesses == batch.target.to(device)).sum().item<int64_t>();
  }
  return static_cast<double>(correct) / static_cast<double>(size);
}

int run(const training::StepOptions& options, int64_t width) {
  const Device device = options.chosen_device();
  const images::Images images = images::find_images({.folder = options.data}, options.seed);
  ResNet net = ResNet(10, width).to(device);
  optim::SGD optimizer(net->parameters(),
                       optim::SGDOptions(options.lr).momentum(0.9).weight_decay(5e-4));
  fmt::print("Training on {} with {}\n", device.str(), images.source);

  training::Steps steps(options, *net, {&optimizer});
  const auto batch_size = static_cast<size_t>(options.batch_size);
  auto loader = make_loader(images.train,
                            training::EndlessOrder(*images.train.size(), options.seed,
                                                   static_cast<size_t>(steps.count()), batch_size),
                            options.batch_size);
  for (auto batch = loader->begin(); steps.next(); ++batch) {
    optimizer.zero_grad();
    Tensor outputs = net(mirror_half(batch->data.to(device)));
    Tensor loss = F::cross_entropy(outputs, batch->target.to(device));
    loss.backward();
    optimizer.step();
    steps.done(loss, outputs.size(0));
  }
  net->eval();
  steps.report("test accuracy", test(net, images.test, device));
  return steps.finish();
}

}  // namespace

int main(int argc, char** argv) {
  return terminal::run_program("resnet18", [&] {
    training::StepOptions options{
        .name = "resnet18",
        .about = "Train ResNet-18 on CIFAR-10, then test it.",
        .data_help =
            "folder with CIFAR-10 or MNIST (default: $AMBIT_DATA, else ./data,\n"
            "else generated images)",
        .lr = 0.02};
    int64_t width = 64;
    options.parse(argc, argv, [&](CLI::App& app) {
      app.add_option("--width", width, "features of the first stage")
          ->capture_default_str()
          ->check(terminal::whole_number(1, 1024));
    });
    return run(options, width);
  });
}
