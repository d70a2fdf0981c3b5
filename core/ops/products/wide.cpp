// Products of reduced floating-point matrices with a float32 result: products of upcast operands,
// which float32 holds exactly.
#include <ambit/backend/op.h>
#include <ambit/error.h>
#include <ambit/ops/matmul.h>
#include <fmt/format.h>

#include "core/ops/operands/expect.h"

namespace ambit {
namespace {

void check_out_dtype(const char* op, const Tensor& a, const Tensor& b, DType out) {
  expect_same_dtype(op, a, b);
  if (out == a.dtype() || (out == kFloat32 && is_reduced_floating(a.dtype()))) return;
  throw DTypeError(fmt::format("{}: expected the out_dtype {}{}, got {}", op, name(a.dtype()),
                               is_reduced_floating(a.dtype()) ? " or float32" : "", name(out)));
}

using Product = Tensor (*)(const Tensor&, const Tensor&);
using Sum = Tensor (*)(const Tensor&, const Tensor&, const Tensor&, const Scalar&, const Scalar&);

Tensor product(const char* op, Product multiply, const Tensor& a, const Tensor& b, DType out) {
  check_devices(op, {{"self", a}, {"mat2", b}});
  check_out_dtype(op, a, b, out);
  return multiply(a.to(out), b.to(out));
}

Tensor sum(const char* op, ArrayRef<const char*> names, Sum add, const Tensor& self,
           const Tensor& a, const Tensor& b, DType out, const Scalar& beta, const Scalar& alpha) {
  check_devices(op, {{"self", self}, {names[0], a}, {names[1], b}});
  expect_defined(op, "self", self);
  check_out_dtype(op, a, b, out);
  if (self.dtype() != out) expect_dtype(op, "self", self, a.dtype());
  return add(self.to(out), a.to(out), b.to(out), beta, alpha);
}

}  // namespace

Tensor mm(const Tensor& self, const Tensor& mat2, DType out_dtype) {
  return product("mm", mm, self, mat2, out_dtype);
}

Tensor bmm(const Tensor& self, const Tensor& mat2, DType out_dtype) {
  return product("bmm", bmm, self, mat2, out_dtype);
}

Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, DType out_dtype,
             const Scalar& beta, const Scalar& alpha) {
  return sum("addmm", {"mat1", "mat2"}, addmm, self, mat1, mat2, out_dtype, beta, alpha);
}

Tensor baddbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, DType out_dtype,
               const Scalar& beta, const Scalar& alpha) {
  return sum("baddbmm", {"batch1", "batch2"}, baddbmm, self, batch1, batch2, out_dtype, beta,
             alpha);
}

}  // namespace ambit
