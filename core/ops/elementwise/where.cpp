// Selection by a bool tensor: where and masked_fill.
#include <ambit/backend/kernels.h>
#include <ambit/detail/record.h>
#include <ambit/detail/warning.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <fmt/format.h>

#include "core/ops/composite.h"
#include "core/ops/operands/allocate.h"
#include "core/ops/operands/broadcast.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/operand_grad.h"
#include "core/ops/operands/scalar_operand.h"
#include "where.h"

namespace ambit {
namespace {

// Select between a number and a tensor: y = mask == masked ? value : self. `dtype`: y's.
Tensor choose(const char* op, const Tensor& self, const Tensor& mask, const Scalar& value,
              bool masked, DType dtype, Device device) {
  const Dims sizes = broadcast(op, self.sizes(), mask.sizes());
  Tensor out = allocate(op, sizes, dtype, device);
  kernels::masked_fill(out, operand(self, sizes, dtype, device),
                       operand(mask, sizes, kBool, device), value, masked);
  if (!needs_gradient(self)) return out;
  return record(op, std::move(out),
                wrt(self, [back = ReduceGradTo(self), m = saved(mask), masked](const Tensor& g) {
                  return back(grad_where(g, m(), !masked));
                }));
}

// Convert a uint8 mask, as in old libtorch programs, to bool.
Tensor mask_as_bool(const Tensor& mask) {
  return mask.defined() && mask.dtype() == kUInt8 ? mask != 0 : mask;
}

Tensor condition_as_bool(const Tensor& condition) {
  if (condition.defined() && condition.dtype() == kUInt8) {
    detail::warn(detail::Warning::byte_condition, "where");
  }
  return mask_as_bool(condition);
}

// where() with a number, which is selected where the condition equals `masked`.
Tensor where_scalar(const Tensor& condition, const Tensor& branch, const char* name,
                    const Scalar& number, bool masked) {
  const Device device =
      check_devices("where", {{"condition", condition}, {name, branch}}, DeviceRule::elementwise);
  const Tensor chosen = condition_as_bool(condition);
  expect_dtype("where", "condition", chosen, kBool);
  expect_defined("where", name, branch);
  return choose("where", branch, chosen, number, masked, result_type(branch, number), device);
}

}  // namespace

Tensor grad_where(const Tensor& g, const Tensor& mask, bool kept) {
  return choose("masked_fill", g, mask, 0, !kept, g.dtype(), g.device());
}

Tensor where(const Tensor& given, const Tensor& self, const Tensor& other) {
  const Device device = check_devices(
      "where", {{"condition", given}, {"self", self}, {"other", other}}, DeviceRule::elementwise);
  const Tensor condition = condition_as_bool(given);
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
  return record("where", std::move(out),
                wrt(self, [back = ReduceGradTo(self), c = saved(condition)](
                              const Tensor& g) { return back(grad_where(g, c(), true)); }),
                wrt(other, [back = ReduceGradTo(other), c = saved(condition)](const Tensor& g) {
                  return back(grad_where(g, c(), false));
                }));
}

Tensor where(const Tensor& condition, const Tensor& self, const Scalar& other) {
  return where_scalar(condition, self, "self", other, false);
}

Tensor where(const Tensor& condition, const Scalar& self, const Tensor& other) {
  return where_scalar(condition, other, "other", self, true);
}

Tensor where(const Tensor& condition, const Scalar& self, const Scalar& other) {
  expect_defined("where", "condition", condition);
  const auto dtype = [](const Scalar& s) {
    return s.is_floating_point() ? get_default_dtype() : s.dtype();
  };
  const TensorOptions options = condition.options().dtype(promote_types(dtype(self), dtype(other)));
  return where(condition, scalar_tensor(self, options), other);
}

Tensor masked_fill(const Tensor& self, const Tensor& mask, const Scalar& value) {
  const Device device =
      check_devices("masked_fill", {{"self", self}, {"mask", mask}}, DeviceRule::elementwise);
  expect_defined("masked_fill", "self", self);
  const Tensor chosen = mask_as_bool(mask);
  expect_dtype("masked_fill", "mask", chosen, kBool);
  check_fits("masked_fill", value, self.dtype());
  return choose("masked_fill", self, chosen, value, true, self.dtype(), device);
}

const Tensor& masked_fill_(const Tensor& self, const Tensor& given, const Scalar& value) {
  const Device device = check_devices("masked_fill_", {{"self", self}, {"mask", given}},
                                      DeviceRule::in_place_elementwise);
  expect_defined("masked_fill_", "self", self);
  const Tensor mask = mask_as_bool(given);
  expect_dtype("masked_fill_", "mask", mask, kBool);
  check_fits("masked_fill_", value, self.dtype());
  check_broadcasts_to("masked_fill_", mask.sizes(), self.sizes());
  check_in_place("masked_fill_", self);
  const Tensor m = operand(mask, self.sizes(), kBool, device);
  check_no_overlap("masked_fill_", self, m);
  check_savable("masked_fill_", self, mask);
  Tensor y = self;
  kernels::masked_fill(y, self, m, value, true);
  record_in_place("masked_fill", self, wrt(self, [m = saved(mask)](const Tensor& g) {
                    return grad_where(g, m(), false);
                  }));
  return self;
}

namespace {

// Return a 0-dim tensor's number in self's dtype.
Tensor number_like(const char* op, const Tensor& value, const Tensor& self) {
  expect_defined(op, "self", self);
  expect_dim(op, "value", value, 0, "a tensor without dims");
  return value.to(self.dtype());
}

}  // namespace

Tensor masked_fill(const Tensor& self, const Tensor& mask, const Tensor& value) {
  check_devices("masked_fill", {{"self", self}, {"mask", mask}, {"value", value}},
                DeviceRule::elementwise);
  const Tensor number = number_like("masked_fill", value, self);
  const Tensor chosen = mask_as_bool(mask);
  expect_dtype("masked_fill", "mask", chosen, kBool);
  broadcast("masked_fill", self.sizes(), chosen.sizes());
  return where(chosen, number, self);
}

const Tensor& masked_fill_(const Tensor& self, const Tensor& mask, const Tensor& value) {
  check_devices("masked_fill_", {{"self", self}, {"mask", mask}, {"value", value}},
                DeviceRule::in_place_elementwise);
  const Tensor number = number_like("masked_fill_", value, self);
  const Tensor chosen = mask_as_bool(mask);
  expect_dtype("masked_fill_", "mask", chosen, kBool);
  check_broadcasts_to("masked_fill_", chosen.sizes(), self.sizes());
  check_in_place("masked_fill_", self);
  // Use a copy, because self is overwritten and where's gradient may need the old value.
  const Tensor kept = needs_gradient(self, value) ? self.clone() : self;
  return copy_(self, where(chosen, number, kept));
}

const Tensor& fill_(const Tensor& self, const Tensor& value) {
  expect_defined("fill_", "self", self);
  expect_dim("fill_", "value", value, 0, "a tensor without dims");
  return copy_(self, value);
}

Tensor fill(const Tensor& self, const Tensor& value) {
  check_devices("fill", {{"self", self}, {"value", value}}, DeviceRule::in_place_elementwise);
  expect_defined("fill", "self", self);
  expect_dim("fill", "value", value, 0, "a tensor without dims");
  return copy_(zero(self), value);
}

void composite::masked_fill(Tensor& y, const Tensor& x, const Tensor& mask, const Scalar& value,
                            bool masked) {
  const Tensor number = scalar_on(value, y.dtype(), y.device(), y.sizes());
  kernels::where(y, mask, masked ? number : x, masked ? x : number);
}

}  // namespace ambit
