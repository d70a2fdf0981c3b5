// A small network, written once for every device.
#pragma once

#include <ambit/ambit.h>

struct ClassifierImpl : ambit::nn::Module {
  ambit::nn::Conv2d conv = register_module("conv", ambit::nn::Conv2d(3, 8, 3));
  ambit::nn::Linear fc = register_module("fc", ambit::nn::Linear(8, 10));
  // A buffer, so that to(device) moves it. As a plain member it would stay on the CPU.
  ambit::Tensor mean = register_buffer("mean", ambit::full({3, 1, 1}, 0.5));

  // x: [N, 3, H, W] -> [N, 10]
  ambit::Tensor forward(const ambit::Tensor& x) { return fc(relu(conv(x - mean)).mean({2, 3})); }
};
AMBIT_MODULE(Classifier);

// The mean of the samples' losses by weight: scores [N, 10], classes int64 [N], weights [N] -> [].
inline ambit::Tensor weighted_loss(const ambit::Tensor& scores, const ambit::Tensor& classes,
                                   const ambit::Tensor& weights) {
  const ambit::Tensor losses = -log_softmax(scores, 1).gather(1, classes.unsqueeze(1)).squeeze(1);
  return (losses * weights).sum() / weights.sum();
}
