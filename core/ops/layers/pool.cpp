// 2-D pooling. The gradients are ops in this file only, with gradients of their own.
#include <ambit/ops/pool.h>

#include <ambit/backend/kernels.h>
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/conv.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <algorithm>

#include "core/ops/composite.h"
#include "core/ops/operands/allocate.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/operand_grad.h"
#include "core/ops/operands/unrecorded.h"

namespace ambit {
namespace {

// [N,C,H,W] -> [N,C,H*W], the shape in which `index` of max_pool2d is a position.
Tensor flat_planes(const Tensor& t) {
  return reshape(t, {t.size(0), t.size(1), t.size(2) * t.size(3)});
}

Tensor max_pool2d_grad(const Tensor& grad, const Tensor& index, IntArrayRef sizes,
                       const Pool2dParams& p) {
  Tensor dx = allocate("max_pool2d_grad", sizes, grad.dtype(), grad.device());
  kernels::max_pool2d_grad(dx, dense(grad), index, p);
  return record("max_pool2d_grad", std::move(dx),
                wrt(grad, [index = saved(index)](const Tensor& g) {
                  const Tensor at = index().to(kInt64);
                  return reshape(gather(flat_planes(g), 2, flat_planes(at)), at.sizes());
                }));
}

// The maxima, and their positions as kernels count them if `with_index`.
std::pair<Tensor, Tensor> max_pool(const Tensor& input, const Pool2dParams& p, bool with_index) {
  expect_floating("max_pool2d", input);
  if (input.dim() == 3) {
    const auto [out, index] = max_pool(unsqueeze(input, 0), p, with_index);
    return {squeeze(out, 0), with_index ? squeeze(index, 0) : Tensor()};
  }
  const Dims sizes = p.out_sizes("max_pool2d", input.sizes());
  if (input.size(2) > INT32_MAX / input.size(3)) {
    throw ShapeError(fmt::format("max_pool2d: expected planes of less than 2^31 elements, got {}",
                                 str(input.sizes())));
  }
  Tensor out = allocate("max_pool2d", sizes, input.dtype(), input.device());
  Tensor index = with_index ? allocate("max_pool2d", sizes, kInt32, input.device()) : Tensor();
  kernels::max_pool2d(out, index, dense(input), p);
  if (!needs_gradient(input)) return {out, index};
  out = record("max_pool2d", out,
               wrt(input, [index = saved(index), s = Dims(input.sizes()), p](const Tensor& g) {
                 return max_pool2d_grad(g, index(), s, p);
               }));
  return {out, index};
}

Tensor avg_pool2d_grad(const Tensor& grad, IntArrayRef sizes, const Pool2dParams& p) {
  Tensor dx = allocate("avg_pool2d_grad", sizes, grad.dtype(), grad.device());
  kernels::avg_pool2d_grad(dx, dense(grad), p);
  return record("avg_pool2d_grad", std::move(dx),
                wrt(grad, [p](const Tensor& g) { return avg_pool2d(g, p); }));
}

}  // namespace

Tensor max_pool2d(const Tensor& input, const Pool2dParams& p) {
  return max_pool(input, p, needs_gradient(input)).first;
}

std::tuple<Tensor, Tensor> max_pool2d_with_indices(const Tensor& input, const Pool2dParams& p) {
  const auto [out, index] = max_pool(input, p, true);
  return {out, index.to(kInt64)};
}

Tensor avg_pool2d(const Tensor& input, const Pool2dParams& p) {
  expect_floating("avg_pool2d", input);
  if (p.dilation != Pair{1, 1}) {
    throw ShapeError(fmt::format("avg_pool2d: expected dilation [1, 1], got [{}, {}]",
                                 p.dilation[0], p.dilation[1]));
  }
  if (input.dim() == 3) return squeeze(avg_pool2d(unsqueeze(input, 0), p), 0);
  const Dims sizes = p.out_sizes("avg_pool2d", input.sizes());
  Tensor out = allocate("avg_pool2d", sizes, input.dtype(), input.device());
  kernels::avg_pool2d(out, dense(input), p);
  return record("avg_pool2d", std::move(out),
                wrt(input, [s = Dims(input.sizes()), p](const Tensor& g) {
                  return avg_pool2d_grad(g, s, p);
                }));
}

namespace {

// The first element of each of n windows over `size` elements: floor(i * size / n).
Tensor first_elements(int64_t size, int64_t n, Device device) {
  return arange(n, TensorOptions(kInt64).device(device)).mul_(size).floor_divide_(n);
}
// The last one: ceil((i + 1) * size / n) - 1.
Tensor last_elements(int64_t size, int64_t n, Device device) {
  const TensorOptions options = TensorOptions(kInt64).device(device);
  return arange(1, n + 1, 1, options).mul_(size).add_(n - 1).floor_divide_(n).sub_(1);
}

// Mean over n windows of one axis, from floor(i * size / n) to ceil((i + 1) * size / n).
Tensor adaptive_mean(const Tensor& x, int64_t dim, int64_t n) {
  const int64_t size = x.size(dim);
  if (n == size) return x;
  if (n > size) {  // windows of one element or two
    const Tensor first = index_select(x, dim, first_elements(size, n, x.device()));
    return first / 2 + index_select(x, dim, last_elements(size, n, x.device())) / 2;
  }
  std::vector<Tensor> means;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t start = i * size / n, end = ((i + 1) * size + n - 1) / n;
    means.push_back(mean(narrow(x, dim, start, end - start), {dim}, true));
  }
  return cat(means, dim);
}

void check_adaptive(const Tensor& input, const Pair& out) {
  if (input.dim() != 3 && input.dim() != 4) {
    throw ShapeError(fmt::format(
        "adaptive_avg_pool2d: expected input of shape [N, C, H, W] or [C, H, W], got {}",
        str(input.sizes())));
  }
  const auto [h, w] = Pair{input.size(-2), input.size(-1)};
  const auto [least, most] =
      std::minmax({h, w, std::max<int64_t>(out[0], 1), std::max<int64_t>(out[1], 1)});
  if (out[0] < 0 || out[1] < 0 || least < 1 || most > INT32_MAX) {
    throw ShapeError(
        fmt::format("adaptive_avg_pool2d: expected heights and widths from 1, of the output from "
                    "0, to {}, got input {} and output [{}, {}]",
                    INT32_MAX, str(input.sizes()), out[0], out[1]));
  }
}

}  // namespace

