// Views of complex numbers as their parts, and of parts as complex numbers.
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/complex.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <algorithm>

#include "core/ops/complex/parts.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/operand_grad.h"

namespace ambit {
namespace {

void expect_complex(const char* op, const Tensor& self) {
  expect_defined(op, "self", self);
  if (self.is_complex()) return;
  throw DTypeError(
      fmt::format("{}: expected complex64 or complex128, got {}", op, name(self.dtype())));
}

// View the parts at `offset` of each complex number: 0 for the real part, 1 for the imaginary one.
Tensor part_view(const Tensor& self, int64_t offset) {
  self.storage()->make_row_major();
  return make_view(self, self.sizes(), doubled(self.strides()),
                   doubled(self.storage_offset()) + offset, real_dtype(self.dtype()));
}

}  // namespace

Tensor view_as_real(const Tensor& self) {
  expect_complex("view_as_real", self);
  Dims sizes(self.sizes()), strides = doubled(self.strides());
  sizes.push_back(2);
  strides.push_back(1);
  count("view_as_real", sizes);  // throws if an expanded tensor has too many elements
  self.storage()->make_row_major();
  Tensor out =
      make_view(self, sizes, strides, doubled(self.storage_offset()), real_dtype(self.dtype()));
  if (!needs_gradient(self)) return out;
  return record("view_as_real", std::move(out), wrt(self, [](const Tensor& g) {
                  const Tensor pairs = contiguous(g);
                  return view_as_complex(pairs.storage_offset() % 2 == 0 ? pairs : clone(pairs));
                }));
}

Tensor view_as_complex(const Tensor& self) {
  const char* op = "view_as_complex";
  expect_defined(op, "self", self);
  if (!dtypes::kFloating.contains(self.dtype())) {
    throw DTypeError(
        fmt::format("{}: expected float32 or float64, got {}", op, name(self.dtype())));
  }
  if (self.dim() == 0 || self.sizes().back() != 2) {
    throw ShapeError(
        fmt::format("{}: expected a last dim of size 2, got shape {}", op, str(self.sizes())));
  }
  Dims sizes(self.sizes()), strides(self.strides());
  bool good = strides.back() == 1 && self.storage_offset() % 2 == 0;
  sizes.erase(sizes.size() - 1);
  strides.erase(strides.size() - 1);
  for (int64_t& s : strides) {
    good = good && s % 2 == 0;
    s /= 2;
  }
  if (!good) {
    throw ShapeError(fmt::format(
        "{}: expected a last stride of 1, and other strides and an offset that are even, got "
        "strides {} and offset {}",
        op, str(self.strides()), self.storage_offset()));
  }
  self.storage()->make_row_major();
  Tensor out =
      make_view(self, sizes, strides, self.storage_offset() / 2, complex_dtype(self.dtype()));
  if (!needs_gradient(self)) return out;
  return record(op, std::move(out), wrt(self, [](const Tensor& g) { return view_as_real(g); }));
}

Tensor real(const Tensor& self) {
  expect_defined("real", "self", self);
  if (!self.is_complex()) return self;
  Tensor out = part_view(self, 0);
  if (!needs_gradient(self)) return out;
  return record("real", std::move(out), wrt(self, [](const Tensor& g) {
                  return to(g, g.device(), complex_dtype(g.dtype()));
                }));
}

Tensor imag(const Tensor& self) {
  expect_complex("imag", self);
  Tensor out = part_view(self, 1);
  if (!needs_gradient(self)) return out;
  return record("imag", std::move(out), wrt(self, [](const Tensor& g) { return imaginary(g); }));
}

}  // namespace ambit
