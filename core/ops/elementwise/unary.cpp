// Unary maps: the path to the kernel, then one line for each map with its gradient.
#include <ambit/backend/kernels.h>
#include <ambit/detail/autocast.h>
#include <ambit/detail/by_float32.h>
#include <ambit/detail/record.h>
#include <ambit/detail/ternary_grad.h>
#include <ambit/error.h>
#include <ambit/ops/complex.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/special.h>
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "activation_grads.h"
#include "core/ops/complex/functions.h"
#include "core/ops/operands/allocate.h"
#include "core/ops/operands/broadcast.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/operand_grad.h"
#include "core/ops/operands/promote.h"
#include "where.h"

namespace ambit {
namespace {

// The tensor that a formula saves: none, the input x or the output y.
enum class Keeps : uint8_t { nothing, x, y };

// True if the map is the identity for a dtype that the op accepts but the kernel does not: integers
// for floor, ceil, round and trunc, bool for sign.
bool is_identity(UnaryOp kernel, DType dtype) {
  if (is_complex(dtype)) return false;
  return !row_of(kernel).supports(is_wide_unsigned(dtype) ? kInt64 : dtype);
}

DType result_dtype(UnaryOp kernel, DType dtype) {
  return kernel == UnaryOp::abs ? real_dtype(dtype) : row_of(kernel).result_dtype(dtype);
}

DType unary_dtype(const char* op, UnaryOp kernel, Domain domain, const Tensor& self) {
  expect_defined(op, "self", self);
  // The kernel's sign of complex numbers is sgn().
  if (kernel == UnaryOp::sign && self.is_complex()) throw_not_real(op, self.dtype());
  // libtorch squares by pow(x, 2), where the number 2 promotes bool to an integer.
  if (kernel == UnaryOp::square && self.dtype() == kBool) return kInt64;
  return compute_dtype(op, domain, self.dtype());
}

Tensor compute_unary(const char* op, UnaryOp kernel, Domain domain, const Tensor& self) {
  const DType dtype = unary_dtype(op, kernel, domain, self);
  const Tensor x = operand(self, self.sizes(), dtype, self.device());
  Tensor out = allocate(op, self.sizes(), result_dtype(kernel, dtype), self.device());
  if (is_identity(kernel, dtype)) {
    kernels::copy(out, x);
  } else {
    kernels::unary(out, x, kernel);
  }
  return out;
}

void compute_unary_in_place(const char* op, UnaryOp kernel, Domain domain, const Tensor& self) {
  const DType dtype = unary_dtype(op, kernel, domain, self);
  check_casts_to(op, dtype, self.dtype());
  if (is_complex(dtype) && kernel == UnaryOp::abs) {
    throw DTypeError(fmt::format("{}: expected real numbers, got {}", op, name(dtype)));
  }
  check_in_place(op, self);
  if (is_identity(kernel, dtype)) return;
  Tensor y = self;
  const DType stored = result_dtype(kernel, dtype);
  if (stored == dtype) return kernels::unary(y, self, kernel);
  Tensor result = allocate(op, self.sizes(), stored, self.device());
  kernels::unary(result, self, kernel);
  kernels::copy(y, result);
}

// Return a map's formula for record(). For complex numbers it is evaluated at the conjugate: each
// map is real for real numbers, so its derivative at conj(z) is the conjugate of that at z.
template <class Map>
auto unary_formula(Saved kept) {
  if constexpr (Map::kKeeps == Keeps::nothing) {
    return [](const Tensor& g) { return Map::gradient(g, Tensor()); };
  } else {
    return [kept = std::move(kept)](const Tensor& g) { return Map::gradient(g, conj(kept())); };
  }
}

template <class Map>
Tensor unary(const Tensor& self) {
  if constexpr (autocast::policy_of(Map::kName) != autocast::Policy::as_is) {
    AMBIT_AUTOCAST_AS(Map::kName, unary<Map>, self)
  }
  Tensor out = compute_unary(Map::kName, Map::kKernel, Map::kDomain, self);
  if (!needs_gradient(self)) return out;
  Saved kept;
  if (Map::kKeeps == Keeps::x) kept = saved(self);
  if (Map::kKeeps == Keeps::y) kept = saved_output(out);
  return record(Map::kName, std::move(out), wrt(self, unary_formula<Map>(std::move(kept))));
}

template <class Map>
const Tensor& unary_in_place(const Tensor& self) {
  Saved kept;
  if (Map::kKeeps == Keeps::x && needs_gradient(self)) kept = saved(self.clone());
  compute_unary_in_place(Map::kNameInPlace, Map::kKernel, Map::kDomain, self);
  self.bump_version();
  if (!needs_gradient(self)) return self;
  // Not record_in_place: the output must be saved after the write, with its new version.
  if (Map::kKeeps == Keeps::y) kept = saved_output(self);
  auto formula = unary_formula<Map>(std::move(kept));
  set_history_in_place(self, intrusive_ptr<Node>(new FormulaNode<decltype(formula)>(
                                 Map::kName, wrt(self, std::move(formula)))));
  return self;
}

constexpr double kErfSlope = 2 * std::numbers::inv_sqrtpi;  // at 0

// d sinc / d x = (cos(pi x) - sinc(x)) / x; near 0, where the difference cancels, use the series of
// the quotient; the first omitted term is 2e-9 t^5 < 1e-17.
Tensor sinc_grad(const Tensor& g, const Tensor& x) {
  if (is_reduced_floating(x.dtype())) return by_float32(x.dtype(), sinc_grad, g, x);
  constexpr double kPi = std::numbers::pi;
  const Tensor t = square(x * kPi), near = (x.is_complex() ? abs(t) : t) < 0.02;
  const Tensor slope = (cos(x * kPi) - sinc(x)) / masked_fill(x, near, 1);
  const Tensor series = (((t / 3991680 - 1. / 45360) * t + 1. / 840) * t - 1. / 30) * t + 1. / 3;
  return g * where(near, x * series * (-kPi * kPi), slope);
}

// x is already conjugated, see unary_formula.
Tensor abs_formula(const Tensor& g, const Tensor& x) {
  if (x.is_complex()) return g * complex_sgn(conj(x));
  return ternary_grad(TernaryOp::abs_grad, g, x, 1);
}

// sqrt(x^2 - 1) has the wrong sign for complex numbers with a negative real part.
Tensor acosh_formula(const Tensor& g, const Tensor& x) {
  if (x.is_complex()) return g * (rsqrt(x + 1) * rsqrt(x - 1));
  return ternary_grad(TernaryOp::asinh_grad, g, x, -1);
}

}  // namespace

// A map and its in-place variant: its domain, the tensor that the gradient's formula saves (kept),
// and the formula in terms of the output's gradient g and the saved tensor.
#define AMBIT_MAP(name, domain, kept, formula)                                     \
  namespace {                                                                      \
  struct name##_map {                                                              \
    static constexpr const char *kName = #name, *kNameInPlace = #name "_";         \
    static constexpr UnaryOp kKernel = UnaryOp::name;                              \
    static constexpr Domain kDomain = Domain::domain;                              \
    static constexpr Keeps kKeeps = Keeps::kept;                                   \
    static Tensor gradient(const Tensor& g, [[maybe_unused]] const Tensor& kept) { \
      return formula;                                                              \
    }                                                                              \
  };                                                                               \
  }                                                                                \
  Tensor name(const Tensor& self) { return unary<name##_map>(self); }              \
  const Tensor& name##_(const Tensor& self) { return unary_in_place<name##_map>(self); }

// clang-format off
AMBIT_MAP(neg,         numbers, nothing, neg(g))
AMBIT_MAP(abs,         numbers, x,       abs_formula(g, x))
AMBIT_MAP(square,      any,     x,       ternary_grad(TernaryOp::square_grad, g, x, 2))
AMBIT_MAP(reciprocal,  floats,  y,       ternary_grad(TernaryOp::reciprocal_grad, g, y, -1))
AMBIT_MAP(exp,         floats,  y,       g * y)
AMBIT_MAP(exp2,        floats,  y,       ternary_grad(TernaryOp::square_grad, g, y, std::numbers::ln2))
AMBIT_MAP(expm1,       floats,  y,       ternary_grad(TernaryOp::expm1_grad, g, y, 1))
AMBIT_MAP(log,         floats,  x,       g / x)
AMBIT_MAP(log1p,       floats,  x,       ternary_grad(TernaryOp::log1p_grad, g, x, 1))
AMBIT_MAP(log2,        floats,  x,       ternary_grad(TernaryOp::sqrt_grad, g, x, std::numbers::ln2))
AMBIT_MAP(log10,       floats,  x,       ternary_grad(TernaryOp::sqrt_grad, g, x, std::numbers::ln10))
AMBIT_MAP(sqrt,        floats,  y,       ternary_grad(TernaryOp::sqrt_grad, g, y, 2))
AMBIT_MAP(rsqrt,       floats,  y,       ternary_grad(TernaryOp::rsqrt_grad, g, y, -0.5))
AMBIT_MAP(sin,         floats,  x,       ternary_grad(TernaryOp::sin_grad, g, x, 1))
AMBIT_MAP(cos,         floats,  x,       ternary_grad(TernaryOp::cos_grad, g, x, -1))
AMBIT_MAP(tan,         floats,  y,       ternary_grad(TernaryOp::tan_grad, g, y, 1))
AMBIT_MAP(asin,        floats,  x,       ternary_grad(TernaryOp::asin_grad, g, x, 1))
AMBIT_MAP(acos,        floats,  x,       ternary_grad(TernaryOp::asin_grad, g, x, -1))
AMBIT_MAP(atan,        floats,  x,       ternary_grad(TernaryOp::atan_grad, g, x, 1))
AMBIT_MAP(sinh,        floats,  x,       ternary_grad(TernaryOp::sinh_grad, g, x, 1))
AMBIT_MAP(cosh,        floats,  x,       ternary_grad(TernaryOp::cosh_grad, g, x, 1))
AMBIT_MAP(tanh,        floats,  y,       tanh_grad(g, y))
AMBIT_MAP(sigmoid,     floats,  y,       sigmoid_grad(g, y))
AMBIT_MAP(relu,        numbers, y,       relu_grad(g, y))
AMBIT_MAP(erf,         floats,  x,       ternary_grad(TernaryOp::erf_grad, g, x, kErfSlope))
AMBIT_MAP(asinh,       floats,  x,       ternary_grad(TernaryOp::asinh_grad, g, x, 1))
AMBIT_MAP(acosh,       floats,  x,       acosh_formula(g, x))
AMBIT_MAP(atanh,       floats,  x,       ternary_grad(TernaryOp::atan_grad, g, x, -1))
AMBIT_MAP(erfc,        floats,  x,       ternary_grad(TernaryOp::erf_grad, g, x, -kErfSlope))
AMBIT_MAP(erfinv,      floats,  y,       ternary_grad(TernaryOp::erfinv_grad, g, y, 1 / kErfSlope))
AMBIT_MAP(lgamma,      floats,  x,       ternary_grad(TernaryOp::lgamma_grad, g, x, 1))
AMBIT_MAP(digamma,     floats,  x,       g * polygamma(1, x))
AMBIT_MAP(i0,          floats,  x,       ternary_grad(TernaryOp::i0_grad, g, x, 1))
AMBIT_MAP(sinc,        floats,  x,       sinc_grad(g, x))
AMBIT_MAP(frac,        floats_only, nothing, g)
// Step functions: the gradient is zero, as in libtorch, not undefined.
AMBIT_MAP(sign,        any,     nothing, zeros_like(g))
AMBIT_MAP(floor,       numbers, nothing, zeros_like(g))
AMBIT_MAP(ceil,        numbers, nothing, zeros_like(g))
AMBIT_MAP(round,       numbers, nothing, zeros_like(g))
AMBIT_MAP(trunc,       numbers, nothing, zeros_like(g))
AMBIT_MAP(logical_not, any,     nothing, zeros_like(g))
AMBIT_MAP(bitwise_not, bits,    nothing, zeros_like(g))
// clang-format on
#undef AMBIT_MAP

Tensor gelu(const Tensor& self) {
  Tensor out = compute_unary("gelu", UnaryOp::gelu, Domain::floats_only, self);
  return record("gelu", std::move(out),
                wrt(self, [x = saved(self)](const Tensor& g) { return gelu_grad(g, x()); }));
}

Tensor gelu(const Tensor& self, std::string_view approximate) {
  if (approximate == "none") return gelu(self);
  if (approximate != "tanh") {
    throw Error(
        fmt::format("gelu: expected approximate \"none\" or \"tanh\", got \"{}\"", approximate));
  }
  Tensor out = compute_unary("gelu", UnaryOp::gelu_tanh, Domain::floats_only, self);
  return record("gelu", std::move(out),
                wrt(self, [x = saved(self)](const Tensor& g) { return gelu_tanh_grad(g, x()); }));
}

namespace {

// I1'(x) = I0(x) - I1(x) / x, which is 1/2 at 0; for I1(x) e^-|x| the derivative of the factor
// e^-|x| is added. It is computed in float32, since the difference is far smaller than its terms.
Tensor i1_grad(const Tensor& g, const Tensor& x) {
  if (is_reduced_floating(x.dtype())) return by_float32(x.dtype(), i1_grad, g, x);
  const Tensor zero = x == 0;
  const Tensor slope = i0(x) - special_i1(x) / masked_fill(x, zero, 1);
  return g * masked_fill(slope, zero, 0.5);
}
Tensor i1e_grad(const Tensor& g, const Tensor& x) {
  if (is_reduced_floating(x.dtype())) return by_float32(x.dtype(), i1e_grad, g, x);
  const Tensor zero = x == 0;
  const Tensor rest = sign(x) + reciprocal(masked_fill(x, zero, 1));
  return g * masked_fill(special_i0e(x) - special_i1e(x) * rest, zero, 0.5);
}

}  // namespace

Tensor special_i1(const Tensor& self) {
  Tensor out = compute_unary("special_i1", UnaryOp::i1, Domain::floats, self);
  if (!needs_gradient(self)) return out;
  return record("special_i1", out,
                wrt(self, [x = saved(self)](const Tensor& g) { return i1_grad(g, x()); }));
}

Tensor special_i0e(const Tensor& self) {
  Tensor out = compute_unary("special_i0e", UnaryOp::i0e, Domain::floats, self);
  if (!needs_gradient(self)) return out;
  return record("special_i0e", out,
                wrt(self, [x = saved(self), y = saved_output(out)](const Tensor& g) {
                  return g * (special_i1e(x()) - sign(x()) * y());
                }));
}

Tensor special_i1e(const Tensor& self) {
  Tensor out = compute_unary("special_i1e", UnaryOp::i1e, Domain::floats, self);
  if (!needs_gradient(self)) return out;
  return record("special_i1e", out,
                wrt(self, [x = saved(self)](const Tensor& g) { return i1e_grad(g, x()); }));
}

namespace {

// The terms cancel for large x, so reduced floating-point types use float32.
Tensor erfcx_grad(const Tensor& g, const Tensor& x) {
  return g * (2 * x * special_erfcx(x) - 2 * std::numbers::inv_sqrtpi);
}

}  // namespace

Tensor special_erfcx(const Tensor& self) {
  Tensor out = compute_unary("special_erfcx", UnaryOp::erfcx, Domain::floats, self);
  if (!needs_gradient(self)) return out;
  return record("special_erfcx", out, wrt(self, [x = saved(self)](const Tensor& g) {
                  return by_float32(g.dtype(), erfcx_grad, g, x());
                }));
}

Tensor special_ndtri(const Tensor& self) {
  Tensor out = compute_unary("special_ndtri", UnaryOp::ndtri, Domain::floats, self);
  if (!needs_gradient(self)) return out;
  return record("special_ndtri", out, wrt(self, [y = saved_output(out)](const Tensor& g) {
                  return g * exp(y() * y() / 2) * std::sqrt(2 * std::numbers::pi);
                }));
}

namespace {

// The gradient is that of logit inside [eps, 1 - eps] and 0 outside; without eps it is that of
// logit everywhere, and NaN outside [0, 1].
Tensor logit_grad(const Tensor& g, const Tensor& x, std::optional<double> eps) {
  const auto slope = [&](const Tensor& at) { return g / (at * (1 - at)); };
  if (!eps) return masked_fill(slope(x), (x < 0) | (x > 1), NAN);
  // Outside, replace x by a number with a finite gradient, because this gradient is multiplied by
  // 0.
  const Tensor inside = (x >= *eps) & (x <= 1 - *eps);
  return grad_where(slope(where(inside, x, 0.5)), inside, true);
}

}  // namespace

Tensor logit(const Tensor& self, std::optional<double> eps) {
  const DType dtype = unary_dtype("logit", UnaryOp::logit, Domain::floats, self);
  Tensor out = allocate("logit", self.sizes(), dtype, self.device());
  const Tensor x = operand(self, self.sizes(), dtype, self.device());
  if (eps) kernels::clamp(out, x, *eps, 1 - *eps);
  kernels::unary(out, eps ? out : x, UnaryOp::logit);
  if (!needs_gradient(self)) return out;
  return record("logit", std::move(out), wrt(self, [x = saved(self), eps](const Tensor& g) {
                  return logit_grad(g, x(), eps);
                }));
}

const Tensor& logit_(const Tensor& self, std::optional<double> eps) {
  const DType dtype = unary_dtype("logit_", UnaryOp::logit, Domain::floats, self);
  check_casts_to("logit_", dtype, self.dtype());
  check_in_place("logit_", self);
  const Tensor before = needs_gradient(self) ? self.clone() : self;
  Tensor y = self;
  if (eps) kernels::clamp(y, self, *eps, 1 - *eps);
  kernels::unary(y, self, UnaryOp::logit);
  record_in_place("logit", self, wrt(self, [x = saved(before), eps](const Tensor& g) {
                    return logit_grad(g, x(), eps);
                  }));
  return self;
}

namespace {

// isnan and similar functions, which are constant for integers.
Tensor classify(const char* op, UnaryOp kernel, const Tensor& self) {
  expect_defined(op, "self", self);
  Tensor out = allocate(op, self.sizes(), kBool, self.device());
  if (is_differentiable(self.dtype())) {
    kernels::unary(out, self, kernel);
  } else {
    kernels::fill(out, kernel == UnaryOp::isfinite);
  }
  return out;
}

}  // namespace

Tensor isnan(const Tensor& self) { return classify("isnan", UnaryOp::isnan, self); }
Tensor isinf(const Tensor& self) { return classify("isinf", UnaryOp::isinf, self); }
Tensor signbit(const Tensor& self) {
  return compute_unary("signbit", UnaryOp::signbit, Domain::any, self);
}
Tensor isfinite(const Tensor& self) { return classify("isfinite", UnaryOp::isfinite, self); }

}  // namespace ambit
