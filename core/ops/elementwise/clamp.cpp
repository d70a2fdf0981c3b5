// Maximum, minimum and clamp.
#include <ambit/error.h>
#include <ambit/ops/elementwise.h>
#include <fmt/format.h>

#include "binary.h"
#include "core/ops/composite.h"
#include "core/ops/operands/allocate.h"
#include "core/ops/operands/broadcast.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/operand_grad.h"
#include "core/ops/operands/scalar_operand.h"
#include "where.h"

namespace ambit {
namespace {

// Gradient of `mine` against `other`: all of it where mine was taken, half where both were equal.
template <BinaryOp kernel>
auto share_of(const Tensor& mine, const Tensor& other) {
  return [back = BackTo(mine), a = saved(mine), b = saved(other)](const Tensor& g) {
    const Tensor taken = where(eq(a(), b()), g * 0.5, g);
    const Tensor lost = kernel == BinaryOp::maximum ? lt(a(), b()) : gt(a(), b());
    return back(masked_fill(taken, lost, 0));
  };
}

template <BinaryOp kernel>
struct Extreme {
  static constexpr const char* kName = kernel == BinaryOp::maximum ? "maximum" : "minimum";
  static constexpr BinaryOp kKernel = kernel;
  static constexpr Domain kDomain = Domain::any;
  static auto self_grad(const Tensor& self, const Tensor& other) {
    return share_of<kernel>(self, other);
  }
  static auto other_grad(const Tensor& self, const Tensor& other) {
    return share_of<kernel>(other, self);
  }
};

using Bound = std::optional<Scalar>;

DType clamp_dtype(const char* op, const Tensor& self, const Bound& min, const Bound& max) {
  expect_defined(op, "self", self);
  if (!min && !max) throw Error(fmt::format("{}: expected min or max, got neither", op));
  DType dtype = self.dtype();
  if (min) dtype = promote_types(dtype, result_type(self, *min));
  if (max) dtype = promote_types(dtype, result_type(self, *max));
  for (const Bound* bound : {&min, &max}) {
    if (*bound) check_fits(op, **bound, dtype);
    // A negative bound would wrap around, and be a large one.
    if (*bound && dtype == kUInt8 && (*bound)->to<int64_t>() < 0) {
      throw DTypeError(
          fmt::format("{}: expected bounds that fit uint8, got {}", op, (*bound)->to<int64_t>()));
    }
  }
  return dtype;
}

auto clamp_grad(const Tensor& before, const Bound& min, const Bound& max) {
  return [x = saved(before), min, max](const Tensor& g) {
    Tensor inside;
    if (min) inside = ge(x(), *min);
    if (max) inside = min ? logical_and(inside, le(x(), *max)) : le(x(), *max);
    return grad_where(g, inside, true);
  };
}

}  // namespace

Tensor maximum(const Tensor& self, const Tensor& other) {
  return binary<Extreme<BinaryOp::maximum>>(self, other);
}
Tensor minimum(const Tensor& self, const Tensor& other) {
  return binary<Extreme<BinaryOp::minimum>>(self, other);
}

Tensor clamp(const Tensor& self, Bound min, Bound max) {
  const DType dtype = clamp_dtype("clamp", self, min, max);
  Tensor out = allocate("clamp", self.sizes(), dtype, self.device());
  kernels::clamp(out, operand(self, self.sizes(), dtype, self.device()), min, max);
  if (!needs_gradient(self)) return out;
  return record("clamp", std::move(out), wrt(self, clamp_grad(self, min, max)));
}

const Tensor& clamp_(const Tensor& self, Bound min, Bound max) {
  const DType dtype = clamp_dtype("clamp_", self, min, max);
  check_casts_to("clamp_", dtype, self.dtype());
  check_in_place("clamp_", self);
  const Tensor before = needs_gradient(self) ? self.clone() : self;
  Tensor y = self;  // of dtype: bounds of self's category or a lower one do not change it
  kernels::clamp(y, self, min, max);
  record_in_place("clamp", self, wrt(self, clamp_grad(before, min, max)));
  return self;
}

void composite::clamp(Tensor& y, const Tensor& x, const Bound& min, const Bound& max) {
  if (!min && !max) return kernels::copy(y, x);
  if (min) kernels::binary_scalar(y, x, {*min}, BinaryOp::maximum);
  if (max) kernels::binary_scalar(y, min ? y : x, {*max}, BinaryOp::minimum);
}

}  // namespace ambit
