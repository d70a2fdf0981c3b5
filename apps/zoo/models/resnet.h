// ResNet of basic blocks for small images: torchvision's ResNet-18, with its parameter names, but
// with a 3 x 3 first convolution and no pooling after it, as is usual for CIFAR. Source: He et al.
// 2015, arXiv:1512.03385.
#pragma once

#include <ambit/ambit.h>

#include <array>
#include <cstdint>
#include <string>
#include <utility>

namespace zoo {

namespace nn = ambit::nn;
using ambit::Tensor;

/// x [N,in,H,W] -> relu(x + two convolutions of x) [N,out,H / stride,W / stride].
struct BasicBlockImpl : nn::Module {
  BasicBlockImpl(int64_t in, int64_t out, int64_t stride)
      : conv1(register_module("conv1", conv(in, out, 3, stride))),
        bn1(register_module("bn1", nn::BatchNorm2d(out))),
        conv2(register_module("conv2", conv(out, out, 3, 1))),
        bn2(register_module("bn2", nn::BatchNorm2d(out))) {
    if (stride == 1 && in == out) return;
    downsample = register_module("downsample",
                                 nn::Sequential(conv(in, out, 1, stride), nn::BatchNorm2d(out)));
  }

  Tensor forward(const Tensor& x) {
    Tensor y = conv1(x);  // reassigned, so that each step frees its input
    y = bn1(y).relu_();
    y = conv2(y);
    y = bn2(y);
    return (y += downsample ? downsample->forward(x) : x).relu_();
  }

  static nn::Conv2d conv(int64_t in, int64_t out, int64_t kernel, int64_t stride) {
    return nn::Conv2d(
        nn::Conv2dOptions(in, out, kernel).stride(stride).padding(kernel / 2).bias(false));
  }

  nn::Conv2d conv1;
  nn::BatchNorm2d bn1;
  nn::Conv2d conv2;
  nn::BatchNorm2d bn2;
  nn::Sequential downsample{nullptr};
};
AMBIT_MODULE(BasicBlock);

/// Images [N,3,H,W] -> logits [N,classes]. `width`: features of the first stage; each later one has
/// twice as many, at half the size. `blocks`: per stage, 2 each for ResNet-18.
struct ResNetImpl : nn::Module {
  explicit ResNetImpl(int64_t classes = 10, int64_t width = 64,
                      const std::array<int64_t, 4>& blocks = {2, 2, 2, 2})
      : conv1(register_module("conv1", BasicBlockImpl::conv(3, width, 3, 1))),
        bn1(register_module("bn1", nn::BatchNorm2d(width))) {
    int64_t in = width;
    for (size_t stage = 0; stage < 4; ++stage) {
      const int64_t out = width << stage;
      nn::Sequential layer;
      for (int64_t i = 0; i < blocks[stage]; ++i) {
        layer->push_back(BasicBlock(in, out, i == 0 && stage > 0 ? 2 : 1));
        in = out;
      }
      layers[stage] = register_module("layer" + std::to_string(stage + 1), layer);
    }
    fc = register_module("fc", nn::Linear(in, classes));
    for (const auto& p : named_parameters()) {
      if (p.value().dim() == 4) {
        nn::init::kaiming_normal_(p.value(), 0, ambit::kFanOut);
      }
    }
  }

  Tensor forward(Tensor x) {
    x = bn1(conv1(x)).relu_();
    for (nn::Sequential& layer : layers) x = layer->forward(std::move(x));
    return fc(x.mean({2, 3}));
  }

  nn::Conv2d conv1;
  nn::BatchNorm2d bn1;
  std::array<nn::Sequential, 4> layers{nullptr, nullptr, nullptr, nullptr};
  nn::Linear fc{nullptr};
};
AMBIT_MODULE(ResNet);

}  // namespace zoo
