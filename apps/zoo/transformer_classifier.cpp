// A transformer encoder classifies digits as sequences of 49 patches: a small vision transformer.
// Source: Dosovitskiy et al. 2020, arXiv:2010.11929.
#include <ambit/ambit.h>

#include <fmt/format.h>

#include "terminal/program.h"
#include "training/steps.h"
#include "zoo/shared/digits.h"

namespace {

using namespace ambit;
namespace F = nn::functional;

constexpr int64_t kPatch = 4, kPatches = 7 * 7, kWidth = 64, kHeads = 4, kLayers = 2;

struct ClassifierImpl : nn::Module {
  nn::Linear embed{register_module("embed", nn::Linear(kPatch* kPatch, kWidth))};
  Tensor positions = register_parameter("positions", 0.1 * randn({kPatches, 1, kWidth}));
  nn::TransformerEncoder encoder{register_module(
      "encoder",
      nn::TransformerEncoder(nn::TransformerEncoderOptions(
          nn::TransformerEncoderLayerOptions(kWidth, kHeads).dim_feedforward(2 * kWidth).dropout(0),
          kLayers)))};
  nn::Linear head{register_module("head", nn::Linear(kWidth, 10))};

  /// Pictures [N,1,28,28] -> logits [N,10].
  Tensor forward(const Tensor& x) {
    const int64_t n = x.size(0);
    const Tensor patches = x.view({n, 7, kPatch, 7, kPatch})
                               .permute({1, 3, 0, 2, 4})
                               .reshape({kPatches, n, kPatch * kPatch});
    return head(encoder(embed(patches) + positions).mean({0}));
  }
};
AMBIT_MODULE(Classifier);

int run(const training::StepOptions& options) {
  const Device device = options.chosen_device();
  const zoo::DigitData digits = zoo::find_digits(options.data, options.seed);
  Classifier net = Classifier().to(device);
  optim::AdamW optimizer(net->parameters(), optim::AdamWOptions(options.lr));
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
  return terminal::run_program("transformer_classifier", [&] {
    training::StepOptions options{.name = "transformer_classifier",
                                  .about = "Train a transformer encoder on digits, then test it.",
                                  .data_help = zoo::kDigitsHelp,
                                  .steps = 1500,
                                  .batch_size = 64,
                                  .may_quantize = true};
    options.parse(argc, argv);
    return run(options);
  });
}
