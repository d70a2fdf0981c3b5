// U-Net: an image encoder, and a decoder with skip connections at each size. Parameters have the
// names of github.com/milesial/Pytorch-UNet (bilinear=False). Source: Ronneberger et al. 2015,
// arXiv:1505.04597.
#pragma once

#include <ambit/ambit.h>

#include <cstdint>
#include <string>
#include <vector>

namespace zoo {

namespace nn = ambit::nn;
using ambit::Tensor;

/// Two convolutions, each with a norm and ReLU: [N,in,H,W] -> [N,out,H,W].
struct DoubleConvImpl : nn::Module {
  DoubleConvImpl(int64_t in, int64_t out) {
    const auto conv = [](int64_t from, int64_t to) {
      return nn::Conv2d(nn::Conv2dOptions(from, to, 3).padding(1).bias(false));
    };
    double_conv = register_module("double_conv",
                                  nn::Sequential(conv(in, out), nn::BatchNorm2d(out), nn::ReLU(),
                                                 conv(out, out), nn::BatchNorm2d(out), nn::ReLU()));
  }
  Tensor forward(const Tensor& x) { return double_conv->forward(x); }
  nn::Sequential double_conv{nullptr};
};
AMBIT_MODULE(DoubleConv);

/// Downsample to half the size: [N,in,H,W] -> [N,out,H / 2,W / 2].
struct DownImpl : nn::Module {
  DownImpl(int64_t in, int64_t out)
      : maxpool_conv(register_module("maxpool_conv",
                                     nn::Sequential(nn::MaxPool2d(2), DoubleConv(in, out)))) {}
  Tensor forward(const Tensor& x) { return maxpool_conv->forward(x); }
  nn::Sequential maxpool_conv;
};
AMBIT_MODULE(Down);

/// Upsample to twice the size and combine with the skip connection: [N,in,H,W], [N,out,2 H,2 W] ->
/// [N,out,2 H,2 W].
struct UpImpl : nn::Module {
  UpImpl(int64_t in, int64_t out)
      : up(register_module(
            "up", nn::ConvTranspose2d(nn::ConvTranspose2dOptions(in, in / 2, 2).stride(2)))),
        conv(register_module("conv", DoubleConv(in, out))) {}
  Tensor forward(const Tensor& x, const Tensor& skip) { return conv(ambit::cat({skip, up(x)}, 1)); }
  nn::ConvTranspose2d up;
  DoubleConv conv;
};
AMBIT_MODULE(Up);

/// Pictures [N,channels,H,W] -> logits of each pixel's class [N,classes,H,W]; H and W must be
/// divisible by 2^levels.
struct UNetImpl : nn::Module {
  UNetImpl(int64_t channels, int64_t classes, int64_t width = 64, int64_t levels = 4)
      : inc(register_module("inc", DoubleConv(channels, width))) {
    for (int64_t i = 0; i < levels; ++i) {
      downs.push_back(
          register_module("down" + std::to_string(i + 1), Down(width << i, width << (i + 1))));
    }
    for (int64_t i = 0; i < levels; ++i) {
      const int64_t in = width << (levels - i);
      ups.push_back(register_module("up" + std::to_string(i + 1), Up(in, in / 2)));
    }
    outc = register_module("outc", OutConv(width, classes));
  }

  Tensor forward(const Tensor& x) {
    std::vector<Tensor> seen{inc(x)};
    for (Down& down : downs) seen.push_back(down(seen.back()));
    Tensor y = seen.back();
    for (size_t i = 0; i < ups.size(); ++i) y = ups[i](y, seen[ups.size() - 1 - i]);
    return outc(y);
  }

  struct OutConvImpl : nn::Module {
    OutConvImpl(int64_t in, int64_t classes)
        : conv(register_module("conv", nn::Conv2d(in, classes, 1))) {}
    Tensor forward(const Tensor& x) { return conv(x); }
    nn::Conv2d conv;
  };
  AMBIT_MODULE(OutConv);

  DoubleConv inc;
  std::vector<Down> downs;
  std::vector<Up> ups;
  OutConv outc{nullptr};
};
AMBIT_MODULE(UNet);

}  // namespace zoo
