// Bad calls of elementwise ops.
#include "bad_calls.h"

#include <cmath>

using namespace ambit;
using namespace bad_input;

namespace {

// Errors of all binary ops; in-place ops also have the error of a result that cannot be written
// into self.
#define BINARY(f)                                                                              \
  SHAPE(f, m23(), m45()), DEVICE(f, m23(), there()), DEVICE(f, there(), m23()),                \
      VALUE(f, m23(), none()), VALUE(f, none(), m23()), SHAPE(f##_, m23(), m45()),             \
      SHAPE(f##_, ones({3}), m23()), DEVICE(f##_, m23(), there()), VALUE(f##_, none(), m23()), \
      VALUE(f##_, ones({1, 3}).expand({2, 3}), m23())

std::vector<BadCall> binary_calls() {
  return {
      BINARY(add),
      VALUE(add, none(), 1),
      DTYPE(add, i23(), i23(), 0.5),
      DTYPE(add_, i23(), m23()),
      BINARY(sub),
      DTYPE(sub, b23(), b23()),
      DTYPE(sub_, i23(), 1.5),
      VALUE(rsub, none(), 1),
      DTYPE(rsub, b23(), true),
      BINARY(mul),
      DTYPE(mul_, i23(), m23()),
      BINARY(div),
      DTYPE(div_, i23(), i23()),
      VALUE(div, m23(), m23(), "up"),
      BINARY(floor_divide),
      VALUE(floor_divide, i23(), i23() - 1),
      BINARY(remainder),
      VALUE(remainder, i23(), 0),
      BINARY(fmod),
      VALUE(fmod, i23(), 0),
      BINARY(pow),
      VALUE(pow, i23(), -1),
      VALUE(pow, 2, none()),
      BINARY(eq),
      BINARY(ne),
      BINARY(lt),
      BINARY(le),
      BINARY(gt),
      BINARY(ge),
      DTYPE(bitwise_and, m23(), m23()),
      DTYPE(bitwise_and_, m23(), i23()),
      DEVICE(bitwise_and, i23(), there()),
      DTYPE(bitwise_or, m23(), m23()),
      DTYPE(bitwise_or_, m23(), i23()),
      DTYPE(bitwise_xor, m23(), m23()),
      DTYPE(bitwise_xor_, m23(), i23()),
      BINARY(logical_and),
      BINARY(logical_or),
      BINARY(logical_xor),
      BINARY(atan2),
      SHAPE(maximum, m23(), m45()),
      DEVICE(maximum, m23(), there()),
      SHAPE(minimum, m23(), m45()),
      DEVICE(minimum, m23(), there()),
      SHAPE(where, b23(), m23(), m45()),
      DTYPE(where, m23(), m23(), m23()),
      DEVICE(where, b23(), m23(), there()),
      DEVICE(where, b23().to("reference"), m23(), 1),
      VALUE(where, none(), m23(), m23()),
      SHAPE(masked_fill, m23(), ones({4}, kBool), 1),
      DTYPE(masked_fill, m23(), i23(), 1),
      DEVICE(masked_fill, there(), b23(), 1),
      SHAPE(masked_fill_, ones({3}), b23(), 1),
      DEVICE(masked_fill_, there(), b23(), 1),
      VALUE(fill_, none(), 1),
      VALUE(fill_, ones({1, 3}).expand({2, 3}), 1),
      SHAPE(copy_, m23(), m45()),
      VALUE(copy_, none(), m23()),
      VALUE(copy_, ones({1, 3}).expand({2, 3}), m23()),
      DEVICE(equal, m23(), there()),
      VALUE(equal, none(), m23()),
      SHAPE(allclose, m23(), m45()),
      DEVICE(allclose, m23(), there()),
      SHAPE(isclose, m23(), m45()),
      DEVICE(isclose, m23(), there()),
      VALUE(isclose, m23(), m23(), -1.0),
      VALUE(result_type, none(), m23()),
      VALUE(clamp, m23(), std::optional<Scalar>()),
      VALUE(clamp, none(), 0),
      VALUE(clamp_, m23(), std::optional<Scalar>()),
      DTYPE(clamp_, i23(), 0.5),
  };
}

// True if a function returns floats for integers, or refuses integers: neither can be written into
// integers.
bool makes_floats(Tensor (*map)(const Tensor&)) try {
  return map(i23()).is_floating_point();
} catch (const DTypeError&) {
  return true;
}

std::vector<BadCall> unary_calls() {
  std::vector<BadCall> calls{
      DTYPE(neg, b23()),    DTYPE(bitwise_not, m23()), DTYPE(bitwise_not_, m23()),
      VALUE(gelu, none()),  DTYPE(gelu, i23()),        VALUE(isnan, none()),
      VALUE(isinf, none()), VALUE(isfinite, none()),   DTYPE(frac, i23()),
  };
  // Functions that return floats for integers cannot do so in place.
#define MAP(f, ...)                                          \
  calls.push_back(VALUE(f, none()));                         \
  calls.push_back(VALUE(f##_, none()));                      \
  calls.push_back(VALUE(f##_, ones({1, 3}).expand({2, 3}))); \
  if (makes_floats(f)) calls.push_back(DTYPE(f##_, i23()));
  AMBIT_UNARY_MAPS(MAP)
#undef MAP
  return calls;
}

const CallTable<BadCall> kBinary(binary_calls);
const CallTable<BadCall> kUnary(unary_calls);

}  // namespace
