// Checks, conversions and allocation of binary ops.
#include "binary.h"

#include <ambit/error.h>
#include <ambit/ops/elementwise.h>
#include <fmt/format.h>

#include "core/ops/composite.h"
#include "core/ops/operands/allocate.h"
#include "core/ops/operands/broadcast.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/scalar_operand.h"

namespace ambit {
namespace {

bool same_geometry(const Tensor& a, const Tensor& b) {
  const TensorImpl *x = a.impl(), *y = b.impl();
  return x && y && x->dtype == y->dtype && x->device == y->device && x->sizes == y->sizes;
}

// True if some integers cannot be divided by the divisor.
bool refuses_some(BinaryOp kernel, DType dtype, const Scalar& divisor) {
  if (!row_of(kernel).refuses_some(dtype)) return false;
  return visit<dtypes::kIntegral>(dtype, [&]<class T>() {
    const auto d = divisor.cast<T>();
    return d == T(0) || d == static_cast<T>(-1);
  });
}

// Check a scalar divisor on the host, so that the error is the same on all devices, even without a
// kernel call.
void check_divisor(BinaryOp kernel, DType dtype, const Tensor& self, const Scalar& divisor) {
  if (!row_of(kernel).refuses_some(dtype) || self.numel() == 0) return;
  visit<dtypes::kIntegral>(dtype, [&]<class T>() {
    if (divisor.cast<T>() != T(0)) return;
    throw Error(fmt::format("{}: expected a divisor other than 0, got 0", name(kernel)));
  });
}

}  // namespace

Device check_operands(const char* op, const Tensor& self, const Tensor& other, DeviceRule rule) {
  expect_defined(op, "self", self);
  expect_defined(op, "other", other);
  return check_devices(op, {{"self", self}, {"other", other}}, rule);
}

Tensor compute_binary(const char* op, BinaryOp kernel, Domain domain, const Tensor& self,
                      const Tensor& other) {
  if (same_geometry(self, other) && compute_dtype(op, domain, self.dtype()) == self.dtype()) {
    Tensor out = allocate(op, self.sizes(), self.dtype(), self.device());
    kernels::binary(out, self, other, kernel);
    return out;
  }
  const Device device = check_operands(op, self, other, DeviceRule::elementwise);
  const DType dtype = compute_dtype(op, domain, result_type(self, other));
  const Dims sizes = broadcast(op, self.sizes(), other.sizes());
  Tensor out = allocate(op, sizes, dtype, device);
  kernels::binary(out, operand(self, sizes, dtype, device), operand(other, sizes, dtype, device),
                  kernel);
  return out;
}

void compute_binary_in_place(const char* op, BinaryOp kernel, Domain domain, const Tensor& self,
                             const Tensor& other) {
  check_operands(op, self, other, DeviceRule::in_place_elementwise);
  const DType dtype = compute_dtype(op, domain, result_type(self, other));
  const Tensor b = operand_in_place(op, self, other, dtype);
  run_in_place(op, self, dtype, row_of(kernel).refuses_some(dtype),
               [&](Tensor& y, const Tensor& a) { kernels::binary(y, a, b, kernel); });
}

Tensor compute_binary_scalar(const char* op, BinaryOp kernel, Domain domain, const Tensor& self,
                             const ScalarOperand& number) {
  expect_defined(op, "self", self);
  const DType dtype = compute_dtype(op, domain, result_type(self, number.value));
  if (!number.first) check_divisor(kernel, dtype, self, number.value);
  Tensor out = allocate(op, self.sizes(), dtype, self.device());
  kernels::binary_scalar(out, operand(self, self.sizes(), dtype, self.device()), number, kernel);
  return out;
}

void compute_binary_scalar_in_place(const char* op, BinaryOp kernel, Domain domain,
                                    const Tensor& self, const Scalar& number) {
  expect_defined(op, "self", self);
  const DType dtype = compute_dtype(op, domain, result_type(self, number));
  check_casts_to(op, dtype, self.dtype());
  check_divisor(kernel, dtype, self, number);
  check_in_place(op, self);
  run_in_place(op, self, dtype, refuses_some(kernel, dtype, number),
               [&](Tensor& y, const Tensor& x) { kernels::binary_scalar(y, x, {number}, kernel); });
}

Tensor operand_in_place(const char* op, const Tensor& self, const Tensor& other, DType dtype) {
  check_casts_to(op, dtype, self.dtype());
  check_broadcasts_to(op, other.sizes(), self.sizes());
  check_in_place(op, self);
  Tensor b = operand(other, self.sizes(), dtype, self.device());
  check_no_overlap(op, self, b);
  return b;
}

Tensor copy_as(const char* op, const Tensor& self, DType dtype) {
  Tensor copy = allocate(op, self.sizes(), dtype, self.device());
  kernels::copy(copy, self);
  return copy;
}

void store(const Tensor& self, const Tensor& result) {
  Tensor y = self;
  kernels::copy(y, result);
}

void composite::binary_scalar(Tensor& y, const Tensor& x, const ScalarOperand& number,
                              const BinaryOp& op) {
  const Tensor other = scalar_on(number.value, x.dtype(), x.device(), x.sizes());
  if (number.first) return kernels::binary(y, other, x, op);
  kernels::binary(y, x, other, op);
}

}  // namespace ambit
