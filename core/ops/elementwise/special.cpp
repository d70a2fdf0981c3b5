// Special functions composed of unary maps, and the zeta function.
#include <ambit/ops/special.h>

#include <ambit/autograd.h>
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "binary.h"
#include "core/ops/operands/expect.h"

namespace ambit {
namespace {

struct Zeta {
  static constexpr const char *kName = "special_zeta", *kNameInPlace = "special_zeta_";
  static constexpr BinaryOp kKernel = BinaryOp::zeta;
  static constexpr Domain kDomain = Domain::floats;
  static constexpr SavesSelf kSavesSelf = SavesSelf::never;
  static auto self_grad(const Tensor&, const Tensor&) {
    return [](const Tensor&) -> Tensor {
      throw NotImplementedError(
          "special_zeta: expected no backward for self, got one; its gradient is not implemented");
    };
  }
  // d zeta(s, q) / dq = -s zeta(s + 1, q)
  static auto other_grad(const Tensor& self, const Tensor& other) {
    return [back = ReduceGradTo(other), s = saved(self), q = saved(other)](const Tensor& g) {
      return back(neg(g) * s() * special_zeta(s() + 1, q()));
    };
  }
  static auto self_grad_with_scalar(const Tensor& self, const Scalar&) {
    return self_grad(self, self);
  }
};

void check_order(const char* op, int64_t n) {
  if (n < 0) throw Error(fmt::format("{}: expected n >= 0, got {}", op, n));
}

void check_dimension(const char* op, int64_t p) {
  constexpr int64_t kMost = 1 << 20;  // the sum has p terms
  if (p < 1 || p > kMost) {
    throw Error(fmt::format("{}: expected p from 1 to {}, got {}", op, kMost, p));
  }
}

// Return the operand that an in-place function computes from: a copy if the ops save it, since self
// is overwritten.
Tensor kept(const Tensor& self) { return needs_gradient(self) ? self.clone() : self; }

// Write the result to self in place; gradients come from the ops that computed it.
const Tensor& put(const char* op, const Tensor& self, const Tensor& result) {
  check_casts_to(op, result.dtype(), self.dtype());
  return copy_(self, result);
}

// Convert a number to t's dtype: a number does not promote a tensor, even a 0-dim one.
Tensor scalar_like(const Tensor& t, const Scalar& number) {
  const DType dtype = is_floating_point(t.dtype()) ? t.dtype() : get_default_dtype();
  return scalar_tensor(number, TensorOptions(dtype).device(t.device()));
}

}  // namespace

Tensor special_zeta(const Tensor& self, const Tensor& other) { return binary<Zeta>(self, other); }
Tensor special_zeta(const Tensor& self, const Scalar& other) { return binary<Zeta>(self, other); }
Tensor special_zeta(const Scalar& self, const Tensor& other) {
  expect_defined("special_zeta", "other", other);
  Tensor out =
      compute_binary_scalar("special_zeta", BinaryOp::zeta, Domain::floats, other, {self, true});
  if (!needs_gradient(other)) return out;
  const double s = self.to<double>();
  return record("special_zeta", std::move(out), wrt(other, [q = saved(other), s](const Tensor& g) {
                  return g * (special_zeta(Scalar(s + 1), q()) * -s);
                }));
}

Tensor special_ndtr(const Tensor& self) {
  expect_defined("special_ndtr", "self", self);
  return erfc(self * (-1 / std::numbers::sqrt2)) * 0.5;
}

// For small x use log(e^(-x^2 / 2) erfcx(-x / sqrt(2)) / 2), which does not underflow, for other x
// log(1 - Phi(-x)), where Phi(-x) is small. The operand of the branch that is not selected is 0, so
// that its gradient is finite.
Tensor special_log_ndtr(const Tensor& self) {
  expect_defined("special_log_ndtr", "self", self);
  expect_real("special_log_ndtr", self);
  const Tensor x = self.is_floating_point() ? self : self.to(get_default_dtype());
  const Tensor far = x < -1;
  const Tensor low = where(far, x, 0.0) * (1 / std::numbers::sqrt2);
  const Tensor high = where(far, 0.0, x) * (1 / std::numbers::sqrt2);
  return where(far, log(special_erfcx(-low) * 0.5) - low * low, log1p(erfc(high) * -0.5));
}

Tensor special_entr(const Tensor& self) {
  expect_defined("special_entr", "self", self);
  expect_real("special_entr", self);
  const Tensor floats = self.is_floating_point() ? self : self.to(get_default_dtype());
  Tensor out;
  {
    const NoGradGuard no_grad;
    out = where(floats < 0, -std::numeric_limits<double>::infinity(), -xlogy(floats, floats));
  }
  return record("special_entr", std::move(out),
                wrt(floats, [x = saved(floats)](const Tensor& g) { return g * -(log(x()) + 1); }));
}

Tensor special_xlog1py(const Tensor& self, const Tensor& other) {
  check_devices("special_xlog1py", {{"self", self}, {"other", other}}, DeviceRule::elementwise);
  expect_defined("special_xlog1py", "self", self);
  expect_defined("special_xlog1py", "other", other);
  expect_real("special_xlog1py", self);
  expect_real("special_xlog1py", other);
  const DType promoted = result_type(self, other);
  const DType dtype = is_floating_point(promoted) ? promoted : get_default_dtype();
  const Tensor x = self.to(dtype), y = other.to(dtype);
  Tensor out;
  {
    const NoGradGuard no_grad;
    const Tensor none = logical_and(x == 0, logical_not(isnan(y)));
    out = masked_fill(x * log1p(y), none, 0);
  }
  // The result is constant 0 only where self is 0 and the logarithm is finite.
  return record("special_xlog1py", std::move(out),
                wrt(x,
                    [back = ReduceGradTo(x), a = saved(x), b = saved(y)](const Tensor& g) {
                      return back(masked_fill(g * log1p(b()), logical_and(a() == 0, b() <= -1), 0));
                    }),
                wrt(y, [back = ReduceGradTo(y), a = saved(x), b = saved(y)](const Tensor& g) {
                  return back(g * a() / (b() + 1));
                }));
}
Tensor special_xlog1py(const Scalar& self, const Tensor& other) {
  expect_defined("special_xlog1py", "other", other);
  return special_xlog1py(scalar_like(other, self), other);
}
Tensor special_xlog1py(const Tensor& self, const Scalar& other) {
  expect_defined("special_xlog1py", "self", self);
  return special_xlog1py(self, scalar_like(self, other));
}

// (-1)^(n+1) n! zeta(n + 1, x)
Tensor polygamma(int64_t n, const Tensor& self) {
  check_order("polygamma", n);
  if (n == 0) return digamma(self);
  const double factor = std::tgamma(static_cast<double>(n) + 1) * (n % 2 ? 1 : -1);
  return special_zeta(Scalar(static_cast<double>(n) + 1), self) * factor;
}
const Tensor& polygamma_(const Tensor& self, int64_t n) {
  check_order("polygamma_", n);
  expect_defined("polygamma_", "self", self);
  return put("polygamma_", self, polygamma(n, kept(self)));
}

Tensor mvlgamma(const Tensor& self, int64_t p) {
  check_dimension("mvlgamma", p);
  Tensor out = lgamma(self);
  for (int64_t j = 1; j < p; ++j) out = out + lgamma(self - static_cast<double>(j) / 2);
  const auto d = static_cast<double>(p);
  return p == 1 ? out : out + d * (d - 1) / 4 * std::log(std::numbers::pi);
}
const Tensor& mvlgamma_(const Tensor& self, int64_t p) {
  check_dimension("mvlgamma_", p);
  expect_defined("mvlgamma_", "self", self);
  return put("mvlgamma_", self, mvlgamma(kept(self), p));
}

Tensor deg2rad(const Tensor& self) {
  expect_defined("deg2rad", "self", self);
  return mul(self, std::numbers::pi / 180);
}
const Tensor& deg2rad_(const Tensor& self) {
  expect_defined("deg2rad_", "self", self);
  return mul_(self, std::numbers::pi / 180);
}
Tensor rad2deg(const Tensor& self) {
  expect_defined("rad2deg", "self", self);
  return mul(self, 180 / std::numbers::pi);
}
const Tensor& rad2deg_(const Tensor& self) {
  expect_defined("rad2deg_", "self", self);
  return mul_(self, 180 / std::numbers::pi);
}

}  // namespace ambit
