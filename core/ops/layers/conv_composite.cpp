// The gradients of convolution as convolutions, for backends that only have the forward kernel.
#include <ambit/ops/conv.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/shape.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/ops/composite.h"

namespace ambit {
namespace {

// Along one axis: the outputs whose windows contain input elements (the other windows contain only
// padding), and the position of the first one in the spaced gradient.
struct Reach {
  Reach(const ConvParams& p, size_t axis, int64_t input, int64_t window, int64_t outputs) {
    const int64_t stride = p.stride[axis], padding = p.padding[axis];
    const int64_t before = p.dilation[axis] * (window - 1);
    first = padding > before ? (padding - before + stride - 1) / stride : 0;
    count = std::max<int64_t>(std::min(outputs - 1, (input - 1 + padding) / stride) + 1 - first, 0);
    offset = first * stride - padding + before;
    spaced = input + before;
  }
  int64_t first, count, offset, spaced;
};

// Return dy with its elements `stride` apart and zeros between and around them: the input of an
// unpadded convolution that gives dx.
Tensor spaced(const Tensor& dy, const Tensor& dx, const Tensor& w, const ConvParams& p) {
  Dims sizes(dy.sizes());
  Tensor from = dy;
  std::vector<Reach> reaches;
  for (size_t i = 0; i + 2 < sizes.size(); ++i) {
    reaches.emplace_back(p, i, dx.sizes()[i + 2], w.sizes()[i + 2], dy.sizes()[i + 2]);
    sizes[i + 2] = reaches[i].spaced;
    from = from.narrow(static_cast<int64_t>(i) + 2, reaches[i].first, reaches[i].count);
  }
  const Tensor z = zeros(sizes, dy.options());
  if (from.numel() == 0) return z;
  Tensor to = z;
  for (size_t i = 0; i < reaches.size(); ++i) {
    const int64_t first = reaches[i].offset, stride = p.stride[i];
    to = to.slice(static_cast<int64_t>(i) + 2, first, first + (reaches[i].count - 1) * stride + 1,
                  stride);
  }
  to.copy_(from);
  return z;
}

// Return the given sizes followed by the spatial sizes of t [.., .., spatial...].
Dims with_spatial_sizes(std::initializer_list<int64_t> front, const Tensor& t) {
  Dims sizes(front);
  for (const int64_t size : t.sizes().slice(2)) sizes.push_back(size);
  return sizes;
}

}  // namespace

// dx is the convolution of dy, its elements `stride` apart, with the kernels flipped and their
// channels swapped: w [K,C/g,...] -> [C,K/g,...].
void composite::convolution_input_grad(Tensor& dx, const Tensor& dy, const Tensor& w,
                                       const ConvParams& p) {
  const int64_t k = w.size(0), c = w.size(1), g = p.groups;
  Dims around(w.sizes().slice(2));
  std::iota(around.begin(), around.end(), int64_t{3});
  const Tensor turned = w.view(with_spatial_sizes({g, k / g, c}, w)).transpose(1, 2).flip(around);
  kernels::convolution(dx, spaced(dy, dx, w, p),
                       turned.reshape(with_spatial_sizes({g * c, k / g}, w)).contiguous(), Tensor(),
                       {.dilation = p.dilation, .groups = g});
}

// dw is the convolution of x with dy, with N and channels exchanged, and stride and dilation
// exchanged: x [N,C,...] -> [C/g,g*N,...], dy [N,K,...] -> [K,N,...], result [C/g,K,...]. Input
// elements that no window covers make the result larger; it is cropped.
void composite::convolution_weight_grad(Tensor& dw, const Tensor& dy, const Tensor& x,
                                        const ConvParams& p) {
  const int64_t n = x.size(0), c = dw.size(1), g = p.groups;
  if (n == 0) {  // below, N becomes a channel dim, which must not be 0
    dw.fill_(0);
    return;
  }
  Dims order(x.sizes().size() + 1);
  std::iota(order.begin(), order.end(), int64_t{0});
  std::swap(order[0], order[2]);
  const Tensor by_group = x.view(with_spatial_sizes({n, g, c}, x))
                              .permute(order)
                              .reshape(with_spatial_sizes({c, g * n}, x));
  Tensor dwt = convolution(by_group, dy.transpose(0, 1), Tensor(), p.dilation, p.padding, p.stride,
                           false, 0, g);
  for (int64_t dim = 2; dim < dw.dim(); ++dim) dwt = dwt.narrow(dim, 0, dw.size(dim));
  dw.copy_(dwt.transpose(0, 1));
}

}  // namespace ambit
