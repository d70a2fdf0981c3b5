// angle and sgn of complex numbers.
#include "functions.h"

#include <ambit/backend/kernels.h>
#include <ambit/detail/record.h>
#include <ambit/ops/complex.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>

#include "core/ops/complex/parts.h"
#include "core/ops/operands/allocate.h"
#include "core/ops/operands/operand_grad.h"

namespace ambit {
namespace {

// d angle = (x dy - y dx) / |z|^2, so the gradient is i g z / |z|^2, and 0 at z = 0.
Tensor angle_grad(const Tensor& g, const Tensor& z) {
  const Tensor length = abs(z), origin = length == 0;
  const Tensor slope = imaginary(g / masked_fill(length, origin, 1)) * complex_sgn(z);
  return masked_fill(slope, origin, 0);
}

// z / |z| changes only if z moves perpendicularly to itself: with s = z / |z|, the gradient is (g -
// s Re(g conj(s))) / |z|, and 0 at z = 0.
Tensor sgn_grad(const Tensor& g, const Tensor& z) {
  const Tensor s = complex_sgn(z), length = abs(z), origin = length == 0;
  return masked_fill((g - s * real(g * conj(s))) / masked_fill(length, origin, 1), origin, 0);
}

}  // namespace

Tensor complex_angle(const Tensor& self) {
  Tensor out = allocate("angle", self.sizes(), real_dtype(self.dtype()), self.device());
  if (!self.is_meta()) {
    Tensor log = blank_like(self, self.dtype());
    kernels::unary(log, self, UnaryOp::log);
    kernels::copy(out, im(log));
  }
  if (!needs_gradient(self)) return out;
  return record("angle", std::move(out),
                wrt(self, [z = saved(self)](const Tensor& g) { return angle_grad(g, z()); }));
}

Tensor complex_sgn(const Tensor& self) {
  Tensor out = allocate("sgn", self.sizes(), self.dtype(), self.device());
  if (!self.is_meta()) {
    kernels::unary(out, self, UnaryOp::sign);
  }
  if (!needs_gradient(self)) return out;
  return record("sgn", std::move(out),
                wrt(self, [z = saved(self)](const Tensor& g) { return sgn_grad(g, z()); }));
}

}  // namespace ambit
