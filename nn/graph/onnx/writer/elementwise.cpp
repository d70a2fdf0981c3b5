// Forms: arithmetic of two tensors, comparisons and selections.
#include <cmath>
#include <limits>

#include "forms.h"

namespace ambit::graph::onnx {
namespace {

struct Pair {
  Ref a, b;
};

// Return the operands in the dtype of the result.
Pair operands(Site& s) {
  const DType d = s.result_dtype();
  return {s.tensor(0, d), s.tensor(1, d)};
}

// Return the operands in the dtype to which they promote.
Pair promoted(Site& s) {
  const DType d = s.common(0, 1);
  return {s.tensor(0, d), s.tensor(1, d)};
}

// Return b times argument i.
Ref scaled(Site& s, const Ref& b, size_t i) {
  if (s.is_constant(i) && s.real(i) == 1) return b;
  return s.e.mul(b, s.tensor(i, b.dtype));
}

// Bool has no arithmetic in ONNX: + is "or", * is "and".
void add(Site& s) {
  const auto [a, b] = operands(s);
  if (a.dtype == kBool) return s.give(s.e.op("Or", {a, b}));
  s.give(s.e.add(a, scaled(s, b, 2)));
}

void sub(Site& s) {
  const auto [a, b] = operands(s);
  s.give(s.e.sub(a, scaled(s, b, 2)));
}

void reverse_sub(Site& s) {
  const auto [a, b] = operands(s);
  s.give(s.e.sub(b, scaled(s, a, 2)));
}

void mul(Site& s) {
  const auto [a, b] = operands(s);
  s.give(a.dtype == kBool ? s.e.op("And", {a, b}) : s.e.mul(a, b));
}

void div(Site& s) {
  const auto [a, b] = operands(s);
  s.give(s.e.div(a, b));
}

// ONNX's Mod without fmod has the sign of the divisor, and is for integers only.
Ref remainder(Emitter& e, const Ref& a, const Ref& b) {
  if (!is_floating_point(a.dtype)) return e.op("Mod", {a, b});
  const Ref rest = e.op("Mod", {a, b}, {attribute("fmod", 1)});
  const Ref zero = e.number(0, a.dtype);
  const Ref other_sign = e.compare("Less", e.mul(rest, b), zero);
  return e.where(other_sign, e.add(rest, b), rest);
}

// ONNX's Div of integers rounds to zero.
Ref floor_divided(Emitter& e, const Ref& a, const Ref& b) {
  if (is_floating_point(a.dtype)) return e.op("Floor", {e.div(a, b)});
  return e.div(e.sub(a, remainder(e, a, b)), b);
}

Ref truncated(Emitter& e, const Ref& x) {
  return e.mul(e.op("Sign", {x}), e.op("Floor", {e.op("Abs", {x})}));
}

void div_rounded(Site& s) {
  if (!s.has(2)) return div(s);
  const auto [a, b] = operands(s);
  if (s.text(2) == "floor") return s.give(floor_divided(s.e, a, b));
  s.give(is_floating_point(a.dtype) ? truncated(s.e, s.e.div(a, b)) : s.e.div(a, b));
}

void compare(Site& s, const char* type, bool negate) {
  auto [a, b] = promoted(s);
  const bool is_order = std::string_view(type) != "Equal";
  if (a.dtype == kBool && is_order) {
    a = s.e.cast(a, kInt32);
    b = s.e.cast(b, kInt32);
  }
  const Ref y = s.e.compare(type, a, b);
  s.give(negate ? s.e.op("Not", {y}) : y);
}

void logical(Site& s, const char* type) {
  s.give(s.e.op(type, {s.tensor(0, kBool), s.tensor(1, kBool)}));
}

void bitwise(Site& s, const char* type, const char* of_bool) {
  const auto [a, b] = operands(s);
  s.give(s.e.op(a.dtype == kBool ? of_bool : type, {a, b}));
}

void extremum(Site& s, const char* type) {
  const auto [a, b] = operands(s);
  if (a.dtype == kBool) {
    return s.give(s.e.op(std::string_view(type) == "Max" ? "Or" : "And", {a, b}));
  }
  s.give(s.e.op(type, {a, b}));
}

// ONNX's Pow has the dtype of the base.
void power(Site& s) {
  const auto [a, b] = operands(s);
  const bool is_square = s.is_constant(1) && s.real(1) == 2;
  s.give(is_square ? s.e.mul(a, a) : s.e.op("Pow", {a, b}));
}

// The angle of the point (x, y).
void atan2(Site& s) {
  const auto [y, x] = operands(s);
  Emitter& e = s.e;
  const Ref zero = e.number(0, x.dtype), pi = e.number(M_PI, x.dtype);
  const Ref is_below = e.compare("Less", y, zero), is_left = e.compare("Less", x, zero);
  const Ref angle = e.op("Atan", {e.div(y, x)});
  const Ref turned = e.where(is_below, e.sub(angle, pi), e.add(angle, pi));
  const Ref is_origin =
      e.op("And", {e.compare("Equal", x, zero), e.compare("Equal", y, zero)}, {}, kBool);
  s.give(e.where(is_origin, zero, e.where(is_left, turned, angle)));
}

void log_add_exp(Site& s) {
  const auto [a, b] = operands(s);
  Emitter& e = s.e;
  const Ref distance = e.op("Abs", {e.sub(a, b)});
  s.give(e.add(e.op("Max", {a, b}), softplus(e, e.op("Neg", {distance}))));
}

void hypotenuse(Site& s) {
  const auto [a, b] = operands(s);
  s.give(s.e.op("Sqrt", {s.e.add(s.e.mul(a, a), s.e.mul(b, b))}));
}

// self + value * f(tensor1, tensor2)
void add_product(Site& s, const char* type) {
  const DType d = s.result_dtype();
  const Ref product = s.e.op(type, {s.tensor(1, d), s.tensor(2, d)});
  s.give(s.e.add(s.tensor(0, d), scaled(s, product, 3)));
}

void lerp(Site& s) {
  const DType d = s.result_dtype();
  const Ref a = s.tensor(0, d), b = s.tensor(1, d);
  s.give(s.e.add(a, s.e.mul(s.tensor(2, d), s.e.sub(b, a))));
}

Ref clipped(Site& s, const Ref& x, int min, int max) {
  const auto limit = [&](int i) {
    const auto at = static_cast<size_t>(i);
    return i >= 0 && s.has(at) ? s.tensor(at, x.dtype) : Ref();
  };
  return s.e.op("Clip", {x, limit(min), limit(max)});
}

void clamp(Site& s, int min, int max) {
  s.give(clipped(s, s.tensor(0, s.result_dtype()), min, max));
}

void where(Site& s) {
  const DType d = s.result_dtype();
  s.give(s.e.where(s.tensor(0, kBool), s.tensor(1, d), s.tensor(2, d)));
}

void masked_fill(Site& s) {
  const DType d = s.result_dtype();
  s.give(s.e.where(s.tensor(1, kBool), s.tensor(2, d), s.tensor(0, d)));
}

// A tensor of the sizes of the first argument.
void fill(Site& s, const Ref& value) {
  s.give(s.e.op("Expand", {value, s.sizes_of(0, 0, s.rank(0))}));
}

void copy(Site& s) {
  const Ref source = s.tensor(1, s.result_dtype());
  if (s.sizes(0) == s.sizes(1)) return s.give(source);
  fill(s, source);
}

void nan_to_num(Site& s) {
  Ref x = s.tensor(0);
  Emitter& e = s.e;
  if (!is_floating_point(x.dtype)) return s.give(x);
  const double largest = x.dtype == kFloat64   ? std::numeric_limits<double>::max()
                         : x.dtype == kFloat16 ? 65504
                         : x.dtype == kBFloat16
                             ? 3.3895313892515355e38
                             : static_cast<double>(std::numeric_limits<float>::max());
  const auto value = [&](size_t i, double otherwise) {
    return e.number(s.has(i) ? s.real(i) : otherwise, x.dtype);
  };
  const double infinity = std::numeric_limits<double>::infinity();
  const Ref is_nan = e.op("IsNaN", {x}, {}, kBool);
  const Ref is_high = e.compare("Equal", x, infinity), is_low = e.compare("Equal", x, -infinity);
  x = e.where(is_high, value(2, largest), e.where(is_low, value(3, -largest), x));
  s.give(e.where(is_nan, value(1, 0), x));
}

constexpr Form kRows[] = {
    // clang-format off
    {"add.Tensor", add}, {"add.Scalar", add},
    {"sub.Tensor", sub}, {"sub.Scalar", sub},
    {"rsub.Tensor", reverse_sub}, {"rsub.Scalar", reverse_sub},
    {"mul.Tensor", mul}, {"mul.Scalar", mul}, {"multiply.Tensor", mul}, {"multiply.Scalar", mul},
    {"div.Tensor", div}, {"div.Scalar", div},
    {"div.Tensor_mode", div_rounded}, {"div.Scalar_mode", div_rounded},
    {"floor_divide.default", [](Site& s) {
       const auto [a, b] = operands(s);
       s.give(floor_divided(s.e, a, b)); }},
    {"floor_divide_.Tensor", [](Site& s) {
       const auto [a, b] = operands(s);
       s.give(floor_divided(s.e, a, b)); }},
    {"remainder.Tensor", [](Site& s) {
       const auto [a, b] = operands(s);
       s.give(remainder(s.e, a, b)); }},
    {"remainder.Scalar", [](Site& s) {
       const auto [a, b] = operands(s);
       s.give(remainder(s.e, a, b)); }},
    {"fmod.Tensor", [](Site& s) {
       const auto [a, b] = operands(s);
       s.give(s.e.op("Mod", {a, b}, {attribute("fmod", 1)})); }},
    {"fmod.Scalar", [](Site& s) {
       const auto [a, b] = operands(s);
       s.give(s.e.op("Mod", {a, b}, {attribute("fmod", 1)})); }},
    {"pow.Tensor_Tensor", power}, {"pow.Tensor_Scalar", power}, {"pow_.Scalar", power},
    {"pow.Scalar", power},
    {"eq.Tensor", [](Site& s) { compare(s, "Equal", false); }},
    {"eq.Scalar", [](Site& s) { compare(s, "Equal", false); }},
    {"ne.Tensor", [](Site& s) { compare(s, "Equal", true); }},
    {"ne.Scalar", [](Site& s) { compare(s, "Equal", true); }},
    {"lt.Tensor", [](Site& s) { compare(s, "Less", false); }},
    {"lt.Scalar", [](Site& s) { compare(s, "Less", false); }},
    {"le.Tensor", [](Site& s) { compare(s, "LessOrEqual", false); }},
    {"le.Scalar", [](Site& s) { compare(s, "LessOrEqual", false); }},
    {"gt.Tensor", [](Site& s) { compare(s, "Greater", false); }},
    {"gt.Scalar", [](Site& s) { compare(s, "Greater", false); }},
    {"ge.Tensor", [](Site& s) { compare(s, "GreaterOrEqual", false); }},
    {"ge.Scalar", [](Site& s) { compare(s, "GreaterOrEqual", false); }},
    {"logical_and.default", [](Site& s) { logical(s, "And"); }},
    {"logical_or.default", [](Site& s) { logical(s, "Or"); }},
    {"logical_xor.default", [](Site& s) { logical(s, "Xor"); }},
    {"bitwise_and.Tensor", [](Site& s) { bitwise(s, "BitwiseAnd", "And"); }},
    {"bitwise_and.Scalar", [](Site& s) { bitwise(s, "BitwiseAnd", "And"); }},
    {"bitwise_or.Tensor", [](Site& s) { bitwise(s, "BitwiseOr", "Or"); }},
    {"bitwise_or.Scalar", [](Site& s) { bitwise(s, "BitwiseOr", "Or"); }},
    {"bitwise_xor.Tensor", [](Site& s) { bitwise(s, "BitwiseXor", "Xor"); }},
    {"bitwise_xor.Scalar", [](Site& s) { bitwise(s, "BitwiseXor", "Xor"); }},
    {"__and__.Tensor", [](Site& s) { bitwise(s, "BitwiseAnd", "And"); }},
    {"__and__.Scalar", [](Site& s) { bitwise(s, "BitwiseAnd", "And"); }},
    {"__or__.Tensor", [](Site& s) { bitwise(s, "BitwiseOr", "Or"); }},
    {"__or__.Scalar", [](Site& s) { bitwise(s, "BitwiseOr", "Or"); }},
    {"__xor__.Tensor", [](Site& s) { bitwise(s, "BitwiseXor", "Xor"); }},
    {"__xor__.Scalar", [](Site& s) { bitwise(s, "BitwiseXor", "Xor"); }},
    {"maximum.default", [](Site& s) { extremum(s, "Max"); }},
    {"minimum.default", [](Site& s) { extremum(s, "Min"); }},
    {"max.other", [](Site& s) { extremum(s, "Max"); }},
    {"min.other", [](Site& s) { extremum(s, "Min"); }},
    {"atan2.default", atan2},
    {"logaddexp.default", log_add_exp},
    {"hypot.default", hypotenuse},
    {"addcmul.default", [](Site& s) { add_product(s, "Mul"); }},
    {"addcdiv.default", [](Site& s) { add_product(s, "Div"); }},
    {"lerp.Scalar", lerp}, {"lerp.Tensor", lerp},
    {"clamp.default", [](Site& s) { clamp(s, 1, 2); }},
    {"clamp_min.default", [](Site& s) { clamp(s, 1, -1); }},
    {"clamp_max.default", [](Site& s) { clamp(s, -1, 1); }},
    {"hardtanh.default", [](Site& s) { clamp(s, 1, 2); }},
    {"where.self", where}, {"where.ScalarOther", where}, {"where.ScalarSelf", where},
    {"where.Scalar", where},
    {"masked_fill.Scalar", masked_fill}, {"masked_fill.Tensor", masked_fill},
    {"fill.Scalar", [](Site& s) { fill(s, s.tensor(1, s.result_dtype())); }},
    {"fill_.Tensor", [](Site& s) { fill(s, s.tensor(1, s.result_dtype())); }},
    {"zero.default", [](Site& s) { fill(s, s.e.number(0, s.result_dtype())); }},
    {"copy.default", copy},
    {"nan_to_num.default", nan_to_num},
    // clang-format on
};

}  // namespace

constinit const std::span<const Form> kElementwiseForms = kRows;

}  // namespace ambit::graph::onnx
