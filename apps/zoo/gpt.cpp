// A GPT learns to generate text by characters, from a file or from this project's README files. At
// the end it prints a page, and writes it to gpt.txt.
#include <ambit/ambit.h>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <numbers>

#include "terminal/numbers.h"
#include "terminal/program.h"
#include "training/steps.h"
#include "zoo/models/gpt.h"
#include "zoo/shared/text.h"

namespace {

using namespace ambit;
using zoo::GPT, zoo::GPTConfig, zoo::Text;
namespace F = nn::functional;

Tensor loss_of(GPT& net, const Tensor& x, const Tensor& y) {
  return F::cross_entropy(net(x).flatten(0, 1), y.flatten());
}

// Learning rate: linear warm-up in the first tenth of the training, then a cosine down to a tenth.
double rate(const training::StepOptions& options, int64_t step) {
  const double done = static_cast<double>(step) / static_cast<double>(options.steps);
  if (done < 0.1) return options.lr * (done / 0.1 + 0.01);
  return options.lr * (0.55 + 0.45 * std::cos(std::numbers::pi * (done - 0.1) / 0.9));
}

int run(const training::StepOptions& options, GPTConfig config) {
  const Device device = options.chosen_device();
  const Text text(options.data);
  config.vocabulary = text.vocabulary();
  GPT net = GPT(config).to(device);
  optim::AdamW optimizer(net->parameters(), optim::AdamWOptions(options.lr).betas({0.9, 0.99}));
  fmt::print("Training on {}: {}, {} characters, {} different ones\n", device.str(), text.source(),
             text.size(), text.vocabulary());

  training::Steps steps(options, *net, {&optimizer});
  while (steps.next()) {
    const auto [x, y] = text.batch(options.batch_size, config.block);
    optimizer.param_groups()[0].options().set_lr(rate(options, steps.count()));
    optimizer.zero_grad();
    Tensor loss = loss_of(net, x.to(device), y.to(device));
    loss.backward();
    nn::utils::clip_grad_norm_(net->parameters(), 1);
    optimizer.step();
    steps.done(loss, x.numel());
  }

  net->eval();
  steps.report("held-out loss", [&] {
    const NoGradGuard no_grad;
    const auto [x, y] = text.held_out(64, config.block);
    return loss_of(net, x.to(device), y.to(device)).item<double>();
  });
  if (const int exit_code = steps.finish()) return exit_code;

  const std::string page = zoo::write_on(text, "\n", 500, 0.8, [&](const Tensor& ids) {
    const int64_t n = ids.size(1), seen = std::min(n, config.block);
    return net(ids.narrow(1, n - seen, seen).to(device)).select(1, seen - 1);
  });
  fmt::print("{}\n", page);
  std::ofstream(options.file(".txt")) << page << '\n';
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return terminal::run_program("gpt", [&] {
    training::StepOptions options{
        .name = "gpt",
        .about = "Train a GPT that writes character by character; then let it write a page.",
        .unit = "characters",
        .batch = "pieces of text",
        .data_help = "a text file (default: ambit's own README files)",
        .lr = 2e-3,
        .may_quantize = true};
    GPTConfig config;
    options.parse(argc, argv, [&](CLI::App& app) {
      const auto size = terminal::whole_number(1, 1 << 16);
      for (const auto& [name, value, help] :
           {std::tuple("--layers", &config.layers, "transformer blocks"),
            std::tuple("--heads", &config.heads, "attention heads, a divisor of the width"),
            std::tuple("--width", &config.width, "features of a character"),
            std::tuple("--block", &config.block, "characters of context")}) {
        app.add_option(name, *value, help)->capture_default_str()->check(size);
      }
    });
    return run(options, config);
  });
}