Tensor adaptive_avg_pool2d(const Tensor& input, IntOrPair wanted) {
  Pair output_size = wanted;
  expect_floating("adaptive_avg_pool2d", input);
  const int64_t ndim = input.dim();
  for (int64_t i = 0; ndim > 2 && i < 2; ++i) {
    int64_t& n = output_size[static_cast<size_t>(i)];
    if (n == -1) n = input.size(ndim - 2 + i);
  }
  check_adaptive(input, output_size);
  const int64_t h = input.size(-2), w = input.size(-1);
  const auto [p, q] = output_size;
  Dims sizes(input.sizes());
  sizes[static_cast<size_t>(ndim - 2)] = p;
  sizes[static_cast<size_t>(ndim - 1)] = q;
  allocate("adaptive_avg_pool2d", sizes, input.dtype(), kMeta);  // refuses what cannot be
  // No elements, and a gradient of zeros.
  if (p == 0 || q == 0) return reshape(narrow(input, ndim - 1, 0, 0), sizes);
  if (h % p == 0 && w % q == 0) {
    const Pair window{h / p, w / q};
    return avg_pool2d(input, {.kernel = window, .stride = window});
  }
  // A window is a rectangle, so its mean is the mean of its rows' means.
  return adaptive_mean(adaptive_mean(input, ndim - 2, p), ndim - 1, q);
}

namespace {

// The elements of planes [n,1,H,W] from `start` on, as many as there are up to `size`.
Tensor box(const Tensor& planes, Pair start, Pair size) {
  return planes.slice(2, start[0], start[0] + size[0]).slice(3, start[1], start[1] + size[1]);
}

// Average pooling as a convolution of each channel with ones. It runs over what the windows cover:
// the channels of x as planes [N*C,1,H',W'], padded on the left, padded or cut on the right.
struct WindowSums {
  WindowSums(IntArrayRef x, IntArrayRef y, const Pool2dParams& params, const TensorOptions& options)
      : p(params),
        conv{.stride = {params.stride.h, params.stride.w}},
        planes{x[0] * x[1], 1, x[2], x[3]},
        results{x[0] * x[1], 1, y[2], y[3]},
        covered{x[0] * x[1], 1, (y[2] - 1) * p.stride[0] + p.kernel[0],
                (y[3] - 1) * p.stride[1] + p.kernel[1]},
        kernel(ones({1, 1, p.kernel[0], p.kernel[1]}, options)) {}

  // Those of the covered elements that are the input's, not padding.
  Tensor input_of(const Tensor& t) const { return box(t, p.padding, {planes[2], planes[3]}); }

  // What the sum of each window is divided by, [1,1,P,Q].
  Tensor divisors() const {
    const Tensor counted = zeros({1, 1, covered[2], covered[3]}, kernel.options());
    if (p.count_include_pad) {
      box(counted, {0, 0}, {planes[2] + 2 * p.padding[0], planes[3] + 2 * p.padding[1]}).fill_(1);
    } else {
      input_of(counted).fill_(1);
    }
    return conv2d(counted, kernel, Tensor(), conv);
  }

  const Pool2dParams& p;
  ConvParams conv;
  Dims planes, results, covered;
  Tensor kernel;
};

}  // namespace

void composite::avg_pool2d(Tensor& y, const Tensor& x, const Pool2dParams& p) {
  const WindowSums windows(x.sizes(), y.sizes(), p, x.options());
  const Tensor padded = zeros(windows.covered, x.options());
  const Tensor inside = windows.input_of(padded);
  inside.copy_(box(x.view(windows.planes), {0, 0}, {inside.size(2), inside.size(3)}));
  const Tensor sums = conv2d(padded, windows.kernel, Tensor(), windows.conv);
  y.view(windows.results).copy_(sums / windows.divisors());
}

void composite::avg_pool2d_grad(Tensor& dx, const Tensor& dy, const Pool2dParams& p) {
  const WindowSums windows(dx.sizes(), dy.sizes(), p, dy.options());
  const Tensor share = dy.view(windows.results) / windows.divisors();
  const Tensor spread = windows.input_of(
      convolution_input_grad(share, windows.kernel, windows.covered, windows.conv));
  dx.fill_(0);
  box(dx.view(windows.planes), {0, 0}, {spread.size(2), spread.size(3)}).copy_(spread);
}

}  // namespace ambit
