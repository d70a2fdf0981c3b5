// A bidirectional LSTM classifies digits, reading them row by row.
#include <ambit/ambit.h>

#include <fmt/format.h>

#include <tuple>

#include "terminal/program.h"
#include "training/steps.h"
#include "zoo/shared/digits.h"

namespace {

using namespace ambit;
namespace F = nn::functional;

constexpr int64_t kRow = 28, kHidden = 64;

struct ClassifierImpl : nn::Module {
  nn::LSTM lstm{
      register_module("lstm", nn::LSTM(nn::LSTMOptions(kRow, kHidden).bidirectional(true)))};
  nn::Linear head{register_module("head", nn::Linear(2 * kHidden, 10))};

  /// Pictures [N,1,28,28] -> logits [N,10].
  Tensor forward(const Tensor& x) {
    const Tensor rows = x.squeeze(1).transpose(0, 1);  // [28,N,28]
    const auto [output, state] = lstm(rows);
    const Tensor last = std::get<0>(state);  // [2,N,kHidden]: after each direction's last row
    return head(cat({last[0], last[1]}, 1));
  }
};
AMBIT_MODULE(Classifier);

int run(const training::StepOptions& options) {
  const Device device = options.chosen_device();
  const zoo::DigitData digits = zoo::find_digits(options.data, options.seed);
  Classifier net = Classifier().to(device);
  optim::Adam optimizer(net->parameters(), optim::AdamOptions(options.lr));
  fmt::print("Training on {} with {}\n", device.str(), digits.source);

  training::Steps steps(options, *net, {&optimizer});
  while (steps.next()) {
    const auto [x, y] = digits.train.batch(options.batch_size);
    optimizer.zero_grad();
    Tensor loss = F::cross_entropy(net(x.to(device)), y.to(device));
    loss.backward();
    optimizer.step();
    steps.done(loss, x.size(0));
  }

  net->eval();
  const NoGradGuard no_grad;
  steps.report("test accuracy", [&] {
    const auto [x, y] = digits.test.first(1000);
    return (net(x.to(device)).argmax(1).cpu() == y).to(kFloat32).mean().item<double>();
  });
  return steps.finish();
}

}  // namespace

int main(int argc, char** argv) {
  return terminal::run_program("bilstm_mnist", [&] {
    training::StepOptions options{.name = "bilstm_mnist",
                                  .about = "Train a bidirectional LSTM on digits, then test it.",
                                  .data_help = zoo::kDigitsHelp,
                                  .steps = 1000,
                                  .batch_size = 64,
                                  .lr = 3e-3,
                                  .may_quantize = true};
    options.parse(argc, argv);
    return run(options);
  });
}
