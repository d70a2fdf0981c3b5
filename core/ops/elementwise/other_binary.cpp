// Less common binary ops: hypot, copysign, xlogy, logaddexp and others.
#include <ambit/detail/ternary_grad.h>
#include <ambit/error.h>
#include <ambit/ops/complex.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <limits>
#include <optional>

#include "binary.h"
#include "core/ops/operands/expect.h"
#include "where.h"

namespace ambit {
namespace {

struct Hypot {
  static constexpr const char *kName = "hypot", *kNameInPlace = "hypot_";
  static constexpr BinaryOp kKernel = BinaryOp::hypot;
  static constexpr Domain kDomain = Domain::floats_only;
  static constexpr SavesSelf kSavesSelf = SavesSelf::always;
  static auto side_grad(const Tensor& side, const Tensor& other) {
    return [back = ReduceGradTo(side), a = saved(side), b = saved(other)](const Tensor& g) {
      return back(ternary_grad(TernaryOp::hypot_grad, g, a(), b()));
    };
  }
  static auto self_grad(const Tensor& self, const Tensor& other) { return side_grad(self, other); }
  static auto other_grad(const Tensor& self, const Tensor& other) { return side_grad(other, self); }
};

// The derivative is 1 where the sign is kept, -1 where it changes, and defined as 0 at 0.
struct Copysign {
  static constexpr const char *kName = "copysign", *kNameInPlace = "copysign_";
  static constexpr BinaryOp kKernel = BinaryOp::copysign;
  static constexpr Domain kDomain = Domain::floats;
  static constexpr SavesSelf kSavesSelf = SavesSelf::always;
  template <class Other>
  static Tensor slope(const Tensor& g, const Tensor& self, const Other& sign_of) {
    const Tensor ratio = copysign(self, sign_of) / self;
    return g * masked_fill(ratio, self == 0, 0).to(g.dtype());
  }
  static auto self_grad(const Tensor& self, const Tensor& other) {
    return [back = ReduceGradTo(self), a = saved(self), b = saved(other)](const Tensor& g) {
      return back(slope(g, a(), b()));
    };
  }
  static auto other_grad(const Tensor&, const Tensor& other) { return ZerosLike(other); }
  static auto self_grad_with_scalar(const Tensor& self, const Scalar& other) {
    return [a = saved(self), other](const Tensor& g) { return slope(g, a(), other); };
  }
};

struct Xlogy {
  static constexpr const char *kName = "xlogy", *kNameInPlace = "xlogy_";
  static constexpr BinaryOp kKernel = BinaryOp::xlogy;
  static constexpr Domain kDomain = Domain::floats;
  static constexpr SavesSelf kSavesSelf = SavesSelf::always;
  // The result is constant 0 where self is 0, also for other <= 0, where the formula's logarithm is
  // not finite.
  static auto self_grad(const Tensor& self, const Tensor& other) {
    return [back = ReduceGradTo(self), a = saved(self), b = saved(other)](const Tensor& g) {
      return back(masked_fill(xlogy(g, b()), logical_and(a() == 0, b() <= 0), 0));
    };
  }
  static auto other_grad(const Tensor& self, const Tensor& other) {
    return [back = ReduceGradTo(other), a = saved(self), b = saved(other)](const Tensor& g) {
      return back(g * a() / b());
    };
  }
  static auto self_grad_with_scalar(const Tensor& self, const Scalar& other) {
    return [a = saved(self), other](const Tensor& g) {
      const Tensor slope = xlogy(g, other);
      return other.to<double>() <= 0 ? grad_where(slope, a() == 0, false) : slope;
    };
  }
};

template <BinaryOp kernel>
struct LogAddExp {
  static constexpr bool kNatural = kernel == BinaryOp::logaddexp;
  static constexpr const char* kName = kNatural ? "logaddexp" : "logaddexp2";
  static constexpr BinaryOp kKernel = kernel;
  static constexpr Domain kDomain = Domain::floats_only;
  // The derivative with respect to `side` is e^side divided by the sum of both exponentials.
  static auto side_grad(const Tensor& side, const Tensor& other) {
    return [back = ReduceGradTo(side), a = saved(side), b = saved(other)](const Tensor& g) {
      if (kNatural) return back(ternary_grad(TernaryOp::logaddexp_grad, g, a(), b()));
      return back(g / (exp2(b() - a()) + 1));
    };
  }
  static auto self_grad(const Tensor& self, const Tensor& other) { return side_grad(self, other); }
  static auto other_grad(const Tensor& self, const Tensor& other) { return side_grad(other, self); }
};

void expect_one_dtype(const char* op, const Tensor& self, const Tensor& other, DeviceRule rule) {
  check_operands(op, self, other, rule);
  if (self.dtype() != other.dtype()) throw_dtypes_differ(op, self.dtype(), other.dtype());
}

// log(e^a + e^b) = b + log(1 + e^(a - b)), where b has the larger real part.
Tensor complex_logaddexp(const Tensor& self, const Tensor& other) {
  check_operands("logaddexp", self, other, DeviceRule::elementwise);
  const DType dtype = result_type(self, other);
  const Tensor a = self.to(dtype), b = other.to(dtype);
  const Tensor is_first = real(a) > real(b);
  const Tensor most = where(is_first, a, b), least = where(is_first, b, a);
  // Where both are e^-inf = 0, the difference is NaN.
  const Tensor none = real(most) == -std::numeric_limits<double>::infinity();
  const Tensor sum = most + log1p(exp(masked_fill(least - most, none, 0)));
  const Tensor nan = full({}, std::numeric_limits<double>::quiet_NaN(),
                          TensorOptions(real_dtype(dtype)).device(sum.device()));
  return where(logical_or(isnan(a), isnan(b)), complex(nan, nan), where(none, least, sum));
}

}  // namespace

Tensor hypot(const Tensor& self, const Tensor& other) { return binary<Hypot>(self, other); }
const Tensor& hypot_(const Tensor& self, const Tensor& other) {
  return binary_in_place<Hypot>(self, other);
}
AMBIT_BINARY_OPS(copysign, Copysign)
AMBIT_BINARY_OPS(xlogy, Xlogy)
Tensor xlogy(const Scalar& self, const Tensor& other) {
  expect_defined("xlogy", "other", other);
  Tensor out = compute_binary_scalar("xlogy", BinaryOp::xlogy, Domain::floats, other, {self, true});
  if (!needs_gradient(other)) return out;
  return record("xlogy", std::move(out),
                wrt(other, [b = saved(other), self](const Tensor& g) { return g * self / b(); }));
}
Tensor logaddexp(const Tensor& self, const Tensor& other) {
  if (self.defined() && other.defined() && (self.is_complex() || other.is_complex())) {
    return complex_logaddexp(self, other);
  }
  return binary<LogAddExp<BinaryOp::logaddexp>>(self, other);
}
Tensor logaddexp2(const Tensor& self, const Tensor& other) {
  return binary<LogAddExp<BinaryOp::logaddexp2>>(self, other);
}

namespace {

// nextafter of a reduced floating-point type, whose numbers are mapped to integers in numeric
// order: positive numbers to their bits, negative ones to the negated bits, both zeros to 0. The
// kernel would compute the next float32 number.
Tensor step_towards(const Tensor& a, const Tensor& b) {
  const NoGradGuard no_grad;
  const Tensor bits = view(a, kInt16).to(kInt32);
  const Tensor place =
      where(bits < 0, -32768 - bits, bits) + (b > a).to(kInt32) - (b < a).to(kInt32);
  const Tensor next = view(where(place < 0, -32768 - place, place).to(kInt16), a.dtype());
  return where(a == b, b, where(logical_or(isnan(a), isnan(b)), a + b, next));
}

// Return the result's dtype if it is a reduced floating-point type.
std::optional<DType> reduced_floating_dtype(const char* op, const Tensor& a, const Tensor& b,
                                            DeviceRule rule) {
  const auto is_reduced_operand = [](const Tensor& t) {
    return t.defined() && is_reduced_floating(t.dtype());
  };
  if (!is_reduced_operand(a) && !is_reduced_operand(b)) return std::nullopt;
  check_operands(op, a, b, rule);
  const DType dtype = result_type(a, b);
  return is_reduced_floating(dtype) ? std::optional(dtype) : std::nullopt;
}

}  // namespace

// Autograd treats these functions as constants.
Tensor nextafter(const Tensor& self, const Tensor& other) {
  const auto target_dtype =
      reduced_floating_dtype("nextafter", self, other, DeviceRule::elementwise);
  if (target_dtype) return step_towards(self.to(*target_dtype), other.to(*target_dtype));
  return compute_binary("nextafter", BinaryOp::nextafter, Domain::floats_only, self, other);
}
const Tensor& nextafter_(const Tensor& self, const Tensor& other) {
  const auto target_dtype =
      reduced_floating_dtype("nextafter_", self, other, DeviceRule::in_place_elementwise);
  if (target_dtype && self.dtype() == *target_dtype) {
    return copy_(self, step_towards(self, other.to(*target_dtype)));
  }
  compute_binary_in_place("nextafter_", BinaryOp::nextafter, Domain::floats_only, self, other);
  record_in_place("nextafter", self, wrt(self, ZerosLike(self)));
  return self;
}
Tensor heaviside(const Tensor& self, const Tensor& other) {
  expect_one_dtype("heaviside", self, other, DeviceRule::elementwise);
  return compute_binary("heaviside", BinaryOp::heaviside, Domain::any, self, other);
}
const Tensor& heaviside_(const Tensor& self, const Tensor& other) {
  expect_one_dtype("heaviside_", self, other, DeviceRule::in_place_elementwise);
  compute_binary_in_place("heaviside_", BinaryOp::heaviside, Domain::any, self, other);
  record_in_place("heaviside", self, wrt(self, ZerosLike(self)));
  return self;
}

namespace {

bool is_scaled_by_integers(const Tensor& self, const Tensor& other) {
  return self.is_floating_point() && is_integral(other.dtype());
}

// self * 2^other with self's dtype, computed in float64. In three steps no power of 2 is infinite,
// so that the result is finite if it can be.
Tensor scaled_by_power(const Tensor& self, const Tensor& other) {
  const Tensor exponent = clamp(other.to(kFloat64), -2200, 2200);
  const Tensor third = trunc(exponent / 3), factor = pow(2.0, third);
  return (self.to(kFloat64) * factor * factor * pow(2.0, exponent - 2 * third)).to(self.dtype());
}

}  // namespace

Tensor ldexp(const Tensor& self, const Tensor& other) {
  check_operands("ldexp", self, other, DeviceRule::elementwise);
  if (is_scaled_by_integers(self, other)) return scaled_by_power(self, other);
  return mul(self, pow(2.0, other));
}
const Tensor& ldexp_(const Tensor& self, const Tensor& other) {
  check_operands("ldexp_", self, other, DeviceRule::in_place_elementwise);
  if (is_scaled_by_integers(self, other)) return self.copy_(scaled_by_power(self, other));
  return mul_(self, pow(2.0, other));
}

namespace {

void expect_float64(const char* op, const Tensor& self) {
  expect_dtype(op, "self", self, kFloat64);
}

}  // namespace

Tensor float_power(const Tensor& self, const Tensor& exponent) {
  check_operands("float_power", self, exponent, DeviceRule::elementwise);
  const DType dtype = self.is_complex() || exponent.is_complex() ? kComplexDouble : kFloat64;
  return pow(self.to(dtype), exponent.to(dtype));
}
Tensor float_power(const Tensor& self, const Scalar& exponent) {
  expect_defined("float_power", "self", self);
  return pow(self.to(self.is_complex() ? kComplexDouble : kFloat64), exponent.to<double>());
}
Tensor float_power(const Scalar& self, const Tensor& exponent) {
  expect_defined("float_power", "exponent", exponent);
  return pow(self.to<double>(), exponent.to(exponent.is_complex() ? kComplexDouble : kFloat64));
}
const Tensor& float_power_(const Tensor& self, const Tensor& exponent) {
  check_operands("float_power_", self, exponent, DeviceRule::in_place_elementwise);
  expect_float64("float_power_", self);
  return pow_(self, exponent.to(kFloat64));
}
const Tensor& float_power_(const Tensor& self, const Scalar& exponent) {
  expect_float64("float_power_", self);
  return pow_(self, exponent.to<double>());
}

}  // namespace ambit
