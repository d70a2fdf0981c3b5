#include "add_scaled.h"

#include <ambit/ops/elementwise.h>

#include "binary.h"
#include "core/ops/composite.h"
#include "core/ops/operands/allocate.h"
#include "core/ops/operands/broadcast.h"

namespace ambit {
namespace {

auto other_grad(const Tensor& other, const Scalar& factor) {
  return [back = BackTo(other), factor](const Tensor& g) { return back(g * factor); };
}

}  // namespace

Tensor add_scaled(const char* op, const Tensor& self, const Tensor& other, const Scalar& factor) {
  const Device device = check_operands(op, self, other, DeviceRule::elementwise);
  const DType dtype = result_type(self, other);
  const Dims sizes = broadcast(op, self.sizes(), other.sizes());
  Tensor out = allocate(op, sizes, dtype, device);
  kernels::add_scaled(out, operand(self, sizes, dtype, device),
                      operand(other, sizes, dtype, device), factor);
  if (!needs_gradient(self, other)) return out;
  return record(op, std::move(out), wrt(self, BackTo(self)), wrt(other, other_grad(other, factor)));
}

const Tensor& add_scaled_in_place(const char* op, const char* name, const Tensor& self,
                                  const Tensor& other, const Scalar& factor) {
  const DType dtype = result_type(self, other);
  const Tensor b = operand_in_place(op, self, other, dtype);
  run_in_place(op, self, dtype, false,
               [&](Tensor& y, const Tensor& a) { kernels::add_scaled(y, a, b, factor); });
  record_in_place(name, self, wrt(self, BackTo(self)), wrt(other, other_grad(other, factor)));
  return self;
}

void composite::add_scaled(Tensor& y, const Tensor& a, const Tensor& b, const Scalar& alpha) {
  Tensor scaled = allocate("add_scaled", y.sizes(), y.dtype(), y.device());
  kernels::binary_scalar(scaled, b, {alpha}, BinaryOp::mul);
  kernels::binary(y, a, scaled, BinaryOp::add);
}

}  // namespace ambit
