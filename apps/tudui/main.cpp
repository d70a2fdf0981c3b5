// The lesson "Training on the GPU" in C++: a convolutional network learns CIFAR-10 in ten epochs;
// after each one it is tested and saved, and curves are written for TensorBoard. ../lessons.md
// compares the code with the lesson's.
#include <ambit/ambit.h>

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "images/images.h"
#include "messages.h"
#include "options.h"
#include "terminal/interrupt.h"
#include "terminal/program.h"
#include "terminal/progress.h"
#include "training/checkpoint.h"
#include "training/order.h"
#include "training/ranks.h"

namespace {

using namespace ambit;
using data::datasets::CIFAR10;
using images::Images;
using tudui::Method;
using tudui::Options;

struct TuduiImpl : nn::Module {
  nn::Sequential model{register_module(
      "model",
      nn::Sequential(nn::Conv2d(3, 32, 5, 1, 2), nn::MaxPool2d(2), nn::Conv2d(32, 32, 5, 1, 2),
                     nn::MaxPool2d(2), nn::Conv2d(32, 64, 5, 1, 2), nn::MaxPool2d(2), nn::Flatten(),
                     nn::Linear(64 * 4 * 4, 64), nn::Linear(64, 10)))};

  Tensor forward(const Tensor& x) { return model->forward(x); }
};
AMBIT_MODULE(Tudui);

// Moves tensors and modules to the training device, in one of the lesson's two ways.
class Mover {
 public:
  explicit Mover(const Options& options)
      : method_(options.method),
        device_(!options.device.empty() ? Device(options.device)
                : cuda::is_available()  ? Device("cuda:0")
                                        : kCPU) {}
  Device device() const { return (*this)(Tensor(zeros({}))).device(); }
  template <class T>
  T operator()(T value) const {
    if (method_ == Method::to) return value.to(device_);
    if (cuda::is_available()) value = value.cuda();
    return value;
  }

 private:
  Method method_;
  Device device_;
};

// Return batches of images in [0, 1] and labels, in the given order, prepared by two threads.
auto make_loader(CIFAR10 images, training::Order order, size_t batch_size) {
  return data::make_data_loader(images.map(data::transforms::Stack<>()), std::move(order),
                                data::DataLoaderOptions().batch_size(batch_size).workers(2));
}
using Loader = decltype(make_loader(std::declval<CIFAR10>(), std::declval<training::Order>(), 1));

// The lesson's script. Everything that moves to the GPU passes through `moved_`.
class Training {
 public:
  Training(const Options& options, const Images& images)
      : options_(options),
        images_(images),
        size_(training::count_used(images.train, options)),
        steps_(training::count_steps(size_, options)),
        at_(training::begin(options, size_, *tudui_, optimizer_)),
        loader_(make_loader(images.train,
                            training::Order(size_, options.shuffle, at_.step * options.batch_size),
                            options.batch_size)) {
    if (ranks_.is_first()) writer_.emplace(options.logs);
  }

  // Return the program's exit code.
  int run() {
    const AutocastGuard autocast(moved_.device(), kBFloat16, !options_.amp.empty());
    const terminal::Interrupt interrupt;
    while (at_.epoch < options_.epochs) {
      const int64_t i = at_.epoch;
      fmt::print(fmt::runtime(text_.epoch_begins), i + 1);
      if (!train_epoch(interrupt)) {
        return training::report_interrupt(save_as("tudui_interrupted.pth"), at_, options_);
      }
      test();
      at_ = training::Position::at_epoch(i + 1);
      const std::string file = save_as(fmt::format("tudui_{}.pth", i));
      fmt::print(fmt::runtime(text_.saved));
      if (ranks_.any(interrupt.requested()) && at_.epoch < options_.epochs) {
        return training::report_interrupt(file, at_, options_);
      }
    }
    if (writer_) writer_->close();
    return 0;
  }

