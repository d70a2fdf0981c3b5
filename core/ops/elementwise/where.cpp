// Choice between two tensors by a third of bool: where and masked_fill.
#include <ambit/backend/kernels.h>
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/elementwise.h>
#include <fmt/format.h>

#include "core/ops/operands/allocate.h"
#include "core/ops/operands/broadcast.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/operand_grad.h"
#include "core/ops/operands/scalar_operand.h"

namespace ambit {
namespace {

// A number as the other branch beside `branch`.
Tensor branch_of(const Scalar& number, const Tensor& branch) {
  expect_defined("where", "the other branch", branch);
  return scalar_on(number, result_type(branch, number), branch.device());
}

}  // namespace

Tensor where(const Tensor& condition, const Tensor& self, const Tensor& other) {
  const Device device =
      check_devices("where", {{"condition", condition}, {"self", self}, {"other", other}},
                    DeviceRule::elementwise);
  expect_dtype("where", "condition", condition, kBool);
  expect_defined("where", "self", self);
  expect_defined("where", "other", other);
  const DType dtype = result_type(self, other);
  const Dims sizes =
      broadcast("where", condition.sizes(), broadcast("where", self.sizes(), other.sizes()));
  Tensor out = allocate("where", sizes, dtype, device);
  kernels::where(out, operand(condition, sizes, kBool, device), operand(self, sizes, dtype, device),
                 operand(other, sizes, dtype, device));
  if (!needs_gradient(self, other)) return out;
  return record(
      "where", std::move(out),
      wrt(self, [back = BackTo(self), c = saved(condition)](
                    const Tensor& g) { return back(masked_fill(g, logical_not(c()), 0)); }),
      wrt(other, [back = BackTo(other), c = saved(condition)](const Tensor& g) {
        return back(masked_fill(g, c(), 0));
      }));
}

Tensor where(const Tensor& condition, const Tensor& self, const Scalar& other) {
  check_devices("where", {{"condition", condition}, {"self", self}}, DeviceRule::elementwise);
  return where(condition, self, branch_of(other, self));
}

Tensor where(const Tensor& condition, const Scalar& self, const Tensor& other) {
  check_devices("where", {{"condition", condition}, {"other", other}}, DeviceRule::elementwise);
  return where(condition, branch_of(self, other), other);
}

Tensor masked_fill(const Tensor& self, const Tensor& mask, const Scalar& value) {
  const Device device =
      check_devices("masked_fill", {{"self", self}, {"mask", mask}}, DeviceRule::elementwise);
  expect_defined("masked_fill", "self", self);
  expect_dtype("masked_fill", "mask", mask, kBool);
  check_fits("masked_fill", value, self.dtype());
  const Dims sizes = broadcast("masked_fill", self.sizes(), mask.sizes());
  const DType dtype = self.dtype();
  Tensor out = allocate("masked_fill", sizes, dtype, device);
  kernels::where(out, operand(mask, sizes, kBool, device), scalar_on(value, dtype, device, sizes),
                 operand(self, sizes, dtype, device));
  if (!needs_gradient(self)) return out;
  return record("masked_fill", std::move(out),
                wrt(self, [back = BackTo(self), m = saved(mask)](const Tensor& g) {
                  return back(masked_fill(g, m(), 0));
                }));
}

const Tensor& masked_fill_(const Tensor& self, const Tensor& mask, const Scalar& value) {
  const Device device = check_devices("masked_fill_", {{"self", self}, {"mask", mask}},
                                      DeviceRule::in_place_elementwise);
  expect_defined("masked_fill_", "self", self);
  expect_dtype("masked_fill_", "mask", mask, kBool);
  check_fits("masked_fill_", value, self.dtype());
  check_broadcasts_to("masked_fill_", mask.sizes(), self.sizes());
  check_in_place("masked_fill_", self);
  const Tensor m = operand(mask, self.sizes(), kBool, device);
  check_no_overlap("masked_fill_", self, m);
  Tensor y = self;
  kernels::where(y, m, scalar_on(value, self.dtype(), device, self.sizes()), self);
  record_in_place("masked_fill", self,
                  wrt(self, [m = saved(mask)](const Tensor& g) { return masked_fill(g, m(), 0); }));
  return self;
}

}  // namespace ambit
