// Gradients of activations, differentiable for double backward.
#include "activation_grads.h"

#include <ambit/backend/activation_constants.h>
#include <ambit/error.h>
#include <ambit/ops/elementwise.h>
#include <fmt/format.h>

#include <algorithm>
#include <numbers>

#include "binary.h"

namespace ambit {

Tensor relu_grad(const Tensor& g, const Tensor& y) {
  Tensor out = compute_binary("relu_grad", BinaryOp::relu_grad, Domain::floats_only, g, y);
  if (!needs_gradient(g)) return out;
  return record("relu_grad", std::move(out),
                wrt(g, [y = saved(y)](const Tensor& gg) { return relu_grad(gg, y()); }));
}

Tensor sigmoid_grad(const Tensor& g, const Tensor& y) {
  if (y.is_complex()) return g * ((1 - y) * y);
  Tensor out = compute_binary("sigmoid_grad", BinaryOp::sigmoid_grad, Domain::floats_only, g, y);
  if (!needs_gradient(g, y)) return out;
  return record(
      "sigmoid_grad", std::move(out),
      wrt(g, [y = saved(y)](const Tensor& gg) { return sigmoid_grad(gg, y()); }),
      wrt(y, [g = saved(g), y = saved(y)](const Tensor& gg) { return gg * g() * (1 - y() * 2); }));
}

Tensor tanh_grad(const Tensor& g, const Tensor& y) {
  if (y.is_complex()) return g * (1 - y * y);
  Tensor out = compute_binary("tanh_grad", BinaryOp::tanh_grad, Domain::floats_only, g, y);
  if (!needs_gradient(g, y)) return out;
  return record(
      "tanh_grad", std::move(out),
      wrt(g, [y = saved(y)](const Tensor& gg) { return tanh_grad(gg, y()); }),
      wrt(y, [g = saved(g), y = saved(y)](const Tensor& gg) { return gg * g() * (y() * -2); }));
}

Tensor gelu_grad(const Tensor& g, const Tensor& x) {
  Tensor out = compute_binary("gelu_grad", BinaryOp::gelu_grad, Domain::floats_only, g, x);
  if (!needs_gradient(g, x)) return out;
  // The second derivative is (2 - x^2) phi(x), where phi is the normal density.
  return record("gelu_grad", std::move(out),
                wrt(g, [x = saved(x)](const Tensor& gg) { return gelu_grad(gg, x()); }),
                wrt(x, [g = saved(g), x = saved(x)](const Tensor& gg) {
                  constexpr double kScale = std::numbers::inv_sqrtpi / std::numbers::sqrt2;
                  const Tensor x2 = x() * x();
                  return gg * g() * ((2 - x2) * exp(x2 * -0.5) * kScale);
                }));
}

Tensor gelu_tanh_grad(const Tensor& g, const Tensor& x) {
  Tensor out =
      compute_binary("gelu_tanh_grad", BinaryOp::gelu_tanh_grad, Domain::floats_only, g, x);
  if (!needs_gradient(g, x)) return out;
  // The second derivative of x s with s = sigmoid(u(x)) is s (1 - s) (2 u' + x ((1 - 2 s) u'^2 +
  // u'')).
  return record("gelu_tanh_grad", std::move(out),
                wrt(g, [x = saved(x)](const Tensor& gg) { return gelu_tanh_grad(gg, x()); }),
                wrt(x, [g = saved(g), x = saved(x)](const Tensor& gg) {
                  using arithmetic::kGeluTanhCube, arithmetic::kGeluTanhSlope;
                  const Tensor x2 = x() * x();
                  const Tensor s = sigmoid(x() * (x2 * kGeluTanhCube + 1) * kGeluTanhSlope);
                  const Tensor slope = (x2 * (3 * kGeluTanhCube) + 1) * kGeluTanhSlope;
                  const Tensor bend =
                      (1 - s * 2) * slope * slope + x() * (6 * kGeluTanhCube * kGeluTanhSlope);
                  return gg * g() * (s * (1 - s) * (slope * 2 + x() * bend));
                }));
}

void expect_activation(const char* op, UnaryOp function) {
  if (std::ranges::count(kActivations, function) > 0) return;
  throw Error(fmt::format("{}: expected the activation relu, gelu or gelu_tanh, got {}", op,
                          name(function)));
}

Tensor record_relu(const Tensor& out, const Tensor& sum) {
  return record("relu", out,
                wrt(sum, [y = saved_output(out)](const Tensor& g) { return relu_grad(g, y()); }));
}

}  // namespace ambit
