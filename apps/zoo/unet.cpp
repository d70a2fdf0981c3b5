// A U-Net learns to segment discs and squares in noisy pictures. unet.png shows new pictures, the
// true classes, and its predictions.
#include <ambit/ambit.h>

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "terminal/numbers.h"
#include "terminal/program.h"
#include "training/steps.h"
#include "zoo/models/unet.h"
#include "zoo/shared/pictures.h"

namespace {

using namespace ambit;
using zoo::UNet;
namespace F = nn::functional;

constexpr int64_t kSide = 64, kShown = 5;  // pixels; pictures
constexpr int64_t kNothing = 0, kSquare = 1, kDisc = 2, kClasses = 3;

struct Pictures {
  Tensor pixels, classes;  // float32 [N,3,S,S] in [0, 1]; int64 [N,S,S]
};

// Return a mask of a disc or square with random centre and size: bool [N,S,S].
Tensor shape(int64_t n, int64_t kind) {
  const auto uniform = [&](double low, double high) {
    return rand({n, 1, 1}) * (high - low) + low;
  };
  const Tensor at = arange(kSide).to(kFloat32);
  const Tensor x = (at.view({1, 1, kSide}) - uniform(0.2, 0.8) * kSide).abs();
  const Tensor y = (at.view({1, kSide, 1}) - uniform(0.2, 0.8) * kSide).abs();
  const Tensor radius = uniform(0.12, 0.3) * kSide;
  if (kind == kDisc) return x.square() + y.square() < radius.square();
  return maximum(x + zeros_like(y), y + zeros_like(x)) <
         radius * 0.886;  // the square has the area of the disc
}

// Shapes are brighter than the background; their colour does not depend on the class.
Pictures draw(int64_t n) {
  Tensor classes = full({n, kSide, kSide}, kNothing, kInt64);
  Tensor pixels = 0.4 * rand({n, 3, 1, 1}).expand({n, 3, kSide, kSide});
  for (const int64_t kind : {kSquare, kDisc}) {
    const Tensor inside = shape(n, kind);
    classes = where(inside, full({}, kind, kInt64), classes);
    pixels = where(inside.unsqueeze(1), 0.5 + 0.5 * rand({n, 3, 1, 1}), pixels);
  }
  return {(pixels + 0.05 * randn_like(pixels)).clamp(0, 1), classes};
}

// Return the mean over classes of intersection over union.
double mean_iou(const Tensor& guesses, const Tensor& classes) {
  double sum = 0;
  for (int64_t c = 0; c < kClasses; ++c) {
    const Tensor a = guesses == c, b = classes == c;
    sum += (a.logical_and(b).sum().item<double>()) / a.logical_or(b).sum().item<double>();
  }
  return sum / kClasses;
}

// Convert classes [N,S,S] to colours: background black, squares red, discs blue.
Tensor paint(const Tensor& classes) {
  const Tensor colours = tensor({{0.f, 0.f, 0.f}, {0.9f, 0.3f, 0.2f}, {0.2f, 0.5f, 0.9f}});
  return colours.index({classes.cpu()}).permute({0, 3, 1, 2});
}

int run(const training::StepOptions& options, int64_t width) {
  const Device device = options.chosen_device();
  const Pictures fresh = draw(64);
  UNet net = UNet(3, kClasses, width, 3).to(device);
  optim::Adam optimizer(net->parameters(), optim::AdamOptions(options.lr));

  training::Steps steps(options, *net, {&optimizer});
  while (steps.next()) {
    const Pictures batch = draw(options.batch_size);
    optimizer.zero_grad();
    Tensor loss = F::cross_entropy(net(batch.pixels.to(device)), batch.classes.to(device));
    loss.backward();
    optimizer.step();
    steps.done(loss, options.batch_size);
  }

  net->eval();
  const NoGradGuard no_grad;
  const Tensor guesses = net(fresh.pixels.to(device)).argmax(1).cpu();
  steps.report("mean IoU", mean_iou(guesses, fresh.classes));
  if (const int exit_code = steps.finish()) return exit_code;
  const auto row = [](const Tensor& t) { return t.narrow(0, 0, kShown); };
  zoo::write_png(
      options.file(".png"),
      zoo::grid(cat({row(fresh.pixels), row(paint(fresh.classes)), row(paint(guesses))}, 0),
                kShown));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return terminal::run_program("unet", [&] {
    training::StepOptions options{
        .name = "unet",
        .about = "Train a U-Net to find discs and squares; draw its predictions into unet.png.",
        .steps = 400,
        .batch_size = 8,
        .lr = 2e-3};
    int64_t width = 16;
    options.parse(argc, argv, [&](CLI::App& app) {
      app.add_option("--width", width, "features at full size")
          ->capture_default_str()
          ->check(terminal::whole_number(1, 1024));
    });
    return run(options, width);
  });
}
