// Activations and elementwise losses with one kernel for the function and one for the gradient.
#include <ambit/backend/activation_constants.h>
#include <ambit/detail/activation.h>
#include <ambit/detail/ternary_grad.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/shape.h>

#include "activation_grads.h"
#include "binary.h"
#include "core/ops/operands/allocate.h"
#include "core/ops/operands/expect.h"
#include "where.h"

namespace ambit {
namespace {

// The gradient of a map as a formula of differentiable ops: dy times the derivative at x. No
// intermediate may be infinite, even if masked: its gradient would be 0 * inf.
Tensor formula(BinaryOp op, const Tensor& dy, const Tensor& x) {
  using arithmetic::kSeluAlpha, arithmetic::kSeluScale;
  const auto gate = [](const Tensor& t) {
    return tanh(neg(activated(neg(t), UnaryOp::logsigmoid)));
  };
  switch (op) {
    case BinaryOp::silu_grad:
      return dy * (sigmoid(x) * (x * sigmoid(neg(x)) + 1));
    case BinaryOp::mish_grad:
      return dy * (gate(x) + x * sigmoid(x) * (1 - square(gate(x))));
    case BinaryOp::selu_grad:
      return dy * where(x <= 0, exp(x.clamp_max(0)) * (kSeluScale * kSeluAlpha), kSeluScale);
    case BinaryOp::logsigmoid_grad:
      return dy * sigmoid(neg(x));
    case BinaryOp::hardsigmoid_grad:
      return grad_where(dy / 6, (x > -3) & (x < 3), true);
    default: {  // hardswish_grad
      const Tensor bends = logical_and(x > -3, x < 3);
      const Tensor slope = masked_fill(x, logical_not(bends), 0) / 3 + 0.5;
      return dy * where(bends, slope, where(x <= -3, 0, ones_like(x)));
    }
  }
}

Tensor unary_grad(BinaryOp op, const Tensor& g, const Tensor& x) {
  if (GradMode::is_enabled()) return formula(op, g, x);
  return compute_binary(name(op), op, Domain::floats_only, g, x);
}

BinaryOp grad_of(UnaryOp function) {
  switch (function) {
    case UnaryOp::silu:
      return BinaryOp::silu_grad;
    case UnaryOp::mish:
      return BinaryOp::mish_grad;
    case UnaryOp::selu:
      return BinaryOp::selu_grad;
    case UnaryOp::logsigmoid:
      return BinaryOp::logsigmoid_grad;
    case UnaryOp::hardsigmoid:
      return BinaryOp::hardsigmoid_grad;
    default:
      return BinaryOp::hardswish_grad;
  }
}

TernaryOp grad_of(BinaryOp function) {
  switch (function) {
    case BinaryOp::elu:
      return TernaryOp::elu_grad;
    case BinaryOp::celu:
      return TernaryOp::celu_grad;
    case BinaryOp::leaky_relu:
      return TernaryOp::leaky_relu_grad;
    case BinaryOp::softplus:
      return TernaryOp::softplus_grad;
    case BinaryOp::smooth_l1:
      return TernaryOp::smooth_l1_grad;
    default:
      return TernaryOp::huber_grad;
  }
}

bool has_kernels(UnaryOp function) {
  return function == UnaryOp::hardswish || grad_of(function) != BinaryOp::hardswish_grad;
}

[[gnu::noinline]] Tensor half(const Tensor& x, int64_t dim, int64_t which) {
  const int64_t n = x.size(dim) / 2;
  return x.narrow(dim, which * n, n);
}

// Write each half of dx with one kernel.
Tensor gated_halves_grad(const Tensor& g, const Tensor& x, const Tensor& gate, int64_t dim) {
  const Tensor value = half(x, dim, 0);
  if (GradMode::is_enabled()) {
    const Tensor s = sigmoid(half(x, dim, 1));
    return cat({g * s, ternary_grad(TernaryOp::glu_grad, g, value, s)}, dim);
  }
  const Tensor dx = empty_like(x);
  Tensor of_value = half(dx, dim, 0), of_gate = half(dx, dim, 1);
  kernels::binary(of_value, g, gate, BinaryOp::mul);
  kernels::ternary(of_gate, g, value, gate, {}, TernaryOp::glu_grad);
  return dx;
}

struct LogitLoss {
  static constexpr const char* kName = "logit_loss";
  static constexpr BinaryOp kKernel = BinaryOp::logit_loss;
  static constexpr Domain kDomain = Domain::floats_only;
  static auto self_grad(const Tensor& self, const Tensor& target) {
    return [back = ReduceGradTo(self), x = saved(self), t = saved(target)](const Tensor& g) {
      return back(ternary_grad(TernaryOp::logit_loss_grad, g, x(), t()));
    };
  }
  static auto other_grad(const Tensor& self, const Tensor& target) {
    return [back = ReduceGradTo(target), x = saved(self)](const Tensor& g) {
      return back(neg(g) * x());
    };
  }
};

}  // namespace

Tensor activated(const Tensor& x, UnaryOp activation) {
  if (!has_kernels(activation)) {
    expect_activation("activated", activation);
    if (activation == UnaryOp::relu) return relu(x);
    return gelu(x, activation == UnaryOp::gelu ? "none" : "tanh");
  }
  expect_floating(name(activation), x);
  Tensor out = allocate(name(activation), x.sizes(), x.dtype(), x.device());
  kernels::unary(out, x, activation);
  if (!needs_gradient(x)) return out;
  return record(name(activation), std::move(out),
                wrt(x, [x = saved(x), op = grad_of(activation)](const Tensor& g) {
                  return unary_grad(op, g, x());
                }));
}

Tensor activated(const Tensor& x, BinaryOp activation, double parameter) {
  expect_floating(name(activation), x);
  Tensor out = allocate(name(activation), x.sizes(), x.dtype(), x.device());
  kernels::binary_scalar(out, x, {parameter}, activation);
  if (!needs_gradient(x)) return out;
  return record(name(activation), std::move(out),
                wrt(x, [x = saved(x), op = grad_of(activation), parameter](const Tensor& g) {
                  return ternary_grad(op, g, x(), parameter);
                }));
}

Tensor leaky_relu_by(const Tensor& x, const Tensor& slope) {
  constexpr BinaryOp kOp = BinaryOp::leaky_relu;
  Tensor out = compute_binary(name(kOp), kOp, Domain::floats_only, x, slope);
  if (!needs_gradient(x, slope)) return out;
  auto of_x = [back = ReduceGradTo(x), x = saved(x), a = saved(slope)](const Tensor& g) {
    return back(ternary_grad(TernaryOp::leaky_relu_grad, g, x(), a()));
  };
  auto of_slope = [back = ReduceGradTo(slope), saved_x = saved(x)](const Tensor& g) {
    const Tensor at = saved_x();
    // Unlike masked_fill, clamp_max has a gradient of 0 at 0.
    return back(g * (needs_gradient(at) ? at.masked_fill(at > 0, 0) : at.clamp_max(0)));
  };
  return record(name(kOp), std::move(out), wrt(x, std::move(of_x)),
                wrt(slope, std::move(of_slope)));
}

Tensor gated_halves(const Tensor& x, int64_t dim) {
  Tensor out, gate;
  {
    const NoGradGuard no_grad;
    gate = sigmoid(half(x, dim, 1));
    out = half(x, dim, 0) * gate;
  }
  return record("glu", out, wrt(x, [dim, x = saved(x), gate = saved(gate)](const Tensor& g) {
                  return gated_halves_grad(g, x(), gate(), dim);
                }));
}

Tensor logit_loss(const Tensor& x, const Tensor& target) { return binary<LogitLoss>(x, target); }

}  // namespace ambit
