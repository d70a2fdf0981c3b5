// The tutorial's first lesson in C++: train a small convolutional network on images, on a GPU if
// there is one; save it, load it into a new network, and see how well that knows the test images.
// What other lessons need too is in ../images, ../terminal and ../training.
#include <ambit/ambit.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "images.h"
#include "options.h"
#include "progress.h"

namespace {

using namespace ambit;
using quickstart::Images;
using quickstart::Options;
using quickstart::Progress;
namespace F = nn::functional;
namespace samplers = data::samplers;
namespace transforms = data::transforms;

struct NetImpl : nn::Module {
  nn::Conv2d conv1{register_module("conv1", nn::Conv2d(3, 6, 5))};
  nn::MaxPool2d pool{register_module("pool", nn::MaxPool2d(nn::MaxPool2dOptions(2).stride(2)))};
  nn::Conv2d conv2{register_module("conv2", nn::Conv2d(6, 16, 5))};
  nn::Linear fc1{register_module("fc1", nn::Linear(16 * 5 * 5, 120))};
  nn::Linear fc2{register_module("fc2", nn::Linear(120, 84))};
  nn::Linear fc3{register_module("fc3", nn::Linear(84, 10))};

  Tensor forward(Tensor x) {
    x = pool(F::relu(conv1(x)));
    x = pool(F::relu(conv2(x)));
    x = x.view({-1, 16 * 5 * 5});
    x = F::relu(fc1(x));
    x = F::relu(fc2(x));
    x = fc3(x);
    return x;
  }
};
AMBIT_MODULE(Net);

// Batches of images, in [-1, 1] instead of [0, 1], and labels; two threads make them ahead.
template <class Sampler>
auto make_loader(const data::datasets::CIFAR10& images, Sampler sampler, size_t batch_size) {
  auto dataset = images.map(transforms::Normalize<>({0.5, 0.5, 0.5}, {0.5, 0.5, 0.5}))
                     .map(transforms::Stack<>());
  return data::make_data_loader(std::move(dataset), std::move(sampler),
                                data::DataLoaderOptions().batch_size(batch_size).workers(2));
}

// How many images to use of those that there are.
size_t count_used(const data::datasets::CIFAR10& images, const Options& options) {
  const size_t all = *images.size();
  return options.limit == 0 ? all : std::min(all, options.limit);
}

void train(Net& net, const Images& images, const Options& options, Device device) {
  const size_t size = count_used(images.train, options);
  auto trainloader = make_loader(images.train, samplers::RandomSampler(size), options.batch_size);

  nn::CrossEntropyLoss criterion;
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(options.lr).momentum(0.9));

  for (int64_t epoch = 0; epoch < options.epochs; ++epoch) {  // loop over the images several times
    Progress progress(fmt::format("epoch {}/{}", epoch + 1, options.epochs),
                      (size + options.batch_size - 1) / options.batch_size);
    double running_loss = 0.0;
    int64_t i = 0;
    for (auto& batch : *trainloader) {
      // get the inputs, on the device
      Tensor inputs = batch.data.to(device), labels = batch.target.to(device);

      // zero the parameter gradients
      optimizer.zero_grad();

      // forward + backward + optimize
      Tensor outputs = net(inputs);
      Tensor loss = criterion(outputs, labels);
      loss.backward();
      optimizer.step();

      // print statistics
      running_loss += loss.item<double>();
      progress.step();
      if (++i % options.log_every == 0) {
        progress.clear();
        fmt::print("[{}, {:5d}] loss: {:.3f}\n", epoch + 1, i,
                   running_loss / static_cast<double>(options.log_every));
        std::fflush(stdout);
        running_loss = 0.0;
      }
    }
  }
  fmt::print("Finished Training\n");
}

void test(Net& net, const Images& images, const Options& options, Device device) {
  const size_t size = count_used(images.test, options);
  auto testloader = make_loader(images.test, samplers::SequentialSampler(size), options.batch_size);

  std::vector<int64_t> class_correct(images.classes.size()), class_total(images.classes.size());
  int64_t correct = 0;
  NoGradGuard no_grad;
  for (auto& batch : *testloader) {
    Tensor outputs = net(batch.data.to(device));
    auto [values, predicted] = max(outputs, 1);
    Tensor hits = predicted.cpu() == batch.target;
    for (int64_t i = 0; i < hits.size(0); ++i) {
      const auto label = batch.target[i].item<size_t>();
      const bool hit = hits[i].item<bool>();
      class_correct[label] += hit;
      class_total[label] += 1;
      correct += hit;
    }
  }

  fmt::print("Accuracy of the network on the {} test images: {} %\n", size,
             100 * correct / static_cast<int64_t>(size));
  for (size_t c = 0; c < images.classes.size(); ++c) {
    if (class_total[c] == 0) continue;  // --limit left none of this class
    fmt::print("Accuracy of {:>5} : {:2d} %\n", images.classes[c],
               100 * class_correct[c] / class_total[c]);
  }
}

void run(const Options& options) {
  const Device device(!options.device.empty() ? options.device
                      : cuda::is_available()  ? "cuda:0"
                                              : "cpu");
  manual_seed(options.seed);
  Net net;
  net.to(device);

  const Images images = quickstart::find_images(options);
  fmt::print("Training with {} on {}\n", device.str(), images.source);
  std::fflush(stdout);
  train(net, images, options, device);

  save(net->state_dict(), options.out);

  net = Net();
  net->load_state_dict(load(options.out));
  net.to(device);
  test(net, images, options, device);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(quickstart::parse_options(argc, argv));
    return 0;
  } catch (const Error& e) {
    fmt::print(stderr, "quickstart: {}\n", e.what());
    if (e.explain() != e.what()) fmt::print(stderr, "{}\n", e.explain());
  } catch (const std::exception& e) {
    fmt::print(stderr, "quickstart: {}\n", e.what());
  }
  return 1;
}
