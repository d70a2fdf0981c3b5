// An LSTM learns to generate text by characters, like zoo/gpt. At the end it prints a page, and
// writes it to lstm.txt.
#include <ambit/ambit.h>

#include <fmt/format.h>

#include <fstream>

#include "terminal/program.h"
#include "training/steps.h"
#include "zoo/models/lstm.h"
#include "zoo/shared/text.h"

namespace {

using namespace ambit;
using zoo::LSTMModel, zoo::Text;
namespace F = nn::functional;

constexpr int64_t kLength = 64;  // characters per piece
constexpr int64_t kWidth = 64, kHidden = 256, kLayers = 1;

// x, y [B,T]; the LSTM expects time first.
Tensor loss_of(LSTMModel& net, const Tensor& x, const Tensor& y) {
  const auto [logits, state] = net(x.t());
  return F::cross_entropy(logits.flatten(0, 1), y.t().flatten());
}

int run(const training::StepOptions& options) {
  const Device device = options.chosen_device();
  const Text text(options.data);
  LSTMModel net = LSTMModel(text.vocabulary(), kWidth, kHidden, kLayers).to(device);
  optim::Adam optimizer(net->parameters(), optim::AdamOptions(options.lr));
  fmt::print("Training on {}: {}, {} characters, {} different ones\n", device.str(), text.source(),
             text.size(), text.vocabulary());

  training::Steps steps(options, *net, {&optimizer});
  while (steps.next()) {
    const auto [x, y] = text.batch(options.batch_size, kLength);
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
    const auto [x, y] = text.held_out(64, kLength);
    return loss_of(net, x.to(device), y.to(device)).item<double>();
  });
  if (const int exit_code = steps.finish()) return exit_code;

  // The state covers the previous characters, so the input is one character at a time.
  std::optional<zoo::LSTMModelImpl::State> state;
  const std::string page = zoo::write_on(text, "\n", 500, 0.7, [&](const Tensor& ids) {
    const auto [logits, next] = net(ids.narrow(1, ids.size(1) - 1, 1).to(device), state);
    state = next;
    return logits.select(0, 0);
  });
  fmt::print("{}\n", page);
  std::ofstream(options.file(".txt")) << page << '\n';
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return terminal::run_program("lstm", [&] {
    training::StepOptions options{
        .name = "lstm",
        .about = "Train an LSTM that writes character by character; then let it write a page.",
        .unit = "characters",
        .batch = "pieces of text",
        .data_help = "a text file (default: ambit's own README files)",
        .lr = 4e-3,
        .may_quantize = true};
    options.parse(argc, argv);
    return run(options);
  });
}
