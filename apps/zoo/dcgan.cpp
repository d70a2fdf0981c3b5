// A generative adversarial network: a generator learns to draw digits from noise, a discriminator
// to distinguish them from real ones. Generated digits are written to dcgan.png. Source: Radford et
// al. 2015, arXiv:1511.06434; libtorch's example dcgan.
#include <ambit/ambit.h>

#include <fmt/format.h>

#include "terminal/program.h"
#include "training/steps.h"
#include "zoo/shared/digits.h"
#include "zoo/shared/pictures.h"

namespace {

using namespace ambit;
namespace F = nn::functional;

constexpr int64_t kNoise = 64;  // size of a picture's noise vector

nn::ConvTranspose2d up(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t padding) {
  return nn::ConvTranspose2d(
      nn::ConvTranspose2dOptions(in, out, kernel).stride(stride).padding(padding).bias(false));
}

nn::Conv2d down(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t padding) {
  return nn::Conv2d(nn::Conv2dOptions(in, out, kernel).stride(stride).padding(padding).bias(false));
}

nn::LeakyReLU leaky() { return nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.2)); }

struct DCGANImpl : nn::Module {
  /// Noise [N,kNoise,1,1] -> pictures [N,1,28,28] in [-1, 1].
  nn::Sequential generator{register_module(
      "generator",
      nn::Sequential(up(kNoise, 128, 4, 1, 0), nn::BatchNorm2d(128), nn::ReLU(),  // 4 x 4
                     up(128, 64, 3, 2, 1), nn::BatchNorm2d(64), nn::ReLU(),       // 7 x 7
                     up(64, 32, 4, 2, 1), nn::BatchNorm2d(32), nn::ReLU(),        // 14 x 14
                     up(32, 1, 4, 2, 1), nn::Tanh()))};                           // 28 x 28
  /// Pictures [N,1,28,28] -> logit of the probability that each is real, [N,1,1,1].
  nn::Sequential discriminator{register_module(
      "discriminator",
      nn::Sequential(down(1, 32, 4, 2, 1), leaky(),                          // 14 x 14
                     down(32, 64, 4, 2, 1), nn::BatchNorm2d(64), leaky(),    // 7 x 7
                     down(64, 128, 4, 2, 1), nn::BatchNorm2d(128), leaky(),  // 3 x 3
                     down(128, 1, 3, 1, 0)))};

  DCGANImpl() {  // initialisation of the paper
    for (const auto& p : named_parameters()) {
      if (p.value().dim() == 4) nn::init::normal_(p.value(), 0, 0.02);
    }
  }
};
AMBIT_MODULE(DCGAN);

// Return the loss of logits whose targets are all `truth`.
Tensor loss_of(const Tensor& logits, double truth) {
  return F::binary_cross_entropy_with_logits(logits, full_like(logits, truth));
}

int run(const training::StepOptions& options) {
  const Device device = options.chosen_device();
  const zoo::DigitData digits = zoo::find_digits(options.data, options.seed);
  DCGAN net = DCGAN().to(device);
  const auto adam = optim::AdamOptions(options.lr).betas({0.5, 0.999});
  optim::Adam generator_optimizer(net->generator->parameters(), adam);
  optim::Adam discriminator_optimizer(net->discriminator->parameters(), adam);
  fmt::print("Training on {} with {}\n", device.str(), digits.source);

  const auto noise = [&](int64_t n) { return randn({n, kNoise, 1, 1}).to(device); };
  const Tensor fixed_noise = noise(64);
  training::Steps steps(options, *net, {&generator_optimizer, &discriminator_optimizer});
  while (steps.next()) {
    // Train the discriminator on real and fake pictures.
    discriminator_optimizer.zero_grad();
    const Tensor real = digits.train.batch(options.batch_size).data.to(device) * 2 - 1;
    const Tensor fake = net->generator->forward(noise(options.batch_size));
    Tensor loss = loss_of(net->discriminator->forward(real), 0.9) +
                  loss_of(net->discriminator->forward(fake.detach()), 0);
    loss.backward();
    discriminator_optimizer.step();

    // Train the generator to make pictures that the discriminator classifies as real.
    generator_optimizer.zero_grad();
    loss_of(net->discriminator->forward(fake), 1).backward();
    generator_optimizer.step();
    steps.done(loss, options.batch_size);
  }

  // Compare the mean ink distribution of generated and real digits.
  net->eval();
  const NoGradGuard no_grad;
  const Tensor drawn = (net->generator->forward(fixed_noise).cpu() + 1) / 2;
  const Tensor real = digits.test.first(1000).data;
  const Tensor means = stack({drawn.mean({0}).flatten(), real.mean({0}).flatten()});
  steps.report("correlation of means", corrcoef(means)[0][1].item<double>());
  if (const int exit_code = steps.finish()) return exit_code;
  zoo::write_png(options.file(".png"), zoo::grid(drawn, 16));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return terminal::run_program("dcgan", [&] {
    training::StepOptions options{.name = "dcgan",
                                  .about = "Train a DCGAN on digits; draw new ones into dcgan.png.",
                                  .data_help = zoo::kDigitsHelp,
                                  .batch_size = 64,
                                  .lr = 5e-4};
    options.parse(argc, argv);
    return run(options);
  });
}
