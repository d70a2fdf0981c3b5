// Powers, and atan2: binary ops whose gradients need both operands, which they take in the
// gradient's dtype: in an integer's own, e - 1 and squares would wrap.
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <fmt/format.h>

#include "binary.h"
#include "core/ops/operands/allocate.h"
#include "core/ops/operands/broadcast.h"
#include "core/ops/operands/operand_grad.h"
#include "core/ops/operands/scalar_operand.h"

namespace ambit {
namespace {

struct Pow {
  static constexpr const char *kName = "pow", *kNameInPlace = "pow_";
  static constexpr BinaryOp kKernel = BinaryOp::pow;
  static constexpr Domain kDomain = Domain::numbers;
  static constexpr KeepsSelf kKeepsSelf = KeepsSelf::always;
  // x^0 is constant, also at x = 0, where the rule would say 0 * inf.
  static auto self_grad(const Tensor& self, const Tensor& exponent) {
    return [back = BackTo(self), x = saved(self), e = saved(exponent)](const Tensor& g) {
      const Tensor to = e().to(g.dtype());
      return back(masked_fill(g * (to * pow(x(), to - 1)), to == 0, 0));
    };
  }
  // 0^e is constant for e >= 0, where the rule would say 0 * -inf.
  static auto other_grad(const Tensor& self, const Tensor& exponent) {
    return [back = BackTo(exponent), x = saved(self), e = saved(exponent)](const Tensor& g) {
      const Tensor base = x().to(g.dtype());
      return back(masked_fill(g * (pow(base, e()) * log(base)), (base == 0) & (e() >= 0), 0));
    };
  }
};

struct Atan2 {
  static constexpr const char *kName = "atan2", *kNameInPlace = "atan2_";
  static constexpr BinaryOp kKernel = BinaryOp::atan2;
  static constexpr Domain kDomain = Domain::floats;
  static constexpr KeepsSelf kKeepsSelf = KeepsSelf::always;
  // d angle / d y = x / (x^2 + y^2), d angle / d x = -y / (x^2 + y^2)
  static auto self_grad(const Tensor& self, const Tensor& other) {
    return [back = BackTo(self), y = saved(self), x = saved(other)](const Tensor& g) {
      const Tensor a = y().to(g.dtype()), b = x().to(g.dtype());
      return back(g * (b / (square(b) + square(a))));
    };
  }
  static auto other_grad(const Tensor& self, const Tensor& other) {
    return [back = BackTo(other), y = saved(self), x = saved(other)](const Tensor& g) {
      const Tensor a = y().to(g.dtype()), b = x().to(g.dtype());
      return back(neg(g) * (a / (square(b) + square(a))));
    };
  }
};

void check_exponent(const char* op, const Tensor& self, const Scalar& exponent) {
  if (self.is_floating_point() || exponent.is_floating_point() || exponent.to<int64_t>() >= 0) {
    return;
  }
  throw Error(fmt::format("{}: expected an exponent >= 0 for a tensor of {}, got {}", op,
                          name(self.dtype()), exponent.to<int64_t>()));
}

// The usual exponents have maps of their own, which are faster and lose no digit.
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

Tensor pow(const Tensor& self, const Tensor& exponent) { return binary<Pow>(self, exponent); }
const Tensor& pow_(const Tensor& self, const Tensor& exponent) {
  return binary_in_place<Pow>(self, exponent);
}

Tensor pow(const Tensor& self, const Scalar& exponent) {
  check_exponent("pow", self, exponent);
  const DType dtype = compute_dtype("pow", Domain::numbers, result_type(self, exponent));
  const double e = exponent.to<double>();
  Tensor out = allocate("pow", self.sizes(), dtype, self.device());
  const Tensor x = operand(self, self.sizes(), dtype, self.device());
  if (!compute_special(x, e, out)) {
    kernels::binary(out, x, scalar_on(exponent, dtype, self.device(), self.sizes()), BinaryOp::pow);
  }
  if (!needs_gradient(self)) return out;
  return record("pow", std::move(out), wrt(self, [x = saved(self), e](const Tensor& g) {
                  if (e == 0) return zeros_like(g);
                  if (e == 1) return g;
                  return g * (e == 2 ? x() * 2 : pow(x(), e - 1) * e);
                }));
}

Tensor pow(const Scalar& self, const Tensor& exponent) {
  return pow(number_for("pow", Domain::numbers, exponent, self), exponent);
}

const Tensor& pow_(const Tensor& self, const Scalar& exponent) {
  check_exponent("pow_", self, exponent);
  return binary_in_place<Pow>(self, exponent);
}

Tensor atan2(const Tensor& self, const Tensor& other) { return binary<Atan2>(self, other); }
const Tensor& atan2_(const Tensor& self, const Tensor& other) {
  return binary_in_place<Atan2>(self, other);
}

}  // namespace ambit
