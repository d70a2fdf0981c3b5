// A variational autoencoder learns to draw digits: a code of 20 normally distributed numbers, so
// that random codes give new digits. They are written to vae.png. Source: Kingma & Welling 2013,
// arXiv:1312.6114; PyTorch's example vae.
#include <ambit/ambit.h>

#include <fmt/format.h>

#include <tuple>

#include "terminal/program.h"
#include "training/steps.h"
#include "zoo/shared/digits.h"
#include "zoo/shared/pictures.h"

namespace {

using namespace ambit;
namespace F = nn::functional;

constexpr int64_t kPixels = 28 * 28, kHidden = 400, kLatent = 20;

struct VAEImpl : nn::Module {
  nn::Linear fc1{register_module("fc1", nn::Linear(kPixels, kHidden))};
  nn::Linear fc21{register_module("fc21", nn::Linear(kHidden, kLatent))};
  nn::Linear fc22{register_module("fc22", nn::Linear(kHidden, kLatent))};
  nn::Linear fc3{register_module("fc3", nn::Linear(kLatent, kHidden))};
  nn::Linear fc4{register_module("fc4", nn::Linear(kHidden, kPixels))};

  /// Pictures [N,1,28,28] -> mean and log variance of their codes, [N,kLatent] each.
  std::tuple<Tensor, Tensor> encode(const Tensor& x) {
    const Tensor h = F::relu(fc1(x.flatten(1)));
    return {fc21(h), fc22(h)};
  }
  /// Codes [N,kLatent] -> logits of the pixels, [N,1,28,28].
  Tensor decode(const Tensor& z) { return fc4(F::relu(fc3(z))).view({-1, 1, 28, 28}); }

  /// Return the loss of pictures [N,1,28,28], a mean over N: the reconstruction error plus the
  /// Kullback-Leibler divergence of their codes from the normal distribution.
  Tensor loss(const Tensor& x) {
    const auto [mu, logvar] = encode(x);
    const Tensor noise = randn(mu.sizes()).to(x.device());  // CPU generator: equal on every device
    const Tensor logits = decode(mu + noise * exp(0.5 * logvar));
    const Tensor back = F::binary_cross_entropy_with_logits(logits, x, {}, Reduction::sum);
    const Tensor divergence = -0.5 * (1 + logvar - mu.square() - logvar.exp()).sum();
    return (back + divergence) / x.size(0);
  }
};
AMBIT_MODULE(VAE);

int run(const training::StepOptions& options) {
  const Device device = options.chosen_device();
  const zoo::DigitData digits = zoo::find_digits(options.data, options.seed);
  VAE net = VAE().to(device);
  optim::Adam optimizer(net->parameters(), optim::AdamOptions(options.lr));
  fmt::print("Training on {} with {}\n", device.str(), digits.source);

  training::Steps steps(options, *net, {&optimizer});
  while (steps.next()) {
    const Tensor x = digits.train.batch(options.batch_size).data.to(device);
    optimizer.zero_grad();
    Tensor loss = net->loss(x);
    loss.backward();
    optimizer.step();
    steps.done(loss, x.size(0));
  }

  const NoGradGuard no_grad;
  const Tensor x = digits.test.first(1000).data.to(device);
  steps.report("test loss", [&] { return net->loss(x).item<double>(); });
  if (const int exit_code = steps.finish()) return exit_code;
  const Tensor drawn = net->decode(randn({64, kLatent}).to(device)).sigmoid();
  zoo::write_png(options.file(".png"), zoo::grid(drawn.cpu(), 16));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return terminal::run_program("vae", [&] {
    training::StepOptions options{
        .name = "vae",
        .about = "Train a variational autoencoder on digits; draw new ones into vae.png.",
        .data_help = zoo::kDigitsHelp,
        .steps = 2000,
        .batch_size = 128,
        .may_quantize = true};
    options.parse(argc, argv);
    return run(options);
  });
}
