// Style transfer: optimise a picture so that a convolutional network has the same features as for
// the content picture, and the same feature correlations as for the style picture. The network is
// small and random, so nothing is downloaded; random filters suffice for textures (Ustyuzhaninov et
// al. 2016, arXiv:1606.00021), while VGG's would capture more than textures. Source: Gatys et al.
// 2015, arXiv:1508.06576.
#include <ambit/ambit.h>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "terminal/program.h"
#include "training/steps.h"
#include "zoo/shared/pictures.h"

namespace {

using namespace ambit;
namespace F = nn::functional;

constexpr int64_t kSide = 96;  // size of the generated pictures, in pixels
constexpr double kStyleWeight = 1e3;

// Random filters of three sizes, applied to the picture and to two downsampled ones.
struct EyeImpl : nn::Module {
  nn::ModuleList filters{
      register_module("filters", nn::ModuleList(filter(3, 64), filter(7, 64), filter(11, 64)))};

  static nn::Conv2d filter(int64_t size, int64_t count) {
    return nn::Conv2d(nn::Conv2dOptions(3, count, size).padding(size / 2));
  }
  /// Picture [1,3,H,W] -> features of each filter size at each picture size: [1,64,h,w], nine
  /// times.
  std::vector<Tensor> forward(Tensor x) {
    std::vector<Tensor> seen;
    for (int size = 0; size < 3; ++size, x = F::avg_pool2d(x, 2)) {
      for (size_t i = 0; i < filters->size(); ++i) {
        seen.push_back(filters->at<nn::Conv2dImpl>(i).forward_map(x, UnaryOp::relu));
      }
    }
    return seen;
  }
};
AMBIT_MODULE(Eye);

// Gram matrix: correlations of features at the same positions, [1,C,H,W] -> [C,C].
Tensor gram(const Tensor& features) {
  const Tensor f = features.flatten(2).squeeze(0);
  return f.mm(f.t()) / f.size(1);
}

// The optimised picture: a parameter, so that an optimizer updates it and a checkpoint stores it.
struct PaintingImpl : nn::Module {
  explicit PaintingImpl(const Tensor& start) : pixels(register_parameter("pixels", start)) {}
  Tensor pixels;  // [1,3,H,W]
};
AMBIT_MODULE(Painting);

// A disc in front of a horizon.
Tensor draw_content() {
  const Tensor at = linspace(-1, 1, kSide), x = at.view({1, kSide}), y = at.view({kSide, 1});
  const Tensor disc = ((x.square() + (y + 0.1).square()) < 0.3).to(kFloat32);
  const Tensor ground = (y > 0.4).to(kFloat32).expand({kSide, kSide});
  return stack({disc, 0.7 * disc + 0.3 * ground, 0.6 * (1 - disc) * (1 - ground)});
}

// Crossing waves of two colours.
Tensor draw_style() {
  const Tensor at = arange(kSide).to(kFloat32), x = at.view({1, kSide}), y = at.view({kSide, 1});
  const Tensor a = ((x + y) * 0.5 + 2 * (0.2 * y).sin()).sin() * 0.5 + 0.5;
  const Tensor b = ((x - y) * 0.3).sin() * 0.5 + 0.5;
  return stack({a, 0.5 * a * b + 0.2, b});
}

Tensor picture(const std::string& path, const Tensor& drawn) {
  return (path.empty() ? drawn : zoo::read_png(path)).unsqueeze(0);
}

int run(const training::StepOptions& options, const std::string& content_path,
        const std::string& style_path) {
  const Device device = options.chosen_device();
  const Tensor content = picture(content_path, draw_content()).to(device);
  const Tensor style = picture(style_path, draw_style()).to(device);
  Eye eye = Eye().to(device);
  for (Tensor& p : eye->parameters()) p.set_requires_grad(false);
  const std::vector<Tensor> wanted_content = eye(content);
  std::vector<Tensor> wanted_style;
  for (const Tensor& seen : eye(style)) wanted_style.push_back(gram(seen));

  Painting painting = Painting(content.clone()).to(device);
  optim::Adam optimizer(painting->parameters(), optim::AdamOptions(options.lr));
  training::Steps steps(options, *painting, {&optimizer});
  while (steps.next()) {
    const std::vector<Tensor> seen = eye(painting->pixels);
    optimizer.zero_grad();
    Tensor loss = F::mse_loss(seen.back(), wanted_content.back());
    for (size_t i = 0; i < seen.size(); ++i) {
      loss = loss + kStyleWeight * F::mse_loss(gram(seen[i]), wanted_style[i]);
    }
    loss.backward();
    optimizer.step();
    const NoGradGuard no_grad;
    painting->pixels.clamp_(0, 1);
    steps.done(loss, 1);
  }
  if (const int exit_code = steps.finish()) return exit_code;
  zoo::write_png(options.file(".png"), painting->pixels[0]);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return terminal::run_program("style_transfer", [&] {
    training::StepOptions options{
        .name = "style_transfer",
        .about = "Paint the content of one picture in the style of another: style_transfer.png.",
        .batch = "",
        .steps = 300,
        .lr = 0.02};
    std::string content, style;
    options.parse(argc, argv, [&](CLI::App& app) {
      app.add_option("--content", content, "a PNG file (default: one that is drawn here)");
      app.add_option("--style", style, "a PNG file (default: one that is drawn here)");
    });
    return run(options, content, style);
  });
}
