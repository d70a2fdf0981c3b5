// Linear layers, alone and fused with an activation.
#include <ambit/backend/kernels.h>
#include <ambit/detail/activation.h>
#include <ambit/detail/autocast.h>
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/complex.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include "core/ops/composite.h"
#include "core/ops/elementwise/activation_grads.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/operand_grad.h"
#include "core/ops/operands/unrecorded.h"
#include "rows.h"

namespace ambit {
namespace {

void check_operands(const char* op, const Tensor& input, const Tensor& weight, const Tensor& bias) {
  check_devices(op, {{"input", input}, {"weight", weight}, {"bias", bias}});
  naming("weight", weight, [&] {
    expect_defined(op, "input", input);
    expect_input_dtype(op, input, "weight", weight);
    expect_dtype_if_given(op, "bias", bias, input.dtype());
    expect_numbers(op, input);
    expect_dim(op, "weight", weight, 2, "a matrix");
    const int64_t k = weight.sizes()[1];
    if (input.dim() == 0 || input.sizes().back() != k) {
      throw ShapeError(
          fmt::format("{}: expected input of shape [..., {}], got {}", op, k, str(input.sizes())));
    }
    expect_sizes(op, "bias", bias, {weight.sizes()[0]});
  });
}

Tensor record_linear(Tensor out, const Tensor& input, const Tensor& weight, const Tensor& bias) {
  const int64_t rows = row_count(input.sizes()), n = weight.sizes()[0], k = weight.sizes()[1];
  return record("linear", std::move(out),
                wrt(input, [w = saved(weight)](const Tensor& g) { return matmul(g, conj(w())); }),
                wrt(weight,
                    [x = saved(input), rows, n, k](const Tensor& g) {
                      return mm(t(reshape(g, {rows, n})), reshape(conj(x()), {rows, k}));
                    }),
                wrt(bias, [n](const Tensor& g) { return sum_to(g, {n}); }));
}

}  // namespace

Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  AMBIT_AUTOCAST(linear, input, weight, bias)
  check_operands("linear", input, weight, bias);
  Tensor out = by_rows("linear", input, weight,
                       [&](Tensor& y, const Tensor& x) { kernels::linear(y, x, weight, bias); });
  return record_linear(std::move(out), input, weight, bias);
}

void composite::linear(Tensor& y, const Tensor& x, const Tensor& w, const Tensor& b) {
  const int64_t m = x.size(0), k = x.size(1), n = w.size(0);
  Tensor product = alias(y, {1, m, n});
  kernels::matmul(product, alias(x, {1, m, k}, {0, x.stride(0), x.stride(1)}),
                  alias(w, {1, k, n}, {0, w.stride(1), w.stride(0)}));
  if (b.defined()) y.add_(b);
}

Tensor linear_map(const Tensor& input, const Tensor& weight, const Tensor& bias,
                  UnaryOp activation) {
  AMBIT_AUTOCAST(linear_map, input, weight, bias, activation)
  constexpr const char* kOp = "linear_map";
  check_operands(kOp, input, weight, bias);
  expect_floating(kOp, input);
  expect_activation(kOp, activation);
  const bool differentiated = needs_gradient(input, weight, bias);
  // relu's gradient needs only its result; the others need the activation's input.
  if (differentiated && activation != UnaryOp::relu) {
    return activated(linear(input, weight, bias), activation);
  }
  Tensor out = by_rows(kOp, input, weight, [&](Tensor& y, const Tensor& x) {
    kernels::linear_map(y, x, weight, bias, activation);
  });
  if (!differentiated) return out;
  return record_relu(out, record_linear(out.detach(), input, weight, bias));
}

void composite::linear_map(Tensor& y, const Tensor& x, const Tensor& w, const Tensor& b,
                           const ActivationParams& map) {
  kernels::linear(y, x, w, b);
  kernels::unary(y, y, map);
}

}  // namespace ambit
