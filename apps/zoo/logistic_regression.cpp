// Logistic regression: a line that separates two overlapping clouds of points. The accuracy of the
// best line is known and printed for comparison.
#include <ambit/ambit.h>

#include <fmt/format.h>

#include <cmath>

#include "terminal/program.h"
#include "training/steps.h"

namespace {

using namespace ambit;

constexpr int64_t kPoints = 20'000;
constexpr double kDistance = 3;  // distance of the clouds' centres, in standard deviations

struct Points {
  Tensor x, y;  // float32 [N,2]; [N,1], 1 for the second cloud, else 0
};

// The clouds are on both sides of the origin, along the diagonal.
Points draw(int64_t n) {
  const Tensor y = randint(2, {n, 1}, kInt64).to(kFloat32);
  return {randn({n, 2}) + (y - 0.5) * (kDistance / std::sqrt(2)), y};
}

int run(const training::StepOptions& options) {
  const Device device = options.chosen_device();
  const Points train = draw(kPoints), fresh = draw(kPoints);
  const Tensor x = train.x.to(device), y = train.y.to(device);

  nn::Linear model = nn::Linear(2, 1).to(device);
  nn::BCEWithLogitsLoss criterion;
  optim::SGD optimizer(model->parameters(), options.lr);

  training::Steps steps(options, *model, {&optimizer});
  while (steps.next()) {
    const Tensor chosen = randint(kPoints, {options.batch_size}, kInt64).to(device);
    optimizer.zero_grad();
    Tensor loss = criterion(model(x.index_select(0, chosen)), y.index_select(0, chosen));
    loss.backward();
    optimizer.step();
    steps.done(loss, options.batch_size);
  }

  const NoGradGuard no_grad;
  const Tensor guesses = (model(fresh.x.to(device)) > 0).to(kFloat32).cpu();
  steps.report("test accuracy", (guesses == fresh.y).to(kFloat32).mean().item<double>());
  // The best accuracy is the normal distribution function at half the distance.
  steps.report("accuracy of the best line", 0.5 * std::erfc(-kDistance / 2 / std::sqrt(2)));
  return steps.finish();
}

}  // namespace

int main(int argc, char** argv) {
  return terminal::run_program("logistic_regression", [&] {
    training::StepOptions options{.name = "logistic_regression",
                                  .about = "Find the line that separates two clouds of points.",
                                  .unit = "points",
                                  .batch = "points",
                                  .steps = 500,
                                  .batch_size = 64,
                                  .lr = 0.5};
    options.parse(argc, argv);
    return run(options);
  });
}
