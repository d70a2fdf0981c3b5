// add, sub, mul and true division with their gradients. Rounding division: modulo.cpp.
#include <ambit/detail/ternary_grad.h>
#include <ambit/error.h>
#include <ambit/ops/complex.h>
#include <ambit/ops/elementwise.h>
#include <fmt/format.h>

#include "add_scaled.h"
#include "binary.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/operand_grad.h"

namespace ambit {
namespace {

bool is_one(const Scalar& s) {
  return s.is_floating_point() ? s.to<double>() == 1 : s.to<int64_t>() == 1;
}

Scalar product(const Scalar& a, const Scalar& b) {
  if (a.is_floating_point() || b.is_floating_point()) return a.to<double>() * b.to<double>();
  return static_cast<int64_t>(a.to<uint64_t>() * b.to<uint64_t>());  // wraps
}

void check_alpha(const char* op, const Scalar& alpha, DType dtype) {
  const char* got = nullptr;
  if (alpha.is_floating_point() && !is_differentiable(dtype)) got = "a floating-point number";
  if (alpha.dtype() == kBool && dtype != kBool) got = "a bool";
  if (got) {
    throw DTypeError(
        fmt::format("{}: expected an alpha compatible with {}, got {}", op, name(dtype), got));
  }
}

// Fast check for alpha's default, the most frequent value.
bool is_default(const Scalar& alpha) { return alpha.dtype() == kInt64 && alpha.to<int64_t>() == 1; }

// Return the number to add to self.
Scalar scaled(const char* op, const Tensor& self, const Scalar& other, const Scalar& alpha) {
  expect_defined(op, "self", self);
  if (is_default(alpha)) return other;
  check_alpha(op, alpha, result_type(self, other));
  return is_one(alpha) ? other : product(other, alpha);
}

// self + alpha * other, self - alpha * other. Not inlined, so that plain sums do not set up its
// stack frame.
template <class Family>
[[gnu::noinline]] Tensor weighted(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  check_operands(Family::kName, self, other, DeviceRule::elementwise);
  check_alpha(Family::kName, alpha, result_type(self, other));
  if (is_one(alpha)) return binary<Family>(self, other);
  return add_scaled(Family::kName, self, other, Family::factor(alpha));
}

template <class Family>
[[gnu::noinline]] const Tensor& weighted_in_place(const Tensor& self, const Tensor& other,
                                                  const Scalar& alpha) {
  check_operands(Family::kNameInPlace, self, other, DeviceRule::in_place_elementwise);
  check_alpha(Family::kNameInPlace, alpha, result_type(self, other));
  if (is_one(alpha)) return binary_in_place<Family>(self, other);
  return add_scaled_in_place(Family::kNameInPlace, Family::kName, self, other,
                             Family::factor(alpha));
}

[[noreturn]] void throw_bool_difference(const char* op) {
  throw DTypeError(fmt::format("{}: expected numbers, got bool; use ^ or logical_xor", op));
}

// Check that no operand of a difference is bool. A Domain cannot check this: it would allow bool
// together with a number. Other errors of the operands take precedence.
void expect_no_bool(const char* op, const Tensor& self, const Tensor& other,
                    DeviceRule rule = DeviceRule::elementwise) {
  if (!self.defined() || !other.defined()) return;
  if (self.dtype() != kBool && other.dtype() != kBool) [[likely]]
    return;
  check_operands(op, self, other, rule);
  throw_bool_difference(op);
}
void expect_no_bool(const char* op, const Tensor& self, const Scalar& other) {
  expect_defined(op, "self", self);
  if (self.dtype() == kBool || other.dtype() == kBool) throw_bool_difference(op);
}

struct Add {
  static constexpr const char *kName = "add", *kNameInPlace = "add_";
  static constexpr BinaryOp kKernel = BinaryOp::add;
  static constexpr Domain kDomain = Domain::any;
  static constexpr SavesSelf kSavesSelf = SavesSelf::never;
  static auto self_grad(const Tensor& self, const Tensor&) { return ReduceGradTo(self); }
  static auto other_grad(const Tensor&, const Tensor& other) { return ReduceGradTo(other); }
  static auto self_grad_with_scalar(const Tensor&, const Scalar&) {
    return [](const Tensor& g) { return g; };
  }
  static Scalar factor(const Scalar& alpha) { return alpha; }
};

struct Sub {
  static constexpr const char *kName = "sub", *kNameInPlace = "sub_";
  static constexpr BinaryOp kKernel = BinaryOp::sub;
  static constexpr Domain kDomain = Domain::any;
  static constexpr SavesSelf kSavesSelf = SavesSelf::never;
  static auto self_grad(const Tensor& self, const Tensor&) { return ReduceGradTo(self); }
  static auto other_grad(const Tensor&, const Tensor& other) {
    return [back = ReduceGradTo(other)](const Tensor& g) { return back(neg(g)); };
  }
  static auto self_grad_with_scalar(const Tensor&, const Scalar&) {
    return [](const Tensor& g) { return g; };
  }
  static Scalar factor(const Scalar& alpha) { return product(alpha, -1); }
};

struct Mul {
  static constexpr const char *kName = "mul", *kNameInPlace = "mul_";
  static constexpr BinaryOp kKernel = BinaryOp::mul;
  static constexpr Domain kDomain = Domain::any;
  static constexpr SavesSelf kSavesSelf = SavesSelf::for_other;
  static auto factor_grad(const Tensor& factor, const Tensor& another) {
    return [back = ReduceGradTo(factor), a = saved(another)](const Tensor& g) {
      return back(g * conj(a()));
    };
  }
  static auto self_grad(const Tensor& self, const Tensor& other) {
    return factor_grad(self, other);
  }
  static auto other_grad(const Tensor& self, const Tensor& other) {
    return factor_grad(other, self);
  }
  static auto self_grad_with_scalar(const Tensor&, const Scalar& other) {
    return [other](const Tensor& g) { return g * other; };
  }
};

struct Div {
  static constexpr const char *kName = "div", *kNameInPlace = "div_";
  static constexpr BinaryOp kKernel = BinaryOp::div;
  static constexpr Domain kDomain = Domain::floats;
  static constexpr SavesSelf kSavesSelf = SavesSelf::for_other;
  static auto self_grad(const Tensor& self, const Tensor& other) {
    return [back = ReduceGradTo(self), b = saved(other)](const Tensor& g) {
      return back(g / conj(b()));
    };
  }
  static auto other_grad(const Tensor& self, const Tensor& other) {
    return [back = ReduceGradTo(other), a = saved(self), b = saved(other)](const Tensor& g) {
      return back(ternary_grad(TernaryOp::div_grad, g, conj(b()), conj(a())));
    };
  }
  static auto self_grad_with_scalar(const Tensor&, const Scalar& other) {
    return [other](const Tensor& g) { return g / other; };
  }
};

}  // namespace

Tensor add(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  return is_default(alpha) ? binary<Add>(self, other) : weighted<Add>(self, other, alpha);
}
Tensor add(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  return binary<Add>(self, scaled("add", self, other, alpha));
}
const Tensor& add_(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  return is_default(alpha) ? binary_in_place<Add>(self, other)
                           : weighted_in_place<Add>(self, other, alpha);
}
const Tensor& add_(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  return binary_in_place<Add>(self, scaled("add_", self, other, alpha));
}

Tensor sub(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  expect_no_bool("sub", self, other);
  return is_default(alpha) ? binary<Sub>(self, other) : weighted<Sub>(self, other, alpha);
}
Tensor sub(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  expect_no_bool("sub", self, other);
  return binary<Sub>(self, scaled("sub", self, other, alpha));
}
Tensor rsub(const Tensor& self, const Scalar& other) {
  expect_no_bool("rsub", self, other);
  Tensor out = compute_binary_scalar("rsub", BinaryOp::sub, Domain::any, self, {other, true});
  if (!needs_gradient(self)) return out;
  return record("rsub", std::move(out), wrt(self, [](const Tensor& g) { return neg(g); }));
}
Tensor rsub(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  expect_no_bool("rsub", self, other);
  check_alpha("rsub", alpha, result_type(self, other));
  return rsub(is_one(alpha) ? self : mul(self, alpha), other);
}
Tensor rsub(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  check_devices("rsub", {{"self", self}, {"other", other}}, DeviceRule::elementwise);
  expect_defined("rsub", "self", self);
  expect_defined("rsub", "other", other);
  return sub(other, self, alpha);
}
const Tensor& sub_(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  expect_no_bool("sub_", self, other, DeviceRule::in_place_elementwise);
  return is_default(alpha) ? binary_in_place<Sub>(self, other)
                           : weighted_in_place<Sub>(self, other, alpha);
}
const Tensor& sub_(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  expect_no_bool("sub_", self, other);
  return binary_in_place<Sub>(self, scaled("sub_", self, other, alpha));
}

AMBIT_BINARY_OPS(mul, Mul)
AMBIT_BINARY_OPS(div, Div)

Tensor operator/(const Scalar& a, const Tensor& b) {
  Tensor out = compute_binary_scalar("div", BinaryOp::div, Domain::floats, b, {a, true});
  if (!needs_gradient(b)) return out;
  return record("div", out, wrt(b, [b = saved(b), a = a.to<double>()](const Tensor& g) {
                  return ternary_grad(TernaryOp::div_grad, g, conj(b()), a);
                }));
}

}  // namespace ambit
