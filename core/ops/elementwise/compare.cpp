// Comparisons and logic, without gradients. Results are bool; in-place functions keep self's dtype.
#include <ambit/error.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/reduce.h>
#include <fmt/format.h>

#include <limits>

#include "binary.h"
#include "core/ops/composite.h"
#include "core/ops/operands/allocate.h"
#include "core/ops/operands/broadcast.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/operand_grad.h"
#include "core/ops/operands/scalar_operand.h"

namespace ambit {
namespace {

Tensor compute_compare(const char* op, CompareOp kernel, const Tensor& self, const Tensor& other,
                       DeviceRule rule = DeviceRule::elementwise) {
  const Device device = check_operands(op, self, other, rule);
  const DType dtype = result_type(self, other);
  const Dims sizes = broadcast(op, self.sizes(), other.sizes());
  Tensor out = allocate(op, sizes, kBool, device);
  kernels::compare(out, operand(self, sizes, dtype, device), operand(other, sizes, dtype, device),
                   kernel);
  return out;
}

// Return the result for all elements if the number is below (side -1) or above (side 1) the dtype's
// range. The kernel would wrap such a number around, so that it could compare equal.
bool holds_for_side(CompareOp op, int side) {
  if (op == CompareOp::lt || op == CompareOp::le) return side > 0;
  return op == CompareOp::ne || ((op == CompareOp::gt || op == CompareOp::ge) && side < 0);
}

Tensor compute_compare(const char* op, CompareOp kernel, const Tensor& self, const Scalar& number) {
  expect_defined(op, "self", self);
  const DType dtype = result_type(self, number);
  Tensor out = allocate(op, self.sizes(), kBool, self.device());
  if (const int side = side_of_range(number, dtype); side != 0) {
    kernels::fill(out, holds_for_side(kernel, side));
    return out;
  }
  kernels::compare_scalar(out, operand(self, self.sizes(), dtype, self.device()), number, kernel);
  return out;
}

const Tensor& put(const char* name, const Tensor& self, const Tensor& result) {
  store(self, result);
  record_in_place(name, self, wrt(self, ZerosLike(self)));
  return self;
}

const Tensor& compare_in_place(const char* op, const char* name, CompareOp kernel,
                               const Tensor& self, const Tensor& other) {
  check_operands(op, self, other, DeviceRule::in_place_elementwise);
  check_broadcasts_to(op, other.sizes(), self.sizes());
  check_in_place(op, self);
  return put(name, self,
             compute_compare(op, kernel, self, other, DeviceRule::in_place_elementwise));
}

const Tensor& compare_in_place(const char* op, const char* name, CompareOp kernel,
                               const Tensor& self, const Scalar& number) {
  expect_defined(op, "self", self);
  check_in_place(op, self);
  return put(name, self, compute_compare(op, kernel, self, number));
}

}  // namespace

#define AMBIT_TENSOR_COMPARE(name)                                           \
  Tensor name(const Tensor& self, const Tensor& other) {                     \
    return compute_compare(#name, CompareOp::name, self, other);             \
  }                                                                          \
  const Tensor& name##_(const Tensor& self, const Tensor& other) {           \
    return compare_in_place(#name "_", #name, CompareOp::name, self, other); \
  }
#define AMBIT_COMPARE(name)                                                  \
  AMBIT_TENSOR_COMPARE(name)                                                 \
  Tensor name(const Tensor& self, const Scalar& other) {                     \
    return compute_compare(#name, CompareOp::name, self, other);             \
  }                                                                          \
  const Tensor& name##_(const Tensor& self, const Scalar& other) {           \
    return compare_in_place(#name "_", #name, CompareOp::name, self, other); \
  }
AMBIT_COMPARE(eq)
AMBIT_COMPARE(ne)
AMBIT_COMPARE(lt)
AMBIT_COMPARE(le)
AMBIT_COMPARE(gt)
AMBIT_COMPARE(ge)
AMBIT_TENSOR_COMPARE(logical_and)
AMBIT_TENSOR_COMPARE(logical_or)
AMBIT_TENSOR_COMPARE(logical_xor)
#undef AMBIT_COMPARE
#undef AMBIT_TENSOR_COMPARE

bool equal(const Tensor& self, const Tensor& other) {
  check_operands("equal", self, other, DeviceRule::strict);
  if (self.sizes() != other.sizes()) return false;
  return all(eq(self, other)).item<bool>();
}

Tensor isclose(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  check_operands("isclose", self, other, DeviceRule::elementwise);
  if (self.dtype() != other.dtype()) {
    throw DTypeError(fmt::format("isclose: expected both of one dtype, got {} and {}",
                                 name(self.dtype()), name(other.dtype())));
  }
  if (!(rtol >= 0) || !(atol >= 0)) {
    throw Error(
        fmt::format("isclose: expected tolerances >= 0, got rtol {} and atol {}", rtol, atol));
  }
  broadcast("isclose", self.sizes(), other.sizes());
  const NoGradGuard no_grad;
  Tensor close = eq(self, other);
  const bool is_real_or_complex = is_differentiable(self.dtype());
  if (equal_nan && is_real_or_complex) {
    close = logical_or(close, logical_and(isnan(self), isnan(other)));
  }
  // Compare integers and bool as floats, where differences do not wrap.
  const DType dtype = is_real_or_complex ? self.dtype() : kFloat64;
  const Tensor a = self.to(dtype), b = other.to(dtype);
  const Tensor error = abs(a - b);
  return logical_or(close, logical_and(isfinite(error), error <= atol + abs(b * rtol)));
}

bool allclose(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  check_operands("allclose", self, other, DeviceRule::elementwise);
  return all(isclose(self, other, rtol, atol, equal_nan)).item<bool>();
}

void composite::compare_scalar(Tensor& y, const Tensor& x, const Scalar& number,
                               const CompareOp& op) {
  kernels::compare(y, x, scalar_on(number, x.dtype(), x.device(), x.sizes()), op);
}

}  // namespace ambit
