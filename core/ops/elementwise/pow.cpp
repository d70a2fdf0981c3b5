// Powers and atan2: binary ops whose gradients need both operands. The gradients convert them to
// their own dtype, because in integer dtypes e - 1 and squares would wrap.
#include <ambit/detail/autocast.h>
#include <ambit/detail/by_float32.h>
#include <ambit/detail/ternary_grad.h>
#include <ambit/error.h>
#include <ambit/ops/complex.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <fmt/format.h>

#include <cmath>

#include "binary.h"
#include "core/ops/operands/allocate.h"
#include "core/ops/operands/broadcast.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/operand_grad.h"
#include "where.h"

namespace ambit {
namespace {

struct Pow {
  static constexpr const char *kName = "pow", *kNameInPlace = "pow_";
  static constexpr BinaryOp kKernel = BinaryOp::pow;
  static constexpr Domain kDomain = Domain::numbers;
  static constexpr SavesSelf kSavesSelf = SavesSelf::always;
  // Results are conjugated, not x: conj(x) of a negative real x has another logarithm.
  // x^0 is constant, also at x = 0, where the formula would give 0 * inf.
  static auto self_grad(const Tensor& self, const Tensor& exponent) {
    return [back = ReduceGradTo(self), x = saved(self), e = saved(exponent)](const Tensor& g) {
      return back(conj(ternary_grad(TernaryOp::pow_base_grad, conj(g), x(), e())));
    };
  }
  // 0^e is constant for e >= 0, where the formula would give 0 * -inf.
  static auto other_grad(const Tensor& self, const Tensor& exponent) {
    return [back = ReduceGradTo(exponent), x = saved(self), e = saved(exponent)](const Tensor& g) {
      return back(conj(ternary_grad(TernaryOp::pow_exponent_grad, conj(g), x(), e())));
    };
  }
};

// Gradient of x to the power of a number. It uses pow(x, e - 1) where that is a unary map, which is
// faster on the CPU, and for double backward, which needs the exact exponent.
auto base_grad(const Tensor& base, double e) {
  return [base = saved(base), e](const Tensor& g) {
    const Tensor x = conj(base());
    if (e == 0) return zeros_like(g);
    if (e == 1) return g;
    if (e == 2) return ternary_grad(TernaryOp::square_grad, g, x, 2);
    if (e == 3) return ternary_grad(TernaryOp::reciprocal_grad, g, x, 3);
    if (e == 0.5 || e == 1.5 || GradMode::is_enabled()) return g * (pow(x, e - 1) * e);
    return ternary_grad(TernaryOp::pow_base_grad, g, x, e);
  };
}

struct Atan2 {
  static constexpr const char *kName = "atan2", *kNameInPlace = "atan2_";
  static constexpr BinaryOp kKernel = BinaryOp::atan2;
  static constexpr Domain kDomain = Domain::floats;
  static constexpr SavesSelf kSavesSelf = SavesSelf::always;
  // d angle / d y = x / (x^2 + y^2), d angle / d x = -y / (x^2 + y^2).
  static auto self_grad(const Tensor& self, const Tensor& other) {
    return [back = ReduceGradTo(self), y = saved(self), x = saved(other)](const Tensor& g) {
      return back(slope(TernaryOp::atan2_grad, g, y(), x()));
    };
  }
  static auto other_grad(const Tensor& self, const Tensor& other) {
    return [back = ReduceGradTo(other), y = saved(self), x = saved(other)](const Tensor& g) {
      return back(slope(TernaryOp::atan2_other_grad, g, y(), x()));
    };
  }
  // The formula for double backward squares its operands, which overflows float16 above 255: use
  // float32.
  static Tensor slope(TernaryOp op, const Tensor& g, const Tensor& y, const Tensor& x) {
    if (!GradMode::is_enabled()) return ternary_grad(op, g, y, x);
    return ternary_grad(op, upcast(g), upcast(y.to(g.dtype())), upcast(x.to(g.dtype())));
  }
};

void check_exponent(const char* op, const Tensor& self, const Scalar& exponent) {
  if (is_differentiable(self.dtype()) || exponent.is_floating_point() ||
      exponent.to<int64_t>() >= 0) {
    return;
  }
  throw Error(fmt::format("{}: expected an exponent >= 0 for a tensor of {}, got {}", op,
                          name(self.dtype()), exponent.to<int64_t>()));
}

// Common exponents use their own maps, which are faster and exact.
bool compute_special(const Tensor& self, double exponent, Tensor& out) {
  if (exponent == 2) {
    kernels::unary(out, self, UnaryOp::square);
  } else if (exponent == 0.5) {
    kernels::unary(out, self, UnaryOp::sqrt);
  } else if (exponent == -0.5) {
    kernels::unary(out, self, UnaryOp::rsqrt);
  } else if (exponent == -1) {
    kernels::unary(out, self, UnaryOp::reciprocal);
  } else {
    return false;
  }
  return true;
}

}  // namespace

Tensor pow(const Tensor& self, const Tensor& exponent) {
  AMBIT_AUTOCAST(pow, self, exponent)
  return binary<Pow>(self, exponent);
}
const Tensor& pow_(const Tensor& self, const Tensor& exponent) {
  return binary_in_place<Pow>(self, exponent);
}

Tensor pow(const Tensor& self, const Scalar& exponent) {
  AMBIT_AUTOCAST(pow, self, exponent)
  check_exponent("pow", self, exponent);
  const DType dtype = compute_dtype("pow", Domain::numbers, result_type(self, exponent));
  const double e = exponent.to<double>();
  Tensor out = allocate("pow", self.sizes(), dtype, self.device());
  const Tensor x = operand(self, self.sizes(), dtype, self.device());
  if (!compute_special(x, e, out)) {
    kernels::binary_scalar(out, x, {exponent}, BinaryOp::pow);
  }
  if (!needs_gradient(self)) return out;
  return record("pow", std::move(out), wrt(self, base_grad(self, e)));
}

Tensor pow(const Scalar& self, const Tensor& exponent) {
  AMBIT_AUTOCAST(pow, self, exponent)
  expect_defined("pow", "exponent", exponent);
  const auto base = self.to<double>();
  if (base < 0 && exponent.is_complex()) return pow(full({}, self, exponent.options()), exponent);
  Tensor out = compute_binary_scalar("pow", BinaryOp::pow, Domain::numbers, exponent, {self, true});
  if (!needs_gradient(exponent)) return out;
  // 0^e is constant for e >= 0, where the formula would give 0 * -inf.
  return record("pow", out,
                wrt(exponent, [y = saved_output(out), e = saved(exponent), base](const Tensor& g) {
                  const Tensor slope = g * (conj(y()) * std::log(base));
                  return base == 0 ? grad_where(slope, real(e()) >= 0, false) : slope;
                }));
}

const Tensor& pow_(const Tensor& self, const Scalar& exponent) {
  check_exponent("pow_", self, exponent);
  const Tensor before = needs_gradient(self) ? self.clone() : self;
  compute_binary_scalar_in_place("pow_", BinaryOp::pow, Domain::numbers, self, exponent);
  record_in_place("pow", self, wrt(self, base_grad(before, exponent.to<double>())));
  return self;
}

Tensor atan2(const Tensor& self, const Tensor& other) { return binary<Atan2>(self, other); }
const Tensor& atan2_(const Tensor& self, const Tensor& other) {
  return binary_in_place<Atan2>(self, other);
}

}  // namespace ambit
