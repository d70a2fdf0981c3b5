// Views of a part of their input. Their gradients are zero outside the part.
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <algorithm>

#include "core/autograd/strided_grad.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/operand_grad.h"
#include "part.h"

namespace ambit {
namespace {

// View `length` elements of dim d, `step` apart, from start on; all must be in range.
Tensor strided_part(const char* op, const Tensor& self, size_t d, int64_t start, int64_t length,
                    int64_t step) {
  Dims sizes(self.sizes()), strides(self.strides());
  const int64_t offset = offset_of(self, d, start);
  sizes[d] = length;
  if (length > 1 && self.numel() > 0)
    strides[d] *= step;  // otherwise the stride is unused, and the product could overflow
  Tensor out = make_view(self, sizes, strides, offset);
  return record_part(op, std::move(out), self, [op, d, start, length, step](const Tensor& g) {
    return strided_part(op, g, d, start, length, step);
  });
}

}  // namespace

Tensor select(const Tensor& self, int64_t dim, int64_t index) {
  const size_t d = index_of("select", dim, self);
  const int64_t size = self.sizes()[d];
  if (index < -size || index >= size) {
    throw IndexError(fmt::format("select: expected an index in [{}, {}) for dim {}, got {}", -size,
                                 size, d, index));
  }
  Dims sizes(self.sizes()), strides(self.strides());
  const int64_t offset = offset_of(self, d, index < 0 ? index + size : index);
  sizes.erase(d);
  strides.erase(d);
  return record_part("select", make_view(self, sizes, strides, offset), self,
                     [dim, index](const Tensor& g) { return select(g, dim, index); });
}

Tensor slice(const Tensor& self, int64_t dim, std::optional<int64_t> start,
             std::optional<int64_t> end, int64_t step) {
  const size_t d = index_of("slice", dim, self);
  if (step < 1) throw Error(fmt::format("slice: expected a step >= 1, got {}", step));
  const int64_t size = self.sizes()[d];
  const auto clamped = [size](int64_t i, int64_t low) {
    return std::clamp(i < 0 ? i + size : i, low, size);
  };
  const int64_t first = clamped(start.value_or(0), 0);
  const int64_t last = clamped(end.value_or(size), first);
  const int64_t length = (last - first) / step + ((last - first) % step != 0);
  return strided_part("slice", self, d, first, length, step);
}

Tensor narrow(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  const size_t d = index_of("narrow", dim, self);
  const int64_t size = self.sizes()[d];
  const int64_t first = start < 0 ? start + size : start;
  if (first < 0 || first > size || length < 0 || length > size - first) {
    throw IndexError(
        fmt::format("narrow: expected start and length inside dim {} of size {}, got {} and {}", d,
                    size, start, length));
  }
  return strided_part("narrow", self, d, first, length, 1);
}

Tensor narrow(const Tensor& self, int64_t dim, const Tensor& start, int64_t length) {
  index_of("narrow", dim, self);
  expect_defined("narrow", "start", start);
  if (!is_integral(start.dtype())) {
    throw DTypeError(fmt::format("narrow: expected an integer start, got {}", name(start.dtype())));
  }
  if (start.dim() != 0) {
    throw ShapeError(
        fmt::format("narrow: expected a start without dims, got shape {}", str(start.sizes())));
  }
  return narrow(self, dim, start.item<int64_t>(), length);
}

namespace {

// Return one past the last element's position, relative to the first, for a non-empty geometry.
int64_t extent(const char* op, IntArrayRef sizes, IntArrayRef strides) {
  int64_t n = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    int64_t reach = 0;
    if (strides[i] < 0 || __builtin_mul_overflow(sizes[i] - 1, strides[i], &reach) ||
        __builtin_add_overflow(n, reach, &n)) {
      throw ShapeError(
          fmt::format("{}: expected strides >= 0 inside the storage, got {}", op, str(strides)));
    }
  }
  return n;
}

}  // namespace

Tensor as_strided(const Tensor& self, IntArrayRef sizes, IntArrayRef strides,
                  std::optional<int64_t> storage_offset) {
  expect_defined("as_strided", "self", self);
  const int64_t offset = storage_offset.value_or(self.storage_offset());
  if (sizes.size() != strides.size()) {
    throw ShapeError(fmt::format("as_strided: expected one stride for each size, got {} and {}",
                                 str(sizes), str(strides)));
  }
  const int64_t numel = count("as_strided", sizes);
  const auto room = static_cast<int64_t>(self.storage()->size_bytes() / element_size(self.dtype()));
  if (offset < 0 || offset > room ||
      (numel > 0 && extent("as_strided", sizes, strides) > room - offset)) {
    throw ShapeError(fmt::format(
        "as_strided: expected a geometry inside {} elements, got sizes {}, strides {}, offset {}",
        room, str(sizes), str(strides), offset));
  }
  const Tensor out = make_view(self, sizes, strides, offset);
  if (!needs_gradient(self)) return out;
  return record("as_strided", out,
                wrt(self, [from = Geometry(*self.impl()), to = Geometry(*out.impl())](
                              const Tensor& g) { return strided_grad(g, from, to); }));
}

}  // namespace ambit
