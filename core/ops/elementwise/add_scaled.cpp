#include "add_scaled.h"

#include <ambit/ops/elementwise.h>

#include "binary.h"
#include "core/ops/operands/allocate.h"
#include "core/ops/operands/broadcast.h"

namespace ambit {
namespace {

auto other_grad(const Tensor& other, const Scalar& factor) {
  return [back = ReduceGradTo(other), factor](const Tensor& g) { return back(g * factor); };
}

}  // namespace

Tensor add_scaled(const char* op, const Tensor& self, const Tensor& other, const Scalar& factor) {
  const Device device = check_operands(op, self, other, DeviceRule::elementwise);
  const DType dtype = result_type(self, other);
  const Dims sizes = broadcast(op, self.sizes(), other.sizes());
  Tensor out = allocate(op, sizes, dtype, device);
  kernels::ternary(out, operand(self, sizes, dtype, device), operand(other, sizes, dtype, device),
                   {}, factor, TernaryOp::add_scaled);
  if (!needs_gradient(self, other)) return out;
  return record(op, std::move(out), wrt(self, ReduceGradTo(self)),
                wrt(other, other_grad(other, factor)));
}

const Tensor& add_scaled_in_place(const char* op, const char* name, const Tensor& self,
                                  const Tensor& other, const Scalar& factor) {
  const DType dtype = result_type(self, other);
  const Tensor b = operand_in_place(op, self, other, dtype);
  run_in_place(op, self, dtype, false, [&](Tensor& y, const Tensor& a) {
    kernels::ternary(y, a, b, {}, factor, TernaryOp::add_scaled);
  });
  record_in_place(name, self, wrt(self, ReduceGradTo(self)), wrt(other, other_grad(other, factor)));
  return self;
}

}  // namespace ambit
