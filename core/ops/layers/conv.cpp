// Convolution in one to three spatial dims. Both gradients are ops with gradients of their own,
// which are convolutions again: the three are the derivatives of one trilinear form <conv(x, w),
// dy>. A transposed convolution is the gradient with respect to the input.
#include <ambit/ops/conv.h>

#include <ambit/backend/kernels.h>
#include <ambit/detail/activation.h>
#include <ambit/detail/autocast.h>
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/complex.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <algorithm>

#include "core/ops/composite.h"
#include "core/ops/elementwise/activation_grads.h"
#include "core/ops/operands/allocate.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/operand_grad.h"
#include "core/ops/operands/unrecorded.h"

namespace ambit {
namespace {

// Checks that precede those of shapes; `op` has `dims` spatial dims.
void expect_operands(const char* op, size_t dims, const Tensor& input, const Tensor& weight,
                     const Tensor& bias) {
  expect_inexact(op, input);
  expect_input_dtype(op, input, "weight", weight);
  expect_dtype_if_given(op, "bias", bias, input.dtype());
  if (weight.sizes().size() != dims + 2) [[unlikely]] {
    throw ShapeError(fmt::format("{}: expected weight of {} dims, got shape {}", op, dims + 2,
                                 str(weight.sizes())));
  }
}

// True if input has no batch dim.
bool is_single(const Tensor& input, size_t dims) {
  return input.defined() && input.sizes().size() == dims + 1;
}

// All dims except the channels.
IntArrayRef other_dims(const Tensor& t) {
  static constexpr int64_t kDims[] = {0, 2, 3, 4};
  return {kDims, t.sizes().size() - 1};
}

Tensor record_convolution(const char* op, Tensor out, const Tensor& input, const Tensor& weight,
                          const Tensor& bias, const ConvParams& p) {
  return record(op, std::move(out),
                wrt(input, [w = saved(weight), s = Dims(input.sizes()),
                            p](const Tensor& g) { return convolution_input_grad(g, w(), s, p); }),
                wrt(weight, [x = saved(input), s = Dims(weight.sizes()),
                             p](const Tensor& g) { return convolution_weight_grad(g, x(), s, p); }),
                wrt(bias, [](const Tensor& g) { return sum(g, other_dims(g)); }));
}

// The convolution of complex numbers from those of their parts: run(input, weight, bias).
template <class Run>
Tensor convolve_parts(const char* op, const Tensor& input, const Tensor& weight, const Tensor& bias,
                      const Run& run) {
  naming("weight", weight, [&] {
    expect_input_dtype(op, input, "weight", weight);
    expect_dtype_if_given(op, "bias", bias, input.dtype());
  });
  const Tensor x = real(input), y = imag(input), u = real(weight), v = imag(weight), none;
  const Tensor bias_re = bias.defined() ? real(bias) : none;
  const Tensor bias_im = bias.defined() ? imag(bias) : none;
  return complex(run(x, u, bias_re) - run(y, v, none), run(x, v, bias_im) + run(y, u, none));
}

// `op`: the op's name in errors and in the graph. `map`: activation of the result; only relu if a
// gradient is recorded.
Tensor convolve(const char* op, size_t dims, const Tensor& input, const Tensor& weight,
                const Tensor& bias, const ConvParams& p, std::optional<ActivationParams> map = {}) {
  const auto again = [&](const auto&... cast) { return convolve(op, dims, cast..., p, map); };
  AMBIT_AUTOCAST_AS("convolution", again, input, weight, bias)
  check_devices(op, {{"input", input}, {"weight", weight}, {"bias", bias}});
  if (input.defined() && input.is_complex() && !map) {
    return convolve_parts(op, input, weight, bias, again);
  }
  if (is_single(input, dims)) {
    return squeeze(convolve(op, dims, unsqueeze(input, 0), weight, bias, p, map), 0);
  }
  Dims sizes;
  naming("weight", weight, [&] {
    expect_operands(op, dims, input, weight, bias);
    sizes = p.out_sizes(op, input.sizes(), weight.sizes());
    expect_sizes(op, "bias", bias, {sizes[1]});
  });

  Tensor out = allocate(op, sizes, input.dtype(), input.device());
  if (!map) {
    kernels::convolution(out, dense(input), dense(weight), dense(bias), p);
    return record_convolution(op, std::move(out), input, weight, bias, p);
  }
  kernels::convolution_map(out, dense(input), dense(weight), dense(bias), p, *map);
  if (!needs_gradient(input, weight, bias)) return out;
  return record_relu(out, record_convolution(op, out.detach(), input, weight, bias, p));
}

// Return the number of spatial dims of a convolution with this weight.
size_t spatial_dims(const char* op, const Tensor& weight) {
  expect_defined(op, "weight", weight);
  return std::clamp<size_t>(weight.sizes().size(), 3, PerAxis::kMost + 2) - 2;
}

// A convolution with the number of dims of its weight.
Tensor convolve(const Tensor& input, const Tensor& weight, const ConvParams& p) {
  return convolve("convolution", weight.sizes().size() - 2, input, weight, Tensor(), p);
}

// Pad the input with zeros at the end of its spatial dims to at least these sizes.
Tensor lengthened(Tensor x, IntArrayRef sizes) {
  for (size_t dim = 2; dim < sizes.size(); ++dim) {
    if (x.sizes()[dim] >= sizes[dim]) continue;
    Dims more(x.sizes());
    more[dim] = sizes[dim] - more[dim];
    x = cat({x, zeros(more, x.options())}, static_cast<int64_t>(dim));
  }
  return x;
}

Tensor convolve_transposed(const char* op, size_t dims, const Tensor& input, const Tensor& weight,
                           const Tensor& bias, const ConvParams& p, const PerAxis& output_padding) {
  const auto again = [&](const auto&... cast) {
    return convolve_transposed(op, dims, cast..., p, output_padding);
  };
  AMBIT_AUTOCAST_AS("convolution", again, input, weight, bias)
  check_devices(op, {{"input", input}, {"weight", weight}, {"bias", bias}});
  if (input.defined() && input.is_complex()) {
    return convolve_parts(op, input, weight, bias, again);
  }
  if (is_single(input, dims)) {
    return squeeze(
        convolve_transposed(op, dims, unsqueeze(input, 0), weight, bias, p, output_padding), 0);
  }
  Dims sizes, seen;
  naming("weight", weight, [&] {
    expect_operands(op, dims, input, weight, bias);
    sizes = p.transposed_sizes(op, input.sizes(), weight.sizes(), output_padding);
    expect_sizes(op, "bias", bias, {sizes[1]});
    seen = p.out_sizes(op, sizes, weight.sizes());
  });
  // The part added by output_padding may be covered by additional windows, whose gradients are 0.
  const Tensor out = convolution_input_grad(lengthened(input, seen), weight, sizes, p);
  if (!bias.defined()) return out;
  Dims column(dims + 1, 1);
  column[0] = -1;
  return add_(out, bias.view(column));
}

}  // namespace

Tensor detail::convolve(const char* op, size_t spatial_dims, const Tensor& input,
                        const Tensor& weight, const Tensor& bias, const ConvParams& params,
                        std::string_view padding) {
  if (padding != "same" && padding != "valid") {
    throw Error(fmt::format("{}: expected padding same or valid, got {}", op, padding));
  }
  if (is_single(input, spatial_dims)) {
    return squeeze(convolve(op, spatial_dims, unsqueeze(input, 0), weight, bias, params, padding),
                   0);
  }
  ConvParams p = params;
  Tensor x = input;
  if (padding == "same") {
    check_devices(op, {{"input", input}, {"weight", weight}, {"bias", bias}});
    Dims total, sizes;
    naming("weight", weight, [&] {
      expect_operands(op, spatial_dims, input, weight, bias);
      total = p.same_padding(op, weight.sizes());
      sizes = input.sizes();
    });
    for (size_t i = 0; i < total.size() && i + 2 < sizes.size(); ++i) {
      p.padding[i] = total[i] / 2;
      sizes[i + 2] += total[i] % 2;
    }
    x = lengthened(input, sizes);
  }
  return ambit::convolve(op, spatial_dims, x, weight, bias, p);
}

Tensor conv1d(const Tensor& input, const Tensor& weight, const Tensor& bias, const ConvParams& p) {
  return convolve("conv1d", 1, input, weight, bias, p);
}
Tensor conv2d(const Tensor& input, const Tensor& weight, const Tensor& bias, const ConvParams& p) {
  return convolve("conv2d", 2, input, weight, bias, p);
}
Tensor conv3d(const Tensor& input, const Tensor& weight, const Tensor& bias, const ConvParams& p) {
  return convolve("conv3d", 3, input, weight, bias, p);
}

Tensor conv_transpose1d(const Tensor& input, const Tensor& weight, const Tensor& bias,
                        IntArrayRef stride, IntArrayRef padding, IntArrayRef output_padding,
                        int64_t groups, IntArrayRef dilation) {
  return convolve_transposed("conv_transpose1d", 1, input, weight, bias,
                             {stride, padding, dilation, groups}, output_padding);
}
Tensor conv_transpose2d(const Tensor& input, const Tensor& weight, const Tensor& bias,
                        IntArrayRef stride, IntArrayRef padding, IntArrayRef output_padding,
                        int64_t groups, IntArrayRef dilation) {
  return convolve_transposed("conv_transpose2d", 2, input, weight, bias,
                             {stride, padding, dilation, groups}, output_padding);
}
Tensor conv_transpose3d(const Tensor& input, const Tensor& weight, const Tensor& bias,
                        IntArrayRef stride, IntArrayRef padding, IntArrayRef output_padding,
                        int64_t groups, IntArrayRef dilation) {
  return convolve_transposed("conv_transpose3d", 3, input, weight, bias,
                             {stride, padding, dilation, groups}, output_padding);
}

Tensor convolution(const Tensor& input, const Tensor& weight, const Tensor& bias,
                   IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool transposed,
                   IntArrayRef output_padding, int64_t groups) {
  const size_t dims = spatial_dims("convolution", weight);
  const ConvParams p{stride, padding, dilation, groups};
  if (!transposed) return convolve("convolution", dims, input, weight, bias, p);
  return convolve_transposed("convolution", dims, input, weight, bias, p, output_padding);
}

Tensor convolution_map(const Tensor& input, const Tensor& weight, const Tensor& bias,
                       const ConvParams& p, UnaryOp activation) {
  constexpr const char* kName = "convolution_map";
  check_devices(kName, {{"input", input}, {"weight", weight}, {"bias", bias}});
  const size_t dims = spatial_dims(kName, weight);
  expect_activation(kName, activation);
  if (activation != UnaryOp::relu && needs_gradient(input, weight, bias)) {
    return activated(convolve(kName, dims, input, weight, bias, p), activation);
  }
  return convolve(kName, dims, input, weight, bias, p, activation);
}

void composite::convolution_map(Tensor& y, const Tensor& x, const Tensor& w, const Tensor& b,
                                const ConvParams& p, const ActivationParams& map) {
  kernels::convolution(y, x, w, b, p);
  kernels::unary(y, y, map);
}

Tensor cudnn_convolution_relu(const Tensor& input, const Tensor& weight, const Tensor& bias,
                              IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                              int64_t groups) {
  constexpr const char* kName = "cudnn_convolution_relu";
  return convolve(kName, spatial_dims(kName, weight), input, weight, bias,
                  {stride, padding, dilation, groups}, UnaryOp::relu);
}

Tensor cudnn_convolution_add_relu(const Tensor& input, const Tensor& weight, const Tensor& z,
                                  const std::optional<Scalar>& alpha, const Tensor& bias,
                                  IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                                  int64_t groups) {
  const auto again = [&](const Tensor& x, const Tensor& w, const Tensor& added, const Tensor& b) {
    return cudnn_convolution_add_relu(x, w, added, alpha, b, stride, padding, dilation, groups);
  };
  AMBIT_AUTOCAST_AS("convolution", again, input, weight, z, bias)
  constexpr const char* kName = "cudnn_convolution_add_relu";
  check_devices(kName, {{"input", input}, {"weight", weight}, {"z", z}, {"bias", bias}});
  const size_t dims = spatial_dims(kName, weight);
  const Tensor out =
      convolve(kName, dims, input, weight, bias, {stride, padding, dilation, groups});
  expect_dtype(kName, "z", z, out.dtype());
  expect_sizes(kName, "z", z, out.sizes());
  return relu(add(out, z, alpha.value_or(1)));
}

Tensor convolution_input_grad(const Tensor& grad, const Tensor& weight, IntArrayRef input_sizes,
                              const ConvParams& p) {
  constexpr const char* kName = "convolution_input_grad";
  check_devices(kName, {{"grad", grad}, {"weight", weight}});
  expect_floating(kName, grad);
  expect_dtype(kName, "weight", weight, grad.dtype());
  expect_sizes(kName, "grad", grad, p.out_sizes(kName, input_sizes, weight.sizes()));

  Tensor dx = allocate(kName, input_sizes, grad.dtype(), grad.device());
  kernels::convolution_input_grad(dx, dense(grad), dense(weight), p);
  return record(kName, std::move(dx),
                wrt(grad, [w = saved(weight), p](const Tensor& g) { return convolve(g, w(), p); }),
                wrt(weight, [dy = saved(grad), s = Dims(weight.sizes()), p](const Tensor& g) {
                  return convolution_weight_grad(dy(), g, s, p);
                }));
}

Tensor convolution_weight_grad(const Tensor& grad, const Tensor& input, IntArrayRef weight_sizes,
                               const ConvParams& p) {
  constexpr const char* kName = "convolution_weight_grad";
  check_devices(kName, {{"grad", grad}, {"input", input}});
  expect_floating(kName, grad);
  expect_dtype(kName, "input", input, grad.dtype());
  expect_sizes(kName, "grad", grad, p.out_sizes(kName, input.sizes(), weight_sizes));

  Tensor dw = allocate(kName, weight_sizes, grad.dtype(), grad.device());
  kernels::convolution_weight_grad(dw, dense(grad), dense(input), p);
  return record(kName, std::move(dw),
                wrt(grad, [x = saved(input), p](const Tensor& g) { return convolve(x(), g, p); }),
                wrt(input, [dy = saved(grad), s = Dims(input.sizes()), p](const Tensor& g) {
                  return convolution_input_grad(dy(), g, s, p);
                }));
}

}  // namespace ambit
