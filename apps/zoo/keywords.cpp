// A keyword spotter: a convolutional network classifies sounds of a second by their log-mel
// spectrograms. The sounds are generated tones, or WAV files in one folder per class, such as
// those of Speech Commands. keywords.png shows a spectrogram of each class.
#include <ambit/ambit.h>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

#include "terminal/numbers.h"
#include "terminal/program.h"
#include "training/steps.h"
#include "zoo/models/keywords.h"
#include "zoo/shared/pictures.h"
#include "zoo/shared/sounds.h"

namespace {

using namespace ambit;
using zoo::KeywordNet, zoo::Sounds;
namespace F = nn::functional;

// Hold out the last fifth of each class, in the order of the files' names: in Speech Commands
// these begin with the speaker.
std::pair<Sounds, Sounds> split(const Sounds& sounds) {
  std::vector<Tensor> train, test;
  for (size_t c = 0; c < sounds.classes.size(); ++c) {
    const Tensor rows = (sounds.labels == static_cast<int64_t>(c)).nonzero().squeeze(1);
    const int64_t held_out = rows.size(0) / 5;
    train.push_back(rows.narrow(0, 0, rows.size(0) - held_out));
    test.push_back(rows.narrow(0, rows.size(0) - held_out, held_out));
  }
  return {sounds.at(cat(train)), sounds.at(cat(test))};
}

Tensor signals(const Sounds& sounds, Device device) {
  return sounds.samples.to(device).to(kFloat32) / 32768;
}

double accuracy(KeywordNet& net, const Sounds& test, Device device) {
  const NoGradGuard no_grad;
  net->eval();
  const int64_t count = test.labels.size(0);
  int64_t correct = 0;
  for (int64_t first = 0; first < count; first += 100) {
    const Sounds batch = test.at(arange(first, std::min(first + 100, count)));
    const Tensor guesses = net(signals(batch, device)).argmax(1);
    correct += (guesses == batch.labels.to(device)).sum().item<int64_t>();
  }
  return static_cast<double>(correct) / static_cast<double>(count);
}

// Paint the first sound of nine classes, as decibels below the loudest point, from black (40)
// through red to white: [classes,3,frequencies,times], high frequencies at the top.
Tensor spectrograms(const Sounds& test) {
  std::vector<Tensor> rows;
  for (int64_t c = 0; c < std::min<int64_t>(9, std::ssize(test.classes)); ++c) {
    rows.push_back((test.labels == c).nonzero()[0]);
  }
  const int64_t n_fft = test.rate * 32 / 1000;
  const Tensor spectrum =
      stft(signals(test.at(cat(rows)), kCPU), n_fft, n_fft / 4, {}, hann_window(n_fft), true,
           "reflect", false, true, /*return_complex=*/true);
  const Tensor decibels = (spectrum.abs().square() + 1e-10).log10() * 10;
  // Few colours, so that the file is small.
  const Tensor light = ((decibels - decibels.amax({1, 2}, true)) / 40 * 16).round() / 16 + 1;
  return stack({light * 2, light * 2 - 0.8, light * 3 - 2}, 1).flip({2});
}

int run(const training::StepOptions& options, int64_t tones) {
  const Device device = options.chosen_device();
  const Sounds sounds =
      options.data.empty() ? zoo::make_tones(tones, options.seed) : zoo::read_sounds(options.data);
  const auto [train, test] = split(sounds);
  fmt::print("Training on {}: {} sounds, {} held out, {} classes: {}\n", device.str(),
             train.labels.size(0), test.labels.size(0), sounds.classes.size(),
             fmt::join(sounds.classes, ", "));
  KeywordNet net = KeywordNet(sounds.rate, static_cast<int64_t>(sounds.classes.size())).to(device);
  optim::Adam optimizer(net->parameters(), optim::AdamOptions(options.lr));

  training::Steps steps(options, *net, {&optimizer});
  while (steps.next()) {
    const double done = static_cast<double>(steps.count()) / static_cast<double>(options.steps);
    optimizer.param_groups()[0].options().set_lr(options.lr * (1 - done));
    const Sounds batch = train.at(randint(train.labels.size(0), {options.batch_size}, kInt64));
    optimizer.zero_grad();
    Tensor loss = F::cross_entropy(net(signals(batch, device)), batch.labels.to(device));
    loss.backward();
    optimizer.step();
    steps.done(loss, options.batch_size);
  }
  steps.report("held-out accuracy", accuracy(net, test, device));
  zoo::write_png(options.file(".png"), zoo::grid(spectrograms(test), 3));
  return steps.finish();
}

}  // namespace

int main(int argc, char** argv) {
  return terminal::run_program("keywords", [&] {
    training::StepOptions options{
        .name = "keywords",
        .about = "Train a keyword spotter on tones or WAV files; draw spectrograms, keywords.png.",
        .unit = "sounds",
        .batch = "sounds",
        .data_help =
            "a folder with a folder of .wav files for each class\n(default: generated "
            "tones; needs libsndfile)",
        .steps = 200,
        .lr = 1e-2};
    int64_t tones = 150;
    options.parse(argc, argv, [&](CLI::App& app) {
      app.add_option("--tones", tones, "generated sounds of each class")
          ->capture_default_str()
          ->check(terminal::whole_number(5, 100000));
    });
    return run(options, tones);
  });
}
