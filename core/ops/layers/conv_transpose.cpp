// Transposed convolution, which is conv2d's gradient by its input, and convolutions in one dim,
// which are those in two with a height of 1.
#include <ambit/ops/conv.h>

#include <ambit/backend/op.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include "core/ops/operands/expect.h"

namespace ambit {
namespace {

void check_operands(const char* op, const Tensor& input, const Tensor& weight, const Tensor& bias,
                    int64_t dim) {
  check_devices(op, {{"input", input}, {"weight", weight}, {"bias", bias}});
  expect_floating(op, input);
  expect_dtype(op, "weight", weight, input.dtype());
  expect_dtype_if_given(op, "bias", bias, input.dtype());
  if (input.dim() != dim && input.dim() != dim - 1) {
    throw ShapeError(fmt::format("{}: expected input of {} or {} dims, got shape {}", op, dim - 1,
                                 dim, str(input.sizes())));
  }
  if (weight.dim() != dim) {
    throw ShapeError(
        fmt::format("{}: expected weight of {} dims, got shape {}", op, dim, str(weight.sizes())));
  }
}

// The input with zeros behind it along dim, so that it has `size`.
Tensor lengthened(const Tensor& x, int64_t dim, int64_t size) {
  if (x.size(dim) >= size) return x;
  Dims more(x.sizes());
  more[static_cast<size_t>(dim)] = size - x.size(dim);
  return cat({x, zeros(more, x.options())}, dim);
}

// `op`: by which name errors call it.
Tensor transposed(const char* op, const Tensor& input, const Tensor& weight, const Tensor& bias,
                  const Conv2dParams& p, const Pair& output_padding) {
  const int64_t groups = p.groups;
  if (groups < 1 || weight.size(0) != input.size(1) || input.size(1) % groups != 0) {
    throw ShapeError(
        fmt::format("{}: expected input [N,C,...] and weight [C,K/groups,...] with groups that "
                    "divide C, got {}, {} and {} groups",
                    op, str(input.sizes()), str(weight.sizes()), groups));
  }
  Dims sizes{input.size(0), weight.size(1) * groups, 0, 0};
  for (size_t i = 0; i < 2; ++i) {
    const auto dim = static_cast<int64_t>(i) + 2;
    if (p.stride[i] < 1 || p.dilation[i] < 1 || p.padding[i] < 0 || weight.size(dim) < 1) {
      throw ShapeError(fmt::format(
          "{}: expected stride, dilation and sizes of weight >= 1 and padding >= 0, got {}, {}, {} "
          "and {}",
          op, p.stride[i], p.dilation[i], weight.size(dim), p.padding[i]));
    }
    if (output_padding[i] < 0 || output_padding[i] >= std::max(p.stride[i], p.dilation[i])) {
      throw ShapeError(
          fmt::format("{}: expected output_padding from 0 to below stride or dilation, got {}", op,
                      output_padding[i]));
    }
    const int64_t window = p.dilation[i] * (weight.size(dim) - 1) + 1;
    sizes[i + 2] =
        (input.size(dim) - 1) * p.stride[i] - 2 * p.padding[i] + window + output_padding[i];
    if (input.size(dim) < 1 || sizes[i + 2] < 1) {
      throw ShapeError(
          fmt::format("{}: expected an output of at least one element, got {} of input {}", op,
                      sizes[i + 2], str(input.sizes())));
    }
  }
  expect_sizes(op, "bias", bias, {sizes[1]});
  // What output_padding adds may be seen by further windows, whose gradients are none.
  const Dims seen = p.out_sizes(op, sizes, weight.sizes());
  const Tensor x = lengthened(lengthened(input, 2, seen[2]), 3, seen[3]);
  const Tensor out = conv2d_input_grad(x, weight, sizes, p);
  return bias.defined() ? out + bias.view({-1, 1, 1}) : out;
}

}  // namespace

Tensor conv_transpose2d(const Tensor& input, const Tensor& weight, const Tensor& bias,
                        IntOrPair stride, IntOrPair padding, IntOrPair output_padding,
                        int64_t groups, IntOrPair dilation) {
  constexpr const char* kName = "conv_transpose2d";
  check_operands(kName, input, weight, bias, 4);
  const bool single = input.dim() == 3;
  const Tensor out = transposed(kName, single ? unsqueeze(input, 0) : input, weight, bias,
                                {stride, padding, dilation, groups}, output_padding);
  return single ? squeeze(out, 0) : out;
}

Tensor conv1d(const Tensor& input, const Tensor& weight, const Tensor& bias, int64_t stride,
              int64_t padding, int64_t dilation, int64_t groups) {
  check_operands("conv1d", input, weight, bias, 3);
  return squeeze(conv2d(unsqueeze(input, -2), unsqueeze(weight, 2), bias,
                        Conv2dParams{{1, stride}, {0, padding}, {1, dilation}, groups}),
                 -2);
}

Tensor conv_transpose1d(const Tensor& input, const Tensor& weight, const Tensor& bias,
                        int64_t stride, int64_t padding, int64_t output_padding, int64_t groups,
                        int64_t dilation) {
  constexpr const char* kName = "conv_transpose1d";
  check_operands(kName, input, weight, bias, 3);
  const bool single = input.dim() == 2;
  const Tensor out =
      transposed(kName, unsqueeze(single ? unsqueeze(input, 0) : input, 2), unsqueeze(weight, 2),
                 bias, {{1, stride}, {0, padding}, {1, dilation}, groups}, {0, output_padding});
  return single ? squeeze(squeeze(out, 2), 0) : squeeze(out, 2);
}

}  // namespace ambit
