// Convolution and its gradients by im2col, a part of the batch at a time, and matrix products.
#include <fmt/format.h>

#include <algorithm>

#include <ambit/ops/creation.h>

#include "kernels.h"
#include "product.h"
#include "program.h"

namespace ambit::opencl {
namespace {

// The same struct as Windows in conv.cl.
struct Windows {
  cl_long images, channels;
  cl_long in[3] = {1, 1, 1}, out[3] = {1, 1, 1}, window[3] = {1, 1, 1};
  cl_long stride[3] = {1, 1, 1}, padding[3] = {0, 0, 0}, dilation[3] = {1, 1, 1};

  // y [N,K,out...], x [N,C,in...], w [K,C/groups,window...]
  Windows(const Tensor& y, const Tensor& x, const Tensor& w, const ConvParams& p)
      : images(x.size(0)), channels(x.size(1)) {
    const auto dims = static_cast<size_t>(x.dim()) - 2;
    for (size_t d = 0; d < dims; ++d) {
      const size_t at = 3 - dims + d;
      in[at] = x.sizes()[2 + d];
      out[at] = y.sizes()[2 + d];
      window[at] = w.sizes()[2 + d];
      stride[at] = p.stride[d];
      padding[at] = p.padding[d];
      dilation[at] = p.dilation[d];
    }
  }
  int64_t outs() const { return out[0] * out[1] * out[2]; }
  int64_t taps() const { return window[0] * window[1] * window[2]; }
  int64_t places() const { return in[0] * in[1] * in[2]; }
};

cl_kernel kernel_of(OpenClDevice& device, DType dtype, const char* part) {
  return device.kernel("convolution", fmt::format("conv/{}", name(dtype)), part, [&] {
    return begin_program(device.features(), dtype) + std::string(device_source("conv"));
  });
}

// Images per part: their columns occupy at most 64 MiB.
int64_t images_at_once(const Windows& w, DType dtype) {
  const auto bytes = static_cast<int64_t>(element_size(dtype));
  const int64_t each = std::max<int64_t>(w.channels * w.taps() * w.outs() * bytes, 1);
  return std::clamp<int64_t>((int64_t{64} << 20) / each, 1, std::max<int64_t>(w.images, 1));
}

Tensor columns_of(const char* op, const Tensor& x, Windows w, bool last, int64_t groups) {
  OpenClDevice& device = device_of(x);
  w.images = x.size(0);
  const int64_t n = w.images * w.channels * w.taps() * w.outs();
  const Tensor columns = empty({n}, x.options());
  if (n == 0) return columns;
  Launch(op, device, kernel_of(device, x.dtype(), "to_columns"))
      .add(cl_long{n})
      .add(w)
      .add(cl_int{last})
      .add(cl_long{groups})
      .add(x)
      .add(columns)
      .run(n);
  return columns;
}

}  // namespace

void convolution(Tensor& y, const Tensor& x, const Tensor& w, const Tensor& b,
                 const ConvParams& p) {
  if (y.numel() == 0) return;
  const Windows windows(y, x, w, p);
  const int64_t filters = w.size(0), G = p.groups, C = windows.channels / G, outs = windows.outs();
  const int64_t depth = C * windows.taps(), step = images_at_once(windows, x.dtype());
  for (int64_t n = 0; n < windows.images; n += step) {
    const int64_t images = std::min(step, windows.images - n);
    const Tensor columns = columns_of("convolution", x.narrow(0, n, images), windows, false, G);
    Tensor part = y.narrow(0, n, images);
    const Product product{.M = filters / G,
                          .N = outs,
                          .K = depth,
                          .batches = images * G,
                          .period = G,
                          .a_period = filters / G * depth,
                          .a_row = depth,
                          .a_step = 1,
                          .b_batch = depth * outs,
                          .b_step = outs};
    multiply("convolution", product, part, w, columns, b);
  }
  OpenClDevice& device = device_of(y);
  Launch("convolution", device, kernel_of(device, y.dtype(), "mend_result"))
      .add(cl_long{y.numel()})
      .add(windows)
      .add(cl_long{filters})
      .add(cl_long{G})
      .add(x)
      .add(w)
      .add(b)
      .add(y)
      .run(y.numel());
}

void convolution_input_grad(Tensor& dx, const Tensor& dy, const Tensor& w, const ConvParams& p) {
  if (dx.numel() == 0) return;
  const Windows windows(dy, dx, w, p);
  OpenClDevice& device = device_of(dx);
  const int64_t filters = w.size(0), G = p.groups, C = windows.channels / G, outs = windows.outs();
  const int64_t depth = C * windows.taps(), step = images_at_once(windows, dx.dtype());
  for (int64_t n = 0; n < windows.images; n += step) {
    const int64_t images = std::min(step, windows.images - n);
    Tensor columns = empty({images * G, depth, outs}, dx.options());
    const Tensor from = dy.narrow(0, n, images);
    const Product product{.M = depth,
                          .N = outs,
                          .K = filters / G,
                          .batches = images * G,
                          .period = G,
                          .a_period = filters / G * depth,
                          .a_row = 1,
                          .a_step = depth,
                          .b_batch = filters / G * outs,
                          .b_step = outs};
    if (columns.numel() > 0)
      multiply("convolution_input_grad", product, columns, w, from, Tensor());
    const Tensor to = dx.narrow(0, n, images);
    Windows part = windows;
    part.images = images;
    Launch("convolution_input_grad", device, kernel_of(device, dx.dtype(), "from_columns"))
        .add(cl_long{to.numel()})
        .add(part)
        .add(columns)
        .add(to)
        .run(to.numel());
  }
}

void convolution_weight_grad(Tensor& dw, const Tensor& dy, const Tensor& x, const ConvParams& p) {
  if (dw.numel() == 0) return;
  const Windows windows(dy, x, dw, p);
  OpenClDevice& device = device_of(dw);
  const int64_t filters = dw.size(0), G = p.groups, C = windows.channels / G, outs = windows.outs();
  const int64_t depth = C * windows.taps(), step = images_at_once(windows, x.dtype());
  if (windows.images == 0 || outs == 0) return fill(dw, 0);
  for (int64_t n = 0; n < windows.images; n += step) {
    const int64_t images = std::min(step, windows.images - n);
    const Tensor columns =
        columns_of("convolution_weight_grad", x.narrow(0, n, images), windows, true, G);
    const Product product{.M = filters / G,
                          .N = depth,
                          .K = outs,
                          .batches = G,
                          .repeats = images,
                          .period = G,
                          .a_period = filters / G * outs,
                          .a_repeat = filters * outs,
                          .a_row = outs,
                          .a_step = 1,
                          .b_batch = outs * depth,
                          .b_repeat = G * outs * depth,
                          .b_step = depth,
                          .accumulate = n > 0};
    multiply("convolution_weight_grad", product, dw, dy.narrow(0, n, images), columns, Tensor());
  }
  Launch("convolution_weight_grad", device, kernel_of(device, dw.dtype(), "mend_weight_grad"))
      .add(cl_long{dw.numel()})
      .add(windows)
      .add(cl_long{filters})
      .add(cl_long{G})
      .add(x)
      .add(dy)
      .add(dw)
      .run(dw.numel());
}

}  // namespace ambit::opencl
