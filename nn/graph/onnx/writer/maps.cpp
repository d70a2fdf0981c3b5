// Forms: functions of one tensor, element by element.
#include <cmath>

#include "forms.h"

namespace ambit::graph::onnx {
namespace {

// Functions of floats convert integers.
Ref operand(Site& s) { return s.tensor(0, s.result_dtype()); }

void give(Site& s, const char* type) { s.give(s.e.op(type, {operand(s)})); }

// Rounding functions, which leave integers unchanged.
void rounded(Site& s, const char* type) {
  const Ref x = s.tensor(0);
  s.give(is_floating_point(x.dtype) ? s.e.op(type, {x}) : x);
}

Ref absolute(Emitter& e, const Ref& x) { return e.op("Abs", {x}); }

Ref truncated(Emitter& e, const Ref& x) {
  const Ref is_negative = e.compare("Less", x, 0);
  return e.where(is_negative, e.op("Ceil", {x}), e.op("Floor", {x}));
}

// PyTorch's sign of NaN is 0; ONNX's is NaN.
void sign(Site& s) {
  const Ref x = operand(s);
  if (!is_floating_point(x.dtype)) return s.give(s.e.op("Sign", {x}));
  const Ref above = s.e.cast(s.e.compare("Greater", x, 0), x.dtype);
  const Ref below = s.e.cast(s.e.compare("Less", x, 0), x.dtype);
  s.give(s.e.sub(above, below));
}

// e^x - 1. Near 0 it is computed as 2 t / (1 - t) with t = tanh(x / 2), which loses no digits
// there.
void exp_minus_1(Site& s) {
  const Ref x = operand(s);
  Emitter& e = s.e;
  const Ref t = e.op("Tanh", {e.mul(x, 0.5)});
  const Ref near = e.div(e.mul(t, 2), e.sub(e.number(1, x.dtype), t));
  const Ref far = e.add(e.op("Exp", {x}), -1);
  s.give(e.where(e.compare("Less", absolute(e, x), 1), near, far));
}

// log(1 + x). Near 0 it is computed as log(u) x / (u - 1), where u is 1 + x rounded; the rounding
// error cancels.
void log_1_plus(Site& s) {
  const Ref x = operand(s);
  Emitter& e = s.e;
  const Ref u = e.add(x, 1), rounded = e.add(u, -1), log = e.op("Log", {u});
  const Ref is_zero = e.compare("Equal", rounded, 0);
  const Ref divisor = e.where(is_zero, e.number(1, x.dtype), rounded);
  const Ref near = e.where(is_zero, x, e.mul(log, e.div(x, divisor)));
  s.give(e.where(e.compare("Less", absolute(e, x), 1), near, log));
}

void logit(Site& s) {
  Ref x = operand(s);
  Emitter& e = s.e;
  if (s.node().arguments.size() > 1 && s.has(1)) {
    const double eps = s.real(1);
    x = e.op("Clip", {x, e.number(eps, x.dtype), e.number(1 - eps, x.dtype)});
  }
  s.give(e.op("Log", {e.div(x, e.sub(e.number(1, x.dtype), x))}));
}

void sinc(Site& s) {
  const Ref x = operand(s);
  Emitter& e = s.e;
  const Ref is_zero = e.compare("Equal", x, 0), one = e.number(1, x.dtype);
  const Ref angle = e.where(is_zero, one, e.mul(x, M_PI));
  s.give(e.where(is_zero, one, e.div(e.op("Sin", {angle}), angle)));
}

void is_finite(Site& s) {
  const Ref x = s.tensor(0);
  // NaN and infinities times 0 are NaN.
  s.give(s.e.op("Not", {s.e.op("IsNaN", {s.e.mul(x, 0)}, {}, kBool)}));
}

void square(Site& s) {
  const Ref x = operand(s);
  s.give(s.e.mul(x, x));
}

constexpr Form kRows[] = {
    // clang-format off
    {"neg.default", [](Site& s) { give(s, "Neg"); }},
    {"abs.default", [](Site& s) { give(s, "Abs"); }},
    {"sign.default", sign},
    {"exp.default", [](Site& s) { give(s, "Exp"); }},
    {"exp2.default", [](Site& s) {
       const Ref x = operand(s);
       s.give(s.e.op("Pow", {s.e.number(2, x.dtype), x})); }},
    {"expm1.default", exp_minus_1},
    {"log.default", [](Site& s) { give(s, "Log"); }},
    {"log1p.default", log_1_plus},
    {"log2.default", [](Site& s) { s.give(s.e.mul(s.e.op("Log", {operand(s)}), M_LOG2E)); }},
    {"log10.default", [](Site& s) { s.give(s.e.mul(s.e.op("Log", {operand(s)}), M_LOG10E)); }},
    {"sqrt.default", [](Site& s) { give(s, "Sqrt"); }},
    {"rsqrt.default", [](Site& s) {
       s.give(s.e.op("Reciprocal", {s.e.op("Sqrt", {operand(s)})})); }},
    {"reciprocal.default", [](Site& s) { give(s, "Reciprocal"); }},
    {"square.default", square},
    {"sin.default", [](Site& s) { give(s, "Sin"); }},
    {"cos.default", [](Site& s) { give(s, "Cos"); }},
    {"tan.default", [](Site& s) { give(s, "Tan"); }},
    {"asin.default", [](Site& s) { give(s, "Asin"); }},
    {"acos.default", [](Site& s) { give(s, "Acos"); }},
    {"atan.default", [](Site& s) { give(s, "Atan"); }},
    {"sinh.default", [](Site& s) { give(s, "Sinh"); }},
    {"cosh.default", [](Site& s) { give(s, "Cosh"); }},
    {"tanh.default", [](Site& s) { give(s, "Tanh"); }},
    {"asinh.default", [](Site& s) { give(s, "Asinh"); }},
    {"acosh.default", [](Site& s) { give(s, "Acosh"); }},
    {"atanh.default", [](Site& s) { give(s, "Atanh"); }},
    {"sigmoid.default", [](Site& s) { give(s, "Sigmoid"); }},
    {"relu.default", [](Site& s) { give(s, "Relu"); }},
    {"erf.default", [](Site& s) { give(s, "Erf"); }},
    {"erfc.default", [](Site& s) {
       const Ref x = operand(s);
       s.give(s.e.sub(s.e.number(1, x.dtype), s.e.op("Erf", {x}))); }},
    {"sinc.default", sinc},
    {"frac.default", [](Site& s) {
       const Ref x = operand(s);
       s.give(s.e.sub(x, truncated(s.e, x))); }},
    {"floor.default", [](Site& s) { rounded(s, "Floor"); }},
    {"ceil.default", [](Site& s) { rounded(s, "Ceil"); }},
    {"round.default", [](Site& s) { rounded(s, "Round"); }},
    {"trunc.default", [](Site& s) {
       const Ref x = s.tensor(0);
       s.give(is_floating_point(x.dtype) ? truncated(s.e, x) : x); }},
    {"bitwise_not.default", [](Site& s) { give(s, s.result_dtype() == kBool ? "Not" : "BitwiseNot"); }},
    {"logical_not.default", [](Site& s) { s.give(s.e.op("Not", {s.tensor(0, kBool)})); }},
    {"isnan.default", [](Site& s) { s.give(s.e.op("IsNaN", {s.tensor(0)}, {}, kBool)); }},
    {"isinf.default", [](Site& s) { s.give(s.e.op("IsInf", {s.tensor(0)}, {}, kBool)); }},
    {"isfinite.default", is_finite},
    {"logit.default", logit},
    {"real.default", [](Site& s) { s.give(s.tensor(0)); }},
    {"_conj.default", [](Site& s) { s.give(s.tensor(0)); }},
    // clang-format on
};

}  // namespace

constinit const std::span<const Form> kMapForms = kRows;

}  // namespace ambit::graph::onnx
