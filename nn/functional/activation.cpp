// Activations of nn::functional, composed of ops.
#include <ambit/autograd.h>
#include <ambit/detail/activation.h>
#include <ambit/detail/autocast.h>
#include <ambit/detail/by_float32.h>
#include <ambit/detail/record.h>
#include <ambit/detail/ternary_grad.h>
#include <ambit/error.h>
#include <ambit/nn/functional/activation.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/norm.h>
#include <ambit/ops/random.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <cmath>

#include "nn/functional/check.h"

namespace ambit::nn::functional {
namespace {

// Return f(input), or write it into input with `inplace`. If gradients are recorded f gets a copy,
// since it may save its input for the backward pass.
template <class F>
Tensor mapped(const Tensor& input, bool inplace, const F& f) {
  if (!inplace) return f(input);
  const bool records = GradMode::is_enabled() && input.requires_grad();
  return input.copy_(f(records ? input.clone() : input));
}

// Convert a parameter to the dtype of x; for integer dtypes it is truncated.
Scalar number_like(const char* function, const Tensor& x, double value) {
  if (x.is_floating_point()) return value;
  const bool is_signed = x.dtype() != kUInt8;
  const double whole = std::trunc(value);
  const double end = std::ldexp(1, 8 * static_cast<int>(x.itemsize()) - is_signed);
  if (!(whole >= (is_signed ? -end : 0) && whole < end)) {  // false for NaN too
    throw DTypeError(fmt::format("{}: expected a number that {} can hold, got {}", function,
                                 ambit::name(x.dtype()), value));
  }
  return static_cast<int64_t>(whole);
}

// As above for a bound, which may be outside the range of x's dtype, but not of int64.
Scalar bound_like(const char* function, const Tensor& x, double value) {
  if (x.is_floating_point()) return value;
  const double whole = std::trunc(value), end = std::ldexp(1, 63);
  if (!(whole >= -end && whole < end)) {  // false for NaN too
    throw DTypeError(fmt::format("{}: expected a bound that fits int64, got {}", function, value));
  }
  return static_cast<int64_t>(whole);
}

}  // namespace

Tensor elu(const Tensor& input, double alpha, bool inplace) {
  check_floating("elu", input);
  return mapped(input, inplace,
                [&](const Tensor& x) { return activated(x, BinaryOp::elu, alpha); });
}

Tensor selu(const Tensor& input, bool inplace) {
  check_floating("selu", input);
  return mapped(input, inplace, [](const Tensor& x) { return activated(x, UnaryOp::selu); });
}

Tensor celu(const Tensor& input, double alpha, bool inplace) {
  check_floating("celu", input);
  if (alpha == 0) throw Error("celu: expected an alpha other than 0, got 0");
  return mapped(input, inplace,
                [&](const Tensor& x) { return activated(x, BinaryOp::celu, alpha); });
}

Tensor leaky_relu(const Tensor& input, double negative_slope, bool inplace) {
  check_floating("leaky_relu", input);
  return mapped(input, inplace, [&](const Tensor& x) {
    return activated(x, BinaryOp::leaky_relu, negative_slope);
  });
}

Tensor prelu(const Tensor& input, const Tensor& weight) {
  AMBIT_AUTOCAST(prelu, input, weight)
  check_floating("prelu", input);
  check_same_device("prelu", {{"input", input}, {"weight", weight}});
  const int64_t channels = input.dim() > 1 ? input.size(1) : 1;
  if (weight.dim() > 1 || (weight.numel() != 1 && weight.numel() != channels)) {
    throw ShapeError(fmt::format("prelu: expected a weight of shape [1] or [{}], got {}", channels,
                                 str(weight.sizes())));
  }
  Dims per_channel(static_cast<size_t>(input.dim()), 1);
  if (weight.numel() > 1) per_channel[1] = channels;
  return leaky_relu_by(input, weight.reshape(per_channel));
}

Tensor rrelu(const Tensor& input, double lower, double upper, bool training, bool inplace) {
  check_floating("rrelu", input);
  if (!(lower <= upper)) {
    throw Error(fmt::format("rrelu: expected lower <= upper, got {} and {}", lower, upper));
  }
  if (!training) return leaky_relu(input, (lower + upper) / 2, inplace);
  const Tensor slope = empty_like(input).uniform_(lower, upper);
  return mapped(input, inplace, [&](const Tensor& x) { return leaky_relu_by(x, slope); });
}

Tensor hardtanh(const Tensor& input, double min_val, double max_val, bool inplace) {
  check_number("hardtanh", input);
  if (min_val >= max_val) {
    throw Error(
        fmt::format("hardtanh: expected min_val < max_val, got {} and {}", min_val, max_val));
  }
  const Scalar least = bound_like("hardtanh", input, min_val),
               most = bound_like("hardtanh", input, max_val);
  // The gradient at NaN is 1 here, but 0 for clamp().
  return mapped(input, inplace, [&](const Tensor& x) {
    Tensor out;
    {
      const NoGradGuard no_grad;
      out = clamp(x, least, most);
    }
    return record("hardtanh", std::move(out), wrt(x, [x = saved(x), least, most](const Tensor& g) {
                    return clamp_grad(g, x(), least, most, /*passes_nan=*/true);
                  }));
  });
}

Tensor relu6(const Tensor& input, bool inplace) { return hardtanh(input, 0, 6, inplace); }

Tensor silu(const Tensor& input) {
  check_floating_or_complex("silu", input);
  if (input.is_complex()) return input * sigmoid(input);
  return activated(input, UnaryOp::silu);
}

Tensor mish(const Tensor& input) {
  check_floating("mish", input);
  return activated(input, UnaryOp::mish);
}

Tensor softplus(const Tensor& input, double beta, double threshold) {
  AMBIT_AUTOCAST(softplus, input, beta, threshold)
  check_floating("softplus", input);
  if (threshold == 20)
    return activated(input, BinaryOp::softplus, beta);  // the default has a fused kernel
  const Tensor scaled = input * beta;
  return where(scaled > threshold, input, logsigmoid(-scaled) / -beta);
}

Tensor logsigmoid(const Tensor& input) {
  check_floating("logsigmoid", input);
  return activated(input, UnaryOp::logsigmoid);
}

Tensor hardsigmoid(const Tensor& input, bool inplace) {
  check_floating("hardsigmoid", input);
  return mapped(input, inplace, [](const Tensor& x) { return activated(x, UnaryOp::hardsigmoid); });
}

Tensor hardswish(const Tensor& input, bool inplace) {
  check_floating("hardswish", input);
  return mapped(input, inplace, [](const Tensor& x) { return activated(x, UnaryOp::hardswish); });
}

Tensor softsign(const Tensor& input) {
  check_number("softsign", input);
  if (input.is_complex()) return input / (1 + abs(input));
  const Tensor x = input.detach();
  return record("softsign", x / (1 + abs(x)), wrt(input, [x = saved(input)](const Tensor& g) {
                  return ternary_grad(TernaryOp::softsign_grad, g, x(), 1);
                }));
}

Tensor tanhshrink(const Tensor& input) {
  check_number("tanhshrink", input);
  if (input.is_complex()) return input - tanh(input);
  // For small x the difference would cancel in a reduced floating-point type, so compute in
  // float32.
  if (is_reduced_floating(input.dtype())) return by_float32(input.dtype(), tanhshrink, input);
  const Tensor y = tanh(input.detach());
  return record("tanhshrink", input.detach() - y,
                wrt(input, [x = saved(input), y](const Tensor& g) {
                  const bool again = GradMode::is_enabled();
                  return ternary_grad(TernaryOp::reciprocal_grad, g, again ? tanh(x()) : y, 1);
                }));
}

Tensor hardshrink(const Tensor& input, double lambda) {
  check_floating("hardshrink", input);
  if (!(lambda >= 0)) throw Error(fmt::format("hardshrink: expected lambda >= 0, got {}", lambda));
  return where(abs(input.detach()) <= lambda, 0, input);
}

Tensor softshrink(const Tensor& input, double lambda) {
  check_floating("softshrink", input);
  if (!(lambda >= 0)) throw Error(fmt::format("softshrink: expected lambda >= 0, got {}", lambda));
  const Tensor x = input.detach(), none = abs(x) <= lambda;
  // This order of conditions propagates NaN.
  return record("softshrink", where(none, 0, where(x > 0, x - lambda, x + lambda)),
                wrt(input, [none](const Tensor& g) { return masked_fill(g, none, 0); }));
}

Tensor threshold(const Tensor& input, double threshold, double value, bool inplace) {
  check_number("threshold", input);
  const Scalar limit = number_like("threshold", input, threshold),
               other = number_like("threshold", input, value);
  return mapped(input, inplace, [&](const Tensor& x) {
    Tensor out = where(x.detach() <= limit, other, x.detach());
    return record("threshold", std::move(out), wrt(x, [x = saved(x), limit](const Tensor& g) {
                    return clamp_grad(g, x(), limit, {}, /*passes_nan=*/true);
                  }));
  });
}

Tensor glu(const Tensor& input, int64_t dim) {
  check_floating("glu", input);
  const int64_t n = input.size(dim);
  if (n % 2 != 0) {
    throw ShapeError(fmt::format("glu: expected an even size along dim {}, got shape {}", dim,
                                 str(input.sizes())));
  }
  return gated_halves(input, dim);
}

Tensor softmin(const Tensor& input, int64_t dim, std::optional<DType> dtype) {
  return softmax(-input, dim, dtype);
}

Tensor gumbel_softmax(const Tensor& input, double tau, bool hard, int64_t dim) {
  check_floating("gumbel_softmax", input);
  if (!(tau > 0)) throw Error(fmt::format("gumbel_softmax: expected tau > 0, got {}", tau));
  // A Gumbel number is -log of an exponentially distributed number, which is -log(1 - u); 1 - u is
  // never 0.
  const Tensor gumbel = -log(-log1p(-empty_like(input).uniform_()));
  const Tensor soft = softmax((input + gumbel) / tau, dim);
  if (!hard) return soft;
  const Tensor largest = soft.detach().argmax(dim, /*keepdim=*/true);
  const Tensor one =
      zeros_like(soft.detach()).scatter_(dim, largest, ones(largest.sizes(), soft.options()));
  return one - soft.detach() + soft;
}

}  // namespace ambit::nn::functional
