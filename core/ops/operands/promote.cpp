// libtorch's type promotion. Source: c10/core/ScalarType.h and ATen/native/TypeProperties.cpp.
#include "promote.h"

#include <ambit/error.h>
#include <ambit/ops/elementwise.h>
#include <fmt/format.h>

#include "expect.h"

namespace ambit {
namespace {

// Category: 0 bool, 1 integers, 2 floats, 3 complex numbers.
int category(DType d) {
  if (is_complex(d)) return 3;
  return is_floating_point(d) ? 2 : is_integral(d) ? 1 : 0;
}

// An operand of lower priority only counts if it has a higher category. Floats with a complex
// number become complex with parts of their dtype.
DType combine(DType higher, DType lower) {
  if (is_complex(lower) && is_floating_point(higher)) return complex_dtype(higher);
  return category(lower) > category(higher) ? lower : higher;
}

DType dtype_of_number(const Scalar& s) {
  return s.is_floating_point() ? get_default_dtype() : s.dtype();
}

}  // namespace

DType result_type(const Tensor& self, const Tensor& other) {
  expect_defined("result_type", "self", self);
  expect_defined("result_type", "other", other);
  const DType a = self.dtype(), b = other.dtype();
  if (a == b) return a;
  if ((self.dim() > 0) == (other.dim() > 0)) return promote_types(a, b);
  return self.dim() > 0 ? combine(a, b) : combine(b, a);
}

DType result_type(const Tensor& self, const Scalar& other) {
  expect_defined("result_type", "self", self);
  const DType dtype = self.dtype();
  return is_floating_point(dtype) ? dtype : combine(dtype, dtype_of_number(other));
}

DType result_type(const Scalar& self, const Tensor& other) { return result_type(other, self); }

DType result_type(const Scalar& self, const Scalar& other) {
  return promote_types(dtype_of_number(self), dtype_of_number(other));
}

DType compute_dtype(const char* op, Domain domain, DType promoted) {
  const char* expected = nullptr;
  switch (domain) {
    case Domain::any:
      break;
    case Domain::numbers:
      if (promoted == kBool) expected = "numbers";
      break;
    case Domain::floats:
      return is_differentiable(promoted) ? promoted : get_default_dtype();
    case Domain::floats_only:
      if (!is_floating_point(promoted)) expected = "floating-point numbers";
      break;
    case Domain::bits:
      if (is_differentiable(promoted)) expected = "bool or integers";
      break;
    case Domain::integers:
      if (!is_integral(promoted)) expected = "integers";
      break;
  }
  if (expected) [[unlikely]] {
    throw DTypeError(fmt::format("{}: expected {}, got {}", op, expected, name(promoted)));
  }
  return promoted;
}

void check_casts_to(const char* op, DType result, DType self) {
  if (category(result) > category(self)) [[unlikely]] {
    throw DTypeError(fmt::format("{}: expected a result that can be cast to {}, got {}", op,
                                 name(self), name(result)));
  }
}

bool can_cast(DType from, DType to) { return category(from) <= category(to); }

}  // namespace ambit
