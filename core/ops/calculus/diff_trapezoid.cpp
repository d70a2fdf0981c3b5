// Differences of neighbours and trapezoidal sums.
#include <ambit/backend/op.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/samples.h>
#include <ambit/ops/scan.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <algorithm>

#include "core/ops/operands/expect.h"
#include "core/ops/shape/part.h"

namespace ambit {
namespace {

Tensor left(const Tensor& t, int64_t dim) { return slice(t, dim, 0, -1); }
Tensor right(const Tensor& t, int64_t dim) { return slice(t, dim, 1); }

void check_end(const char* argument, const Tensor& end, const Tensor& self, size_t d) {
  if (!end.defined()) return;
  Dims expected(self.sizes());
  if (end.dim() == self.dim()) expected[d] = end.sizes()[d];
  expect_sizes("diff", argument, end, expected);
}

// Check for undefined tensors, bool and a dim out of range. Return the dim.
int64_t checked_dim(const char* op, const Tensor& y, int64_t dim) {
  const size_t d = index_of(op, dim, y);
  expect_numbers(op, y);
  return static_cast<int64_t>(d);
}

Tensor zeros_without(const Tensor& y, int64_t dim) {
  Dims sizes(y.sizes());
  sizes.erase(static_cast<size_t>(dim));
  return zeros(sizes, y.options());
}

// Return the widths between positions x, in a shape that broadcasts with y.
Tensor widths(const char* op, const Tensor& y, const Tensor& x, int64_t dim) {
  Dims sizes;
  if (x.dim() == 1) {
    expect_sizes(op, "x", x, {y.size(dim)});
    sizes.resize(y.sizes().size(), 1);
    sizes[static_cast<size_t>(dim)] = x.numel();
  } else {
    sizes.resize(std::max(y.sizes().size(), x.sizes().size()) - x.sizes().size(), 1);
    for (const int64_t s : x.sizes()) sizes.push_back(s);
  }
  const Tensor places = reshape(x, sizes);
  return right(places, dim) - left(places, dim);
}

void check_pair(const char* op, const Tensor& y, const Tensor& x) {
  check_devices(op, {{"y", y}, {"x", x}});
  expect_defined(op, "y", y);
  expect_defined(op, "x", x);
  expect_numbers(op, x);
}

Tensor trapezoid(const char* op, const Tensor& y, const Tensor& x, int64_t dim) {
  check_pair(op, y, x);
  const int64_t d = checked_dim(op, y, dim);
  if (y.size(d) == 0) return zeros_without(y, d);
  return sum((left(y, d) + right(y, d)) * widths(op, y, x, d), d) / 2.;
}

Tensor trapezoid(const char* op, const Tensor& y, const Scalar& dx, int64_t dim) {
  const int64_t d = checked_dim(op, y, dim);
  if (y.size(d) == 0) return zeros_without(y, d);
  return (sum(y, d) - (select(y, d, 0) + select(y, d, -1)) * 0.5) * dx.to<double>();
}

}  // namespace

Tensor diff(const Tensor& self, int64_t n, int64_t dim, const Tensor& prepend,
            const Tensor& append) {
  check_devices("diff", {{"self", self}, {"prepend", prepend}, {"append", append}});
  const size_t d = index_of("diff", dim, self);
  if (n < 0) throw Error(fmt::format("diff: expected n >= 0, got {}", n));
  check_end("prepend", prepend, self, d);
  check_end("append", append, self, d);
  const auto axis = static_cast<int64_t>(d);
  Tensor out = self;
  if (prepend.defined()) out = cat({prepend, out}, axis);
  if (append.defined()) out = cat({out, append}, axis);
  if (n == 0) return out.is_same(self) ? clone(self) : out;
  const bool is_bool = out.dtype() == kBool;
  for (int64_t i = std::min(n, out.size(axis)); i > 0; --i) {
    const Tensor l = left(out, axis), r = right(out, axis);
    out = is_bool ? logical_xor(r, l) : r - l;
  }
  return out;
}

Tensor trapezoid(const Tensor& y, const Tensor& x, int64_t dim) {
  return trapezoid("trapezoid", y, x, dim);
}

Tensor trapezoid(const Tensor& y, const Scalar& dx, int64_t dim) {
  return trapezoid("trapezoid", y, dx, dim);
}

Tensor trapz(const Tensor& y, const Tensor& x, int64_t dim) {
  return trapezoid("trapz", y, x, dim);
}

Tensor trapz(const Tensor& y, double dx, int64_t dim) { return trapezoid("trapz", y, dx, dim); }

Tensor cumulative_trapezoid(const Tensor& y, const Tensor& x, int64_t dim) {
  const char* op = "cumulative_trapezoid";
  check_pair(op, y, x);
  const int64_t d = checked_dim(op, y, dim);
  return cumsum((left(y, d) + right(y, d)) * widths(op, y, x, d), d) / 2.;
}

Tensor cumulative_trapezoid(const Tensor& y, const Scalar& dx, int64_t dim) {
  const int64_t d = checked_dim("cumulative_trapezoid", y, dim);
  return cumsum((left(y, d) + right(y, d)) * (dx.to<double>() / 2), d);
}

}  // namespace ambit
