// PyTorch's tutorial on CIFAR-10 in C++: train a small convolutional network on images, on a GPU if
// available; save it, load it into a new network, and measure its accuracy on the test images. Code
// shared with other lessons is in ../images, ../terminal and ../training.
#include <ambit/ambit.h>

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <vector>

#include "images/images.h"
#include "options.h"
#include "terminal/interrupt.h"
#include "terminal/program.h"
#include "terminal/progress.h"
#include "training/checkpoint.h"
#include "training/order.h"
#include "training/ranks.h"

namespace {

using namespace ambit;
using images::Images;
using quickstart::Options;
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

// Return batches of images in [-1, 1] (instead of [0, 1]) and labels, prepared by two threads.
template <class Sampler>
auto make_loader(const data::datasets::CIFAR10& images, Sampler sampler, size_t batch_size) {
  auto dataset = images.map(transforms::Normalize<>({0.5, 0.5, 0.5}, {0.5, 0.5, 0.5}))
                     .map(transforms::Stack<>());
  return data::make_data_loader(std::move(dataset), std::move(sampler),
                                data::DataLoaderOptions().batch_size(batch_size).workers(2));
}

// Return the checkpoint file of an unfinished training, next to the output file.
std::string checkpoint_file(const Options& options, const std::string& what) {
  std::filesystem::path file = options.out;
  return file.replace_filename(file.stem().string() + what + ".pth").string();
}

// Return 0, or the exit code after Ctrl-C.
int train(Net& net, const Images& images, const Options& options, Device device) {
  nn::CrossEntropyLoss criterion;
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(options.lr).momentum(0.9));

  const size_t size = training::count_used(images.train, options);
  training::Position at = training::begin(options, size, *net, optimizer);
  const size_t done = at.step * options.batch_size;
  auto trainloader =
      make_loader(images.train, training::Order(size, /*shuffle=*/true, done), options.batch_size);
  const size_t steps = training::count_steps(size, options);
  const AutocastGuard autocast(device, kBFloat16, !options.amp.empty());
  const training::Ranks& ranks = training::Ranks::of_process();
  const auto parallel = ranks.train(net.ptr());
  const terminal::Interrupt interrupt;

  // loop over the images several times
  for (; at.epoch < options.epochs; at = training::Position::at_epoch(at.epoch + 1)) {
    terminal::Progress progress(fmt::format("epoch {}/{}", at.epoch + 1, options.epochs), steps,
                                static_cast<size_t>(at.step));
    for (auto& batch : *trainloader) {
      // get the inputs, on the device
      Tensor inputs = batch.data.to(device), labels = batch.target.to(device);

      // zero the parameter gradients
      optimizer.zero_grad();

      // forward + backward + optimize
      Tensor outputs = net(inputs);
      Tensor loss = criterion(outputs, labels);
      loss = ranks.weighted(loss, ranks.share(training::count_in_step(size, options, at.step)));
      loss.backward();
      optimizer.step();

      // print statistics
      loss = ranks.mean(loss);
      at.running_loss += loss.item<double>();
      progress.step(batch.data.size(0), [&] { return loss.item<double>(); });
      if (++at.step % options.log_every == 0) {
        progress.clear();
        fmt::print("[{}, {:5d}] loss: {:.3f}\n", at.epoch + 1, at.step,
                   at.running_loss / static_cast<double>(options.log_every));
        at.running_loss = 0.0;
      }

      if (options.save_every > 0 && at.step % options.save_every == 0) {
        training::save_checkpoint(checkpoint_file(options, "_latest"), at, *net, optimizer, options,
                                  size);
      }
      if (ranks.any(interrupt.requested())) {
        progress.clear();
        const std::string file = checkpoint_file(options, "_interrupted");
        training::save_checkpoint(file, at, *net, optimizer, options, size);
        return training::report_interrupt(file, at, options);
      }
    }
  }
  fmt::print("Finished Training\n");
  return 0;
}

void test(Net& net, const Images& images, const Options& options, Device device) {
  const size_t size = training::count_used(images.test, options);
  auto testloader = make_loader(images.test, samplers::SequentialSampler(size), options.batch_size);

  std::vector<int64_t> class_correct(images.classes.size()), class_total(images.classes.size());
  int64_t correct = 0;
  const AutocastGuard autocast(device, kBFloat16, !options.amp.empty());
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
    if (class_total[c] == 0) continue;  // no image of this class within --limit
    fmt::print("Accuracy of {:>5} : {:2d} %\n", images.classes[c],
               100 * class_correct[c] / class_total[c]);
  }
}

int run(const Options& options) {
  const Device device(!options.device.empty() ? options.device
                      : cuda::is_available()  ? "cuda:0"
                                              : "cpu");
  manual_seed(options.seed);
  Net net;
  net.to(device);

  const Images images = images::find_images(options.images, options.seed);
  fmt::print("Training with {} on {}\n", device.str(), images.source);
  if (const int exit_code = train(net, images, options, device)) return exit_code;

  if (training::Ranks::of_process().is_first()) {  // all ranks have the same network
    save(net->state_dict(), options.out);

    net = Net();
    net->load_state_dict(load(options.out));
    net.to(device);
  }
  test(net, images, options, device);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return terminal::run_program("quickstart",
                               [&] { return run(quickstart::parse_options(argc, argv)); });
}
