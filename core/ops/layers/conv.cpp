// 2-D convolution. Its two gradients are ops with gradients of their own, which are convolutions
// again: the three are the derivatives of one trilinear form <conv2d(x, w), dy>.
#include <ambit/ops/conv.h>

#include <ambit/backend/kernels.h>
#include <ambit/detail/record.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>

#include <algorithm>

#include "core/ops/composite.h"
#include "core/ops/operands/allocate.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/unrecorded.h"

namespace ambit {

Tensor conv2d(const Tensor& input, const Tensor& weight, const Tensor& bias,
              const Conv2dParams& p) {
  check_devices("conv2d", {{"input", input}, {"weight", weight}, {"bias", bias}});
  if (input.defined() && input.dim() == 3) {
    return squeeze(conv2d(unsqueeze(input, 0), weight, bias, p), 0);
  }
  Dims sizes;
  naming("weight", weight, [&] {
    expect_floating("conv2d", input);
    expect_input_dtype("conv2d", input, "weight", weight);
    expect_dtype_if_given("conv2d", "bias", bias, input.dtype());
    sizes = p.out_sizes("conv2d", input.sizes(), weight.sizes());
    expect_sizes("conv2d", "bias", bias, {sizes[1]});
  });

  Tensor out = allocate("conv2d", sizes, input.dtype(), input.device());
  kernels::conv2d(out, dense(input), dense(weight), dense(bias), p);
  return record("conv2d", std::move(out),
                wrt(input, [w = saved(weight), s = Dims(input.sizes()),
                            p](const Tensor& g) { return conv2d_input_grad(g, w(), s, p); }),
                wrt(weight, [x = saved(input), s = Dims(weight.sizes()),
                             p](const Tensor& g) { return conv2d_weight_grad(g, x(), s, p); }),
                wrt(bias, [](const Tensor& g) {
                  return sum(g, {0, 2, 3});
                }));
}

Tensor conv2d_input_grad(const Tensor& grad, const Tensor& weight, IntArrayRef input_sizes,
                         const Conv2dParams& p) {
  check_devices("conv2d_input_grad", {{"grad", grad}, {"weight", weight}});
  expect_floating("conv2d_input_grad", grad);
  expect_dtype("conv2d_input_grad", "weight", weight, grad.dtype());
  expect_sizes("conv2d_input_grad", "grad", grad,
               p.out_sizes("conv2d_input_grad", input_sizes, weight.sizes()));

  Tensor dx = allocate("conv2d_input_grad", input_sizes, grad.dtype(), grad.device());
  kernels::conv2d_input_grad(dx, dense(grad), dense(weight), p);
  return record(
      "conv2d_input_grad", std::move(dx),
      wrt(grad, [w = saved(weight), p](const Tensor& g) { return conv2d(g, w(), {}, p); }),
      wrt(weight, [dy = saved(grad), s = Dims(weight.sizes()), p](const Tensor& g) {
        return conv2d_weight_grad(dy(), g, s, p);
      }));
}

Tensor conv2d_weight_grad(const Tensor& grad, const Tensor& input, IntArrayRef weight_sizes,
                          const Conv2dParams& p) {
  check_devices("conv2d_weight_grad", {{"grad", grad}, {"input", input}});
  expect_floating("conv2d_weight_grad", grad);
  expect_dtype("conv2d_weight_grad", "input", input, grad.dtype());
  expect_sizes("conv2d_weight_grad", "grad", grad,
               p.out_sizes("conv2d_weight_grad", input.sizes(), weight_sizes));

  Tensor dw = allocate("conv2d_weight_grad", weight_sizes, grad.dtype(), grad.device());
  kernels::conv2d_weight_grad(dw, dense(grad), dense(input), p);
  return record("conv2d_weight_grad", std::move(dw),
                wrt(grad, [x = saved(input), p](const Tensor& g) { return conv2d(x(), g, {}, p); }),
                wrt(input, [dy = saved(grad), s = Dims(input.sizes()), p](const Tensor& g) {
                  return conv2d_input_grad(dy(), g, s, p);
                }));
}

namespace {

// Along one axis, which outputs reach the input at all (the others see only padding), and where the
// first of them lies in the spaced gradient below.
struct Reach {
  Reach(const Conv2dParams& p, size_t axis, int64_t input, int64_t window, int64_t outputs) {
    const int64_t stride = p.stride[axis], padding = p.padding[axis];
    const int64_t before = p.dilation[axis] * (window - 1);
    first = padding > before ? (padding - before + stride - 1) / stride : 0;
    count = std::max<int64_t>(std::min(outputs - 1, (input - 1 + padding) / stride) + 1 - first, 0);
    offset = first * stride - padding + before;
    spaced = input + before;
  }
  int64_t first, count, offset, spaced;
};

Tensor spaced(const Tensor& dy, const Reach& h, const Reach& w, const Pair& stride) {
  const Tensor z = zeros({dy.size(0), dy.size(1), h.spaced, w.spaced}, dy.options());
  if (h.count == 0 || w.count == 0) return z;
  z.slice(2, h.offset, h.offset + (h.count - 1) * stride[0] + 1, stride[0])
      .slice(3, w.offset, w.offset + (w.count - 1) * stride[1] + 1, stride[1])
      .copy_(dy.narrow(2, h.first, h.count).narrow(3, w.first, w.count));
  return z;
}

}  // namespace

// dx is the convolution of dy, its elements `stride` apart, with the kernels turned around and
// their channels swapped: w [K,C/g,R,S] -> [C,K/g,R,S].
void composite::conv2d_input_grad(Tensor& dx, const Tensor& dy, const Tensor& w,
                                  const Conv2dParams& p) {
  const int64_t k = w.size(0), c = w.size(1), r = w.size(2), s = w.size(3), g = p.groups;
  const Reach height(p, 0, dx.size(2), r, dy.size(2)), width(p, 1, dx.size(3), s, dy.size(3));
  const Tensor turned = w.view({g, k / g, c, r, s}).transpose(1, 2).flip({3, 4});
  kernels::conv2d(dx, spaced(dy, height, width, p.stride),
                  turned.reshape({g * c, k / g, r, s}).contiguous(), Tensor(),
                  {.dilation = p.dilation, .groups = g});
}

// dw is the convolution of x with dy, where N and channels trade places and so do stride and
// dilation: x [N,C,H,W] -> [C/g,g*N,H,W], dy [N,K,P,Q] -> [K,N,P,Q], result [C/g,K,R,S]. Rows and
// columns of x that no window reached make it larger than that.
void composite::conv2d_weight_grad(Tensor& dw, const Tensor& dy, const Tensor& x,
                                   const Conv2dParams& p) {
  const int64_t n = x.size(0), c = dw.size(1), h = x.size(2), w = x.size(3), g = p.groups;
  if (n == 0) {  // no conv2d has 0 channels
    dw.fill_(0);
    return;
  }
  const Tensor by_group =
      x.view({n, g, c, h, w}).permute({2, 1, 0, 3, 4}).reshape({c, g * n, h, w});
  const Conv2dParams swapped{p.dilation, p.padding, p.stride, g};
  const Tensor dwt = conv2d(by_group, dy.transpose(0, 1), Tensor(), swapped);
  dw.copy_(dwt.narrow(2, 0, dw.size(2)).narrow(3, 0, dw.size(3)).transpose(0, 1));
}

}  // namespace ambit
