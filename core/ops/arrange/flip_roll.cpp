// Ops that move elements along dims: roll, rotate, reverse.
#include <ambit/ops/arrange.h>

#include <ambit/backend/alias.h>
#include <ambit/backend/kernels.h>
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include "core/ops/operands/allocate.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/operand_grad.h"

namespace ambit {
namespace {

Tensor part_of(const Tensor& t, size_t d, int64_t start, int64_t length) {
  Dims sizes(t.sizes());
  sizes[d] = length;
  return alias(t, sizes, t.strides(), t.storage_offset() + start * t.strides()[d]);
}

// Copy `in` to `out`, rolled along dim d and later dims: two blocks for each of them.
void copy_rolled(const Tensor& out, const Tensor& in, const Dims& shifts, size_t d) {
  while (d < shifts.size() && shifts[d] == 0) ++d;
  if (d == shifts.size()) {
    Tensor y = out;
    return kernels::copy(y, in);
  }
  const int64_t head = shifts[d], tail = in.sizes()[d] - head;
  copy_rolled(part_of(out, d, head, tail), part_of(in, d, 0, tail), shifts, d + 1);
  copy_rolled(part_of(out, d, 0, head), part_of(in, d, tail, head), shifts, d + 1);
}

// shifts: one for each dim, in [0, size).
Tensor rolled(const Tensor& self, const Dims& shifts) {
  Tensor out = allocate("roll", self.sizes(), self.dtype(), self.device());
  if (self.numel() > 0) copy_rolled(out, self, shifts, 0);
  if (!needs_gradient(self)) return out;
  Dims back(shifts);
  for (size_t d = 0; d < back.size(); ++d) {
    if (shifts[d] > 0) back[d] = self.sizes()[d] - shifts[d];
  }
  return record("roll", std::move(out),
                wrt(self, [back](const Tensor& g) { return rolled(g, back); }));
}

void expect_dims(const char* op, const Tensor& self, int64_t least) {
  expect_defined(op, "self", self);
  if (self.dim() >= least) return;
  throw ShapeError(
      fmt::format("{}: expected {} dims at least, got shape {}", op, least, str(self.sizes())));
}

}  // namespace

Tensor roll(const Tensor& self, IntArrayRef shifts, IntArrayRef dims) {
  expect_defined("roll", "self", self);
  const bool is_flat = dims.empty() && shifts.size() == 1;
  if (shifts.size() != dims.size() && !is_flat) {
    throw ShapeError(
        fmt::format("roll: expected a shift for each dim, got {} and {}", str(shifts), str(dims)));
  }
  if (shifts.empty()) throw ShapeError("roll: expected shifts, got none");
  if (is_flat) return view(roll(reshape(self, -1), shifts, 0), self.sizes());
  if (self.dim() == 0) throw IndexError("roll: expected a tensor with dims, got one without");
  Dims by(self.sizes().size(), 0);
  for (size_t i = 0; i < dims.size(); ++i) {
    const auto d = static_cast<size_t>(wrap_dim("roll", dims[i], self.dim()));
    const int64_t size = self.sizes()[d];
    if (size == 0) continue;
    const int64_t shift = shifts[i] % size;
    by[d] = (by[d] + (shift < 0 ? shift + size : shift)) % size;
  }
  return rolled(self, by);
}

Tensor rot90(const Tensor& self, int64_t k, IntArrayRef dims) {
  expect_dims("rot90", self, 2);
  if (dims.size() != 2) {
    throw ShapeError(fmt::format("rot90: expected two dims, got {}", str(dims)));
  }
  const int64_t a = wrap_dim("rot90", dims[0], self.dim());
  const int64_t b = wrap_dim("rot90", dims[1], self.dim());
  if (a == b) {
    throw ShapeError(fmt::format("rot90: expected two different dims, got {}", str(dims)));
  }
  switch (((k % 4) + 4) % 4) {
    case 1:
      return transpose(flip(self, b), a, b);
    case 2:
      return flip(self, {a, b});
    case 3:
      return transpose(flip(self, a), a, b);
    default:
      return clone(self);
  }
}

Tensor fliplr(const Tensor& self) {
  expect_dims("fliplr", self, 2);
  return flip(self, 1);
}

Tensor flipud(const Tensor& self) {
  expect_dims("flipud", self, 1);
  return flip(self, 0);
}

Tensor narrow_copy(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  expect_defined("narrow_copy", "self", self);
  return clone(narrow(self, dim, start, length));
}

}  // namespace ambit
