// Linear regression: recovers the weights of a linear function from noisy samples.
#include <ambit/ambit.h>

#include <fmt/format.h>

#include "terminal/program.h"
#include "training/steps.h"

namespace {

using namespace ambit;

constexpr int64_t kInputs = 8, kSamples = 10'000;
constexpr double kNoise = 0.1;  // standard deviation

int run(const training::StepOptions& options) {
  const Device device = options.chosen_device();
  const Tensor true_weight = randn({1, kInputs}).to(device), true_bias = randn({1}).to(device);
  const Tensor x = randn({kSamples, kInputs}).to(device);
  const Tensor y =
      nn::functional::linear(x, true_weight, true_bias) + kNoise * randn({kSamples, 1}).to(device);

  nn::Linear model = nn::Linear(kInputs, 1).to(device);
  nn::MSELoss criterion;
  optim::SGD optimizer(model->parameters(), options.lr);

  training::Steps steps(options, *model, {&optimizer});
  while (steps.next()) {
    const Tensor chosen = randint(kSamples, {options.batch_size}, kInt64).to(device);
    optimizer.zero_grad();
    Tensor loss = criterion(model(x.index_select(0, chosen)), y.index_select(0, chosen));
    loss.backward();
    optimizer.step();
    steps.done(loss, options.batch_size);
  }

  const NoGradGuard no_grad;
  const Tensor errors = cat({(model->weight - true_weight).flatten(), model->bias - true_bias});
  steps.report("largest error of a weight", errors.abs().max().item<double>());
  return steps.finish();
}

}  // namespace

int main(int argc, char** argv) {
  return terminal::run_program("linear_regression", [&] {
    training::StepOptions options{.name = "linear_regression",
                                  .about = "Find the weights of a linear function from samples.",
                                  .unit = "samples",
                                  .batch = "samples",
                                  .steps = 500,
                                  .batch_size = 64,
                                  .lr = 0.05};
    options.parse(argc, argv);
    return run(options);
  });
}