 private:
  // Return true if the epoch is complete, false after Ctrl-C.
  bool train_epoch(const terminal::Interrupt& interrupt) {
    terminal::Progress progress(fmt::format("epoch {}/{}", at_.epoch + 1, options_.epochs), steps_,
                                static_cast<size_t>(at_.step));
    tudui_->train();
    for (auto& batch : *loader_) {
      Tensor imgs = moved_(batch.data), targets = moved_(batch.target);
      Tensor outputs = tudui_(imgs);
      Tensor loss = loss_fn_(outputs, targets);

      const auto share = ranks_.share(training::count_in_step(size_, options_, at_.step));
      loss = ranks_.weighted(loss, share);
      optimizer_.zero_grad();
      loss.backward();
      optimizer_.step();

      ++at_.step;
      progress.step(batch.data.size(0), [&] { return loss.item<double>(); });
      const int64_t total_train_step = at_.epoch * steps_ + at_.step;
      if (total_train_step % options_.log_every == 0) {
        progress.clear();
        loss = ranks_.mean(loss);
        const std::chrono::duration<double> elapsed = Clock::now() - start_time_;
        fmt::print("{:.3f}\n", elapsed.count());
        fmt::print(fmt::runtime(text_.train_loss), total_train_step, loss.item<float>());
        if (writer_) writer_->add_scalar("train_loss", loss.item(), total_train_step);
      }
      if (options_.save_every > 0 && at_.step % options_.save_every == 0) {
        save_as("tudui_latest.pth");
      }
      if (ranks_.any(interrupt.requested())) return false;
    }
    return true;
  }

  void test() {
    const size_t size = training::count_used(images_.test, options_);
    auto loader =
        make_loader(images_.test, training::Order(size, /*shuffle=*/false), options_.batch_size);
    double total_test_loss = 0;
    int64_t total_correct = 0, step = 0;
    tudui_->eval();
    NoGradGuard no_grad;
    for (auto& batch : *loader) {
      Tensor imgs = moved_(batch.data), targets = moved_(batch.target);
      const double weight = ranks_.share(training::count_in_step(size, options_, step++)).weight;
      if (weight == 0) continue;
      Tensor outputs = tudui_(imgs);
      total_test_loss += loss_fn_(outputs, targets).item<double>() * weight;
      total_correct += (outputs.argmax(1) == targets).sum().item<int64_t>();
    }
    total_test_loss = ranks_.sum(total_test_loss) / ranks_.size();
    total_correct = static_cast<int64_t>(ranks_.sum(static_cast<double>(total_correct)));
    const double accuracy = static_cast<double>(total_correct) / static_cast<double>(size);
    fmt::print(fmt::runtime(text_.test_loss), total_test_loss);
    fmt::print(fmt::runtime(text_.test_accuracy), accuracy);
    if (!writer_) return;
    writer_->add_scalar("test_loss", total_test_loss, at_.epoch);
    writer_->add_scalar("test_accuracy", accuracy, at_.epoch);
  }

  std::string save_as(const std::string& name) const {
    const std::string file = (std::filesystem::path(options_.out) / name).string();
    training::save_checkpoint(file, at_, *tudui_, optimizer_, options_, size_);
    return file;
  }

  using Clock = std::chrono::steady_clock;

  const Options& options_;
  const Images& images_;
  const tudui::Messages& text_ = tudui::messages(options_.language);
  const Mover moved_{options_};
  const training::Ranks& ranks_ = training::Ranks::of_process();

  Tudui tudui_ = moved_(Tudui());
  nn::CrossEntropyLoss loss_fn_ = moved_(nn::CrossEntropyLoss());
  optim::SGD optimizer_{tudui_->parameters(), options_.lr};

  const size_t size_;    // images
  const int64_t steps_;  // batches per epoch
  training::Position at_;
  std::unique_ptr<distributed::DataParallel> parallel_ = ranks_.train(tudui_.ptr());
  Loader loader_;
  std::optional<tensorboard::SummaryWriter> writer_;  // on rank 0
  const Clock::time_point start_time_ = Clock::now();
};

int run(const Options& options) {
  manual_seed(options.seed);
  const Images images = images::find_images(options.images, options.seed);
  const tudui::Messages& text = tudui::messages(options.language);
  fmt::print(fmt::runtime(text.train_size), training::count_used(images.train, options));
  fmt::print(fmt::runtime(text.test_size), training::count_used(images.test, options));
  return Training(options, images).run();
}

}  // namespace

int main(int argc, char** argv) {
  return terminal::run_program("tudui", [&] { return run(tudui::parse_options(argc, argv)); });
}
