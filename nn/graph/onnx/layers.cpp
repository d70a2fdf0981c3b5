// Operators: convolution and dropout.
#include <ambit/error.h>
#include <ambit/ops/conv.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/images.h>
#include <ambit/ops/random.h>
#include <ambit/ops/shape.h>

#include <fmt/format.h>

#include <algorithm>

#include "operators.h"
#include "windows.h"

namespace ambit::graph::onnx {
namespace {

Dims kernel_of(const Call& c, size_t i, const Tensor& weight) {
  if (weight.dim() < 3)
    throw Error(fmt::format("expected W [M,C,...], got {}", str(weight.sizes())));
  const Dims sizes(weight.sizes().slice(2));
  if (c.has(i) && Dims(c.integers(i)) != sizes) {
    throw ShapeError(
        fmt::format("expected the kernel_shape {} of W, got {}", str(sizes), str(c.integers(i))));
  }
  return sizes;
}

Tensor convolved(const Call& c) {
  const Tensor &x = c.tensor(0), &weight = c.tensor(1);
  expect_same_dtype(x, weight);
  const Windows w = windows_of(x.sizes(), kernel_of(c, 6, weight), c.integers(8), c.integers(4),
                               c.integers(7), c.text(3), false);
  const size_t n = w.kernel.size();
  const bool is_even = w.before == w.after;
  const Tensor p = is_even ? x : padded(x, w.before, w.after, 0);
  return convolution(p, weight, c.optional_tensor(2), w.stride, is_even ? w.before : Dims(n, 0),
                     w.dilation, false, Dims(n, 0), c.integer(5));
}

// Compute without padding, then crop: ONNX's paddings may differ at both ends and exceed a window.
Tensor transposed(const Call& c) {
  const Tensor &x = c.tensor(0), &weight = c.tensor(1);
  expect_same_dtype(x, weight);
  const Dims kernel = kernel_of(c, 6, weight);
  const size_t n = kernel.size();
  const auto list = [&](size_t i, size_t count, int64_t value) {
    const Dims out = c.has(i) ? Dims(c.integers(i)) : Dims(count, value);
    if (out.size() != count)
      throw Error(fmt::format("expected {} numbers, got {}", count, out.size()));
    return out;
  };
  if (std::cmp_not_equal(x.dim(), n + 2)) throw Error("expected X and W of as many dims");
  const Dims dilation = list(4, n, 1), stride = list(10, n, 1), more = list(7, n, 0);
  Dims pads = list(9, 2 * n, 0);
  const std::string_view automatic = c.text(3);
  Dims before, after;
  for (size_t i = 0; i < n; ++i) {
    const int64_t size = x.size(static_cast<int64_t>(i) + 2);
    const int64_t all = stride[i] * (size - 1) + dilation[i] * (kernel[i] - 1) + 1 + more[i];
    const bool is_same = automatic.starts_with("SAME");
    int64_t first = pads[i], last = pads[n + i];
    if (automatic == "VALID") first = last = 0;
    if (c.has(8) || is_same) {
      const Dims wanted = c.has(8) ? list(8, n, 0) : Dims();
      const int64_t total = all - (c.has(8) ? wanted[i] : size * stride[i]);
      first = automatic == "SAME_UPPER" ? total / 2 : total - total / 2;
      if (total < 0) first = 0;  // more elements are at the end
      last = total - first;
    }
    before.push_back(-first);
    after.push_back(more[i] - last);
  }
  const Dims none(n, 0);
  const Tensor out = convolution(x, weight, {}, stride, none, dilation, true, none, c.integer(5));
  const Tensor cropped = padded(out, before, after, 0);
  if (!c.has(2)) return cropped;
  Dims channels(n + 2, 1);
  channels[1] = -1;
  return cropped + c.tensor(2).reshape(channels);
}

void dropped(Call& c) {
  const Tensor& x = c.tensor(0);
  const bool trains = c.mode().training.value_or(c.has(2) && c.flag(2));
  const double p = c.has(1) ? c.real(1) : 0.5;
  if (!trains || p == 0) {
    c.give(x);
    return c.give(ones(x.sizes(), TensorOptions(kBool).device(x.device())));
  }
  c.give(native_dropout(x, p, true));
}

Tensor columns_to_image(const Call& c) {
  const Tensor& x = c.tensor(0);
  const Dims image = host_integers(c, 1), block = host_integers(c, 2);
  const size_t n = image.size();
  const auto list = [&](size_t i, size_t count, int64_t value) {
    return c.has(i) ? Dims(c.integers(i)) : Dims(count, value);
  };
  const Dims dilation = list(3, n, 1), pads = list(4, 2 * n, 0), stride = list(5, n, 1);
  if (block.size() != n || dilation.size() != n || pads.size() != 2 * n || stride.size() != n) {
    throw Error("expected as many numbers in all lists as spatial dims");
  }
  // Col2Im is a transposed convolution of the columns; its weights are unit vectors.
  int64_t elements = 1;
  Dims whole, after, columns;
  for (size_t i = 0; i < n; ++i) {
    elements *= block[i];
    const int64_t room = image[i] + pads[i] + pads[n + i] - dilation[i] * (block[i] - 1) - 1;
    columns.push_back(room / stride[i] + 1);
    after.push_back(room % stride[i] - pads[n + i]);
    whole.push_back(-pads[i]);
  }
  const int64_t channels = x.size(1) / elements;
  Dims input{x.size(0) * channels, elements}, weight{elements, 1};
  for (const int64_t v : columns) input.push_back(v);
  for (const int64_t v : block) weight.push_back(v);
  const Tensor unit = eye(elements, x.options()).reshape(weight);
  const Tensor out =
      convolution(x.reshape(input), unit, {}, stride, Dims(n, 0), dilation, true, Dims(n, 0), 1);
  Dims result{x.size(0), channels};
  for (const int64_t v : image) result.push_back(v);
  return padded(out, whole, after, 0).reshape(result);
}

constexpr Operator kRows[] = {
    // clang-format off
    {{"Conv", "X W B=None auto_pad=NOTSET dilations=[] group=1 kernel_shape=None pads=[] "
      "strides=[]", one([](Call& c) { return convolved(c); })}, 3},
    {{"ConvTranspose", "X W B=None auto_pad=NOTSET dilations=None group=1 kernel_shape=None "
      "output_padding=None output_shape=None pads=None strides=None", one([](Call& c) {
       return transposed(c); })}, 3},
    {{"Dropout", "data ratio=None training_mode=None seed=None", many(dropped)}, 3, 0b110},
    {{"Col2Im", "input image_shape block_shape dilations=None pads=None strides=None",
      one([](Call& c) { return columns_to_image(c); })}, 3, 0b110},
    // clang-format on
};

}  // namespace

constinit const std::span<const Operator> kLayerOperators = kRows;

}  // namespace ambit::graph::onnx
