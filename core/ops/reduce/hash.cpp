// The xor of all elements' bits.
#include <ambit/autograd.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include "core/ops/operands/expect.h"
#include "reduce_shape.h"

namespace ambit {
namespace {

// The xor along dim, which remains with size 1: the second half is folded onto the first.
Tensor folded(Tensor bits, int64_t dim) {
  while (bits.size(dim) > 1) {
    const int64_t n = bits.size(dim), half = n / 2;
    const Tensor pairs = bitwise_xor(narrow(bits, dim, 0, half), narrow(bits, dim, half, half));
    if (n % 2 != 0) narrow(pairs, dim, 0, 1).bitwise_xor_(narrow(bits, dim, n - 1, 1));
    bits = pairs;
  }
  return bits;
}

}  // namespace

Tensor hash_tensor(const Tensor& self, IntArrayRef dims, bool keepdim, int64_t mode) {
  constexpr const char* kOp = "hash_tensor";
  expect_defined(kOp, "self", self);
  expect_real(kOp, self);
  if (mode != 0) throw Error(fmt::format("{}: expected mode 0, the xor, got {}", kOp, mode));
  const ReduceShape shape(kOp, self.sizes(), dims, keepdim);
  expect_elements(kOp, shape, self.sizes());
  const NoGradGuard no_grad;
  Tensor bits =
      self.is_floating_point() ? view(self.to(kFloat64).contiguous(), kInt64) : self.to(kInt64);
  if (bits.numel() == 0) return zeros(shape.result, bits.options().dtype(kUInt64));
  for (int64_t d = 0; d < bits.dim(); ++d) {
    if (shape.kept[static_cast<size_t>(d)] == 1) bits = folded(bits, d);
  }
  return view(reshape(bits.is_alias_of(self) ? bits.clone() : bits, shape.result), kUInt64);
}

}  // namespace ambit
