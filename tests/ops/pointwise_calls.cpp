// Rows of the tables for pointwise functions: bad calls, mixed devices, agreement.
#include <ambit/ambit.h>

#include "tests/mismatch/mismatch_calls.h"
#include "tests/tables/agreement_calls.h"
#include "tests/tables/bad_calls.h"

using namespace ambit;

namespace {

std::vector<bad_input::BadCall> bad_calls() {
  using namespace bad_input;
#define PAIR(f, make)                                                          \
  SHAPE(f, make, make.narrow(1, 0, 2)), DEVICE(f, make, make.to("reference")), \
      VALUE(f, make, none()), VALUE(f, none(), make)
#define PAIRS(f, make)                                                               \
  PAIR(f, make), SHAPE(f##_, make.narrow(0, 0, 1), make), VALUE(f##_, none(), make), \
      DEVICE(f##_, make, make.to("reference")),                                      \
      VALUE(f##_, make.narrow(0, 0, 1).expand({2, 3}), make)
  return {
      PAIRS(hypot, m23()),
      DTYPE(hypot, i23(), i23()),
      PAIRS(nextafter, m23()),
      DTYPE(nextafter, i23(), i23()),
      PAIRS(heaviside, m23()),
      DTYPE(heaviside, m23(), i23()),
      PAIRS(copysign, m23()),
      DTYPE(copysign_, i23(), 1),
      PAIRS(xlogy, m23()),
      VALUE(xlogy, 2, none()),
      PAIRS(ldexp, m23()),
      PAIRS(float_power, ones({2, 3}, kFloat64)),
      DTYPE(float_power_, m23(), 2),
      VALUE(float_power, 2, none()),
      PAIRS(gcd, i23()),
      DTYPE(gcd, m23(), i23()),
      DTYPE(gcd, b23(), b23()),
      PAIRS(lcm, i23()),
      DTYPE(lcm, m23(), i23()),
      PAIRS(bitwise_left_shift, i23()),
      DTYPE(bitwise_left_shift, m23(), 1),
      DTYPE(bitwise_left_shift, b23(), b23()),
      VALUE(bitwise_left_shift, 1, none()),
      PAIRS(bitwise_right_shift, i23()),
      DTYPE(bitwise_right_shift, i23(), 1.5),
      PAIR(fmax, m23()),
      PAIR(fmin, m23()),
      PAIR(logaddexp, m23()),
      DTYPE(logaddexp, i23(), i23()),
      PAIR(logaddexp2, m23()),
      DTYPE(logaddexp2, i23(), i23()),
      VALUE(div, m23(), 2, "up"),
      VALUE(div_, m23(), m23(), "up"),
      VALUE(div, none(), 2, "floor"),
      VALUE(remainder, 2, none()),
      VALUE(bitwise_and, 2, none()),
      VALUE(clamp_min, none(), 1),
      VALUE(clamp_min, none(), m23()),
      SHAPE(clamp_min, m23(), m45()),
      SHAPE(clamp_min_, ones({3}), m23()),
      DEVICE(clamp_min_, m23(), there()),
      VALUE(clamp_max, none(), 1),
      DEVICE(clamp_max, m23(), there()),
      DTYPE(clamp_max_, i23(), 0.5),
      DTYPE(clamp_max_, i23(), m23()),
      VALUE(clamp, m23(), std::optional<Tensor>()),
      VALUE(clamp_, none(), m23()),
      SHAPE(addcmul, m23(), m45(), m23()),
      DEVICE(addcmul, m23(), m23(), there()),
      VALUE(addcmul, m23(), none(), m23()),
      SHAPE(addcmul_, ones({3}), m23(), m23()),
      DTYPE(addcmul_, i23(), m23(), m23()),
      SHAPE(addcdiv, m23(), m45(), m23()),
      DTYPE(addcdiv, i23(), i23(), i23()),
      DEVICE(addcdiv, m23(), m23(), there()),
      DTYPE(addcdiv_, i23(), i23(), i23()),
      SHAPE(addcdiv_, ones({3}), m23(), m23()),
      SHAPE(lerp, m23(), m45(), 0.5),
      DTYPE(lerp, i23(), i23(), 0.5),
      DTYPE(lerp, m23(), ones({2, 3}, kFloat64), 0.5),
      DTYPE(lerp, m23(), m23(), ones({2, 3}, kFloat64)),
      DEVICE(lerp, m23(), m23(), there()),
      SHAPE(lerp_, ones({3}), m23(), 0.5),
      SHAPE(lerp_, ones({3}), ones({3}), m23()),
      DTYPE(round, i23(), 1),
      DTYPE(round_, i23(), 1),
      VALUE(nan_to_num, none()),
      VALUE(nan_to_num_, none()),
      VALUE(nan_to_num_, ones({1, 3}).expand({2, 3})),
      VALUE(signbit, none()),
      VALUE(isposinf, none()),
      VALUE(isneginf, none()),
      VALUE(isreal, none()),
      VALUE(positive, none()),
      DTYPE(positive, b23()),
      VALUE(where, none(), 1, 2),
      DTYPE(where, m23(), 1, 2),
  };
#undef PAIR
#undef PAIRS
}
const CallTable<bad_input::BadCall> kBad(bad_calls);

std::vector<agreement::Call> agreement_calls() {
  using namespace agreement;
#define PAIR(f, x, w) RESULT(f, f(o.x, o.w)), IN_PLACE(f##_, o.x, o.w)
  return {
      PAIR(hypot, a, unit),
      PAIR(nextafter, a, unit),
      PAIR(heaviside, a, unit),
      PAIR(copysign, unit, a),
      PAIR(xlogy, a, unit),
      RESULT(xlogy, xlogy(2, o.unit), xlogy(o.a, 3)),
      PAIR(ldexp, a, n),
      RESULT(float_power, float_power(o.unit, 2), float_power(o.n, 2), float_power(2, o.a)),
      Call{"float_power_",
           [](const Operands& o) {
             return std::vector<Tensor>{MADE(o.unit.to(kFloat64, false, true)).float_power_(o.n)};
           }},
      PAIR(gcd, n, m),
      PAIR(lcm, n, m),
      PAIR(bitwise_left_shift, n, m),
      PAIR(bitwise_right_shift, n, m),
      RESULT(fmax, fmax(o.a, o.b), fmax(o.n, o.m)),
      RESULT(fmin, fmin(o.a, o.b)),
      RESULT(logaddexp, logaddexp(o.a, o.b)),
      RESULT(logaddexp2, logaddexp2(o.a, o.b)),
      IN_PLACE(div_, o.n, 4, "floor"),
      RESULT(clamp_min, clamp_min(o.a, 0.1), clamp_min(o.a, o.b)),
      RESULT(clamp_max, clamp_max(o.a, 0.1), clamp_max(o.a, o.b)),
      IN_PLACE(clamp_min_, o.a, o.unit),
      IN_PLACE(clamp_max_, o.a, 0.1),
      RESULT(clamp, clamp(o.a, o.b, o.unit)),
      RESULT(addcmul, addcmul(o.a, o.b, o.unit, 0.5)),
      IN_PLACE(addcmul_, o.a, o.a, o.unit, 0.5),
      RESULT(addcdiv, addcdiv(o.a, o.b, o.unit, 0.5)),
      IN_PLACE(addcdiv_, o.a, o.a, o.unit, 0.5),
      RESULT(lerp, lerp(o.a, o.b, 0.3), lerp(o.a, o.b, o.unit)),
      IN_PLACE(lerp_, o.a, o.unit, 0.7),
      RESULT(round, round(o.a, 2)),
      IN_PLACE(round_, o.a, 2),
      RESULT(nan_to_num, nan_to_num(MADE(log(o.a)))),
      IN_PLACE(nan_to_num_, MADE(log(o.a))),
      RESULT(signbit, signbit(o.a), signbit(o.n)),
      RESULT(isposinf, isposinf(MADE(o.a / 0.0))),
      RESULT(isneginf, isneginf(MADE(o.a / 0.0))),
      RESULT(isreal, isreal(o.a)),
      RESULT(positive, positive(o.a)),
  };
#undef PAIR
}
const CallTable<agreement::Call> kAgreement(agreement_calls);

std::vector<mismatch::Call> mixed_calls() {
  using namespace mismatch;
  const auto i = [] { return ones({2, 2}, kInt64); };
#define PAIR(name, make)                                \
  BOTH(name, elementwise, given(make(), make()), t[1]), \
      BOTH(name##_, in_place_elementwise, given(make(), make()), t[1])
#define THREE(name)                                          \
  BOTH(name, elementwise, given(f(), f(), f()), t[1], t[2]), \
      BOTH(name##_, in_place_elementwise, given(f(), f(), f()), t[1], t[2])
  const auto d = [] { return ones({2, 2}, kFloat64); };
  return {
      PAIR(hypot, f),
      PAIR(nextafter, f),
      PAIR(heaviside, f),
      PAIR(copysign, f),
      PAIR(xlogy, f),
      PAIR(ldexp, f),
      PAIR(float_power, d),
      PAIR(gcd, i),
      PAIR(lcm, i),
      PAIR(bitwise_left_shift, i),
      PAIR(bitwise_right_shift, i),
      BOTH(fmax, elementwise, given(f(), f()), t[1]),
      BOTH(fmin, elementwise, given(f(), f()), t[1]),
      BOTH(logaddexp, elementwise, given(f(), f()), t[1]),
      BOTH(logaddexp2, elementwise, given(f(), f()), t[1]),
      BOTH(div_, in_place_elementwise, given(f(), f()), t[1], "floor"),
      PAIR(clamp_min, f),
      PAIR(clamp_max, f),
      THREE(addcmul),
      THREE(addcdiv),
      THREE(lerp),
      BOTH(lerp, elementwise, given(f(), f()), t[1], 0.5),
      BOTH(lerp_, in_place_elementwise, given(f(), f()), t[1], 0.5),
      Call{"Tensor::isclose", Rule::elementwise, given(f(), f()),
           [](const Tensors& t) { static_cast<void>(t[0].isclose(t[1])); }},
  };
}
const CallTable<mismatch::Call> kMixed(mixed_calls);

}  // namespace
