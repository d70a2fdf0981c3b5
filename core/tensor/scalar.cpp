// Errors of Scalar's conversions, and negation.
#include <ambit/error.h>
#include <ambit/scalar.h>
#include <fmt/format.h>

namespace ambit {

void throw_scalar_outside(DType asked, double value) {
  throw DTypeError(
      fmt::format("Scalar: expected a number that {} holds, got {}", name(asked), value));
}

Scalar Scalar::operator-() const {
  if (isBoolean()) throw DTypeError("Scalar: expected a number to negate, got a bool");
  if (is_floating_point()) return -real_;
  return static_cast<int64_t>(-static_cast<uint64_t>(integer_));  // wraps, like integers
}

}  // namespace ambit
