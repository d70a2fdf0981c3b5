// Cumulative sums, products, logarithms of sums, and extremes along one dim.
#include <ambit/ops/scan.h>

#include <ambit/backend/kernels.h>
#include <ambit/detail/autocast.h>
#include <ambit/detail/by_float32.h>
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/complex.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <limits>

#include "core/ops/composite.h"
#include "core/ops/operands/allocate.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/operand_grad.h"
#include "core/ops/operands/unrecorded.h"

namespace ambit {
namespace {

// Integers and bool are summed in int64, as in libtorch.
DType scan_dtype(const char* op, const Tensor& self, std::optional<DType> dtype) {
  if (dtype == kBool) throw DTypeError(fmt::format("{}: expected numbers, got bool", op));
  return dtype.value_or(is_differentiable(self.dtype()) ? self.dtype() : kInt64);
}

Tensor run_scan(const char* op, const Tensor& self, const ScanParams& p, ScanOp scan) {
  const Tensor x = at_least_1d(self);
  Tensor out = allocate(op, x.sizes(), x.dtype(), x.device());
  kernels::scan(out, x, p, scan);
  set_sizes(out, self.sizes());
  return out;
}

// The gradient of a cumulative sum is a cumulative sum in the other direction.
Tensor running_sum(const Tensor& x, const ScanParams& p) {
  Tensor out = run_scan("cumsum", x, p, ScanOp::sum);
  return record("cumsum", std::move(out), wrt(x, [p](const Tensor& g) {
                  return running_sum(g, {.dim = p.dim, .reverse = !p.reverse});
                }));
}

// a * b, but 0 where one is 0 and the other has overflowed to infinity.
Tensor finite_product(const Tensor& a, const Tensor& b) {
  const Tensor is_zero = logical_or(logical_and(a == 0, isinf(b)), logical_and(isinf(a), b == 0));
  return masked_fill(a * b, is_zero, 0);
}

// r[i] = g[i] + m[i] r[i + 1] along dim, in log2(n) steps of differentiable ops. The last m has no
// effect.
Tensor weighted_suffix_sum(const Tensor& g, const Tensor& m, int64_t dim) {
  const int64_t n = g.size(dim);
  Tensor sum = g,
         weight = m;  // sums of `step` elements; factors of the sums after them
  for (int64_t step = 1; step < n; step *= 2) {
    const auto begin = [&](const Tensor& t) { return narrow(t, dim, 0, n - step); };
    const auto end = [&](const Tensor& t) { return narrow(t, dim, step, n - step); };
    const auto rest = [&](const Tensor& t) { return narrow(t, dim, n - step, step); };
    sum = cat({begin(sum) + finite_product(begin(weight), end(sum)), rest(sum)}, dim);
    weight = cat({finite_product(begin(weight), end(weight)), rest(weight)}, dim);
  }
  return sum;
}

// Shift x by one element along dim, with `edge` in the freed position.
Tensor next_along(const Tensor& x, int64_t dim, const Scalar& edge) {
  const int64_t n = x.size(dim);
  return cat({narrow(x, dim, 1, n - 1), full_like(narrow(x, dim, 0, 1), edge)}, dim);
}
Tensor previous_along(const Tensor& x, int64_t dim, const Scalar& edge) {
  const int64_t n = x.size(dim);
  return cat({full_like(narrow(x, dim, 0, 1), edge), narrow(x, dim, 0, n - 1)}, dim);
}

// The gradient of x[i] is the product before i times r[i], with r[i] = g[i] + x[i + 1] r[i + 1]: no
// division, which would fail at zeros.
Tensor cumprod_grad(const Tensor& g, const Tensor& x, int64_t dim) {
  if (g.numel() == 0) return g;
  if (g.dim() == 0) return g;
  const Tensor before = previous_along(cumprod(x, dim), dim, 1);
  return finite_product(before, weighted_suffix_sum(g, next_along(x, dim, 1), dim));
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The gradient of x[i] is the sum of g[k] e^(x[i] - y[k]) over k >= i, which is e^(x[i] - y[i])
// r[i] with r[i] = g[i] + e^(y[i] - y[i + 1]) r[i + 1]: no exponent is above 0.
Tensor logcumsumexp_grad(const Tensor& g, const Tensor& x, int64_t dim) {
  if (g.numel() == 0) return g;
  if (g.dim() == 0) return g;
  const Tensor y = logcumsumexp(x, dim);
  // An infinite y does not depend on finite elements; the ratio of two infinities is taken as the
  // limit, 1.
  const auto ratio = [](const Tensor& part, const Tensor& whole) {
    const Tensor both = logical_and(part == kInfinity, whole == kInfinity);
    return exp(masked_fill(part - masked_fill(whole, whole == -kInfinity, 0), both, 0));
  };
  const Tensor decay = ratio(y, next_along(y, dim, 0));
  return ratio(x, y) * weighted_suffix_sum(g, decay, dim);
}

// Scan in place, in self's dtype: copy the result of `scan` to self, so that the gradient is that
// of `scan` and of the copy.
const Tensor& in_place(const char* op, const Tensor& self, std::optional<DType> dtype,
                       Tensor (*scan)(const Tensor&, int64_t, std::optional<DType>), int64_t dim) {
  expect_defined(op, "self", self);
  if (dtype && *dtype != self.dtype()) {
    throw DTypeError(
        fmt::format("{}: expected self's dtype {}, got {}", op, name(self.dtype()), name(*dtype)));
  }
  wrap_dim(op, dim, self.dim());
  scan_dtype(op, self, self.dtype());
  check_in_place(op, self);
  // Saved for the gradient, since self is overwritten.
  self.copy_(scan(needs_gradient(self) ? clone(self) : self, dim, self.dtype()));
  return self;
}

}  // namespace

Tensor cumsum(const Tensor& self, int64_t dim, std::optional<DType> dtype) {
  AMBIT_AUTOCAST(cumsum, self, dim, dtype)
  expect_defined("cumsum", "self", self);
  dim = wrap_dim("cumsum", dim, self.dim());
  const DType to_dtype = scan_dtype("cumsum", self, dtype);
  if (to_dtype != self.dtype()) return cumsum(self.to(to_dtype), dim, to_dtype);
  return running_sum(self, {.dim = dim});
}

const Tensor& cumsum_(const Tensor& self, int64_t dim, std::optional<DType> dtype) {
  return in_place("cumsum_", self, dtype, cumsum, dim);
}

Tensor cumprod(const Tensor& self, int64_t dim, std::optional<DType> dtype) {
  AMBIT_AUTOCAST(cumprod, self, dim, dtype)
  expect_defined("cumprod", "self", self);
  dim = wrap_dim("cumprod", dim, self.dim());
  const DType to_dtype = scan_dtype("cumprod", self, dtype);
  if (to_dtype != self.dtype()) return cumprod(self.to(to_dtype), dim, to_dtype);
  Tensor out = run_scan("cumprod", self, {.dim = dim}, ScanOp::prod);
  return record("cumprod", std::move(out), wrt(self, [x = saved(self), dim](const Tensor& g) {
                  return by_float32(g.dtype(), cumprod_grad, g, conj(x()), dim);
                }));
}

const Tensor& cumprod_(const Tensor& self, int64_t dim, std::optional<DType> dtype) {
  return in_place("cumprod_", self, dtype, cumprod, dim);
}

namespace {

// In log2(n) steps, each with a gradient.
Tensor complex_logcumsumexp(Tensor x, int64_t dim) {
  if (x.dim() == 0) return clone(x);
  const int64_t n = x.size(dim);
  const auto part = [&](int64_t start, int64_t length) { return narrow(x, dim, start, length); };
  for (int64_t step = 1; step < n; step *= 2) {
    x = cat({part(0, step), logaddexp(part(step, n - step), part(0, n - step))}, dim);
  }
  return n > 1 ? x : clone(x);
}

}  // namespace

Tensor logcumsumexp(const Tensor& self, int64_t dim) {
  expect_inexact("logcumsumexp", self);
  dim = wrap_dim("logcumsumexp", dim, self.dim());
  if (self.is_complex()) return complex_logcumsumexp(self, dim);
  Tensor out = run_scan("logcumsumexp", self, {.dim = dim}, ScanOp::logsumexp);
  return record("logcumsumexp", std::move(out), wrt(self, [x = saved(self), dim](const Tensor& g) {
                  return logcumsumexp_grad(g, x(), dim);
                }));
}

namespace {

std::tuple<Tensor, Tensor> cum_extremum(const char* op, const Tensor& self, int64_t dim,
                                        bool largest) {
  expect_defined(op, "self", self);
  dim = wrap_dim(op, dim, self.dim());
  const Tensor x = at_least_1d(self);
  Tensor values = allocate(op, x.sizes(), x.dtype(), x.device());
  Tensor indices = allocate(op, x.sizes(), kInt64, x.device());
  kernels::cum_extremum(values, indices, x, dim, largest);
  set_sizes(values, self.sizes());
  set_sizes(indices, self.sizes());
  values = record(op, std::move(values), wrt(self, [i = saved(indices), dim](const Tensor& g) {
                    return scatter_add(zeros_like(g), dim, i(), g);
                  }));
  return {values, indices};
}

}  // namespace

std::tuple<Tensor, Tensor> cummax(const Tensor& self, int64_t dim) {
  return cum_extremum("cummax", self, dim, true);
}

std::tuple<Tensor, Tensor> cummin(const Tensor& self, int64_t dim) {
  return cum_extremum("cummin", self, dim, false);
}

// Recursive doubling (Hillis & Steele 1986): each step doubles the number of elements that values
// and indices cover.
void composite::cum_extremum(Tensor& y, Tensor& index, const Tensor& x, int64_t dim, bool largest) {
  Tensor value = clone(at_least_1d(x));
  if (value.numel() == 0) return;
  const int64_t n = value.size(dim);
  Dims along(value.sizes().size(), 1);
  along[static_cast<size_t>(dim)] = n;
  Tensor place =
      expand(reshape(arange(n, TensorOptions(kInt64).device(x.device())), along), value.sizes());
  for (int64_t step = 1; step < n; step *= 2) {
    const auto begin = [&](const Tensor& t) { return narrow(t, dim, 0, n - step); };
    const auto end = [&](const Tensor& t) { return narrow(t, dim, step, n - step); };
    const Tensor before = begin(value), own = end(value);
    const Tensor as_good = largest ? own >= before : own <= before;
    const Tensor wins = logical_or(isnan(own), logical_and(logical_not(isnan(before)), as_good));
    value = cat({narrow(value, dim, 0, step), where(wins, own, before)}, dim);
    place = cat({narrow(place, dim, 0, step), where(wins, end(place), begin(place))}, dim);
  }
  kernels::copy(y, x.dim() == 0 ? reshape(value, {}) : value);
  kernels::copy(index, x.dim() == 0 ? reshape(place, {}) : place);
}

}  // namespace ambit
