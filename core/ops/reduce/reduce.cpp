// sum, mean, prod, any and all.
#include <ambit/ops/reduce.h>

#include <ambit/backend/kernels.h>
#include <ambit/detail/autocast.h>
#include <ambit/detail/by_float32.h>
#include <ambit/detail/record.h>
#include <ambit/ops/complex.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/shape.h>

#include "core/ops/operands/broadcast.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/operand_grad.h"
#include "core/ops/operands/unrecorded.h"
#include "reduce_shape.h"

namespace ambit {
namespace {

// Integers and bool are summed in int64, as in libtorch.
DType sum_dtype(const Tensor& self) {
  return is_differentiable(self.dtype()) ? self.dtype() : kInt64;
}

// True if self must be converted first; kernels convert integers to int64 themselves.
bool converts(const Tensor& self, DType to) {
  return to != self.dtype() && !(to == kInt64 && !is_differentiable(self.dtype()));
}

}  // namespace

Tensor sum(const Tensor& self, std::optional<DType> dtype) { return sum(self, {}, false, dtype); }

Tensor sum(const Tensor& self, IntArrayRef dims, bool keepdim, std::optional<DType> dtype) {
  AMBIT_AUTOCAST(sum, self, dims, keepdim, dtype)
  expect_defined("sum", "self", self);
  const DType to_dtype = dtype.value_or(sum_dtype(self));
  if (converts(self, to_dtype)) return sum(self.to(to_dtype), dims, keepdim, to_dtype);
  ReduceShape shape("sum", self.sizes(), dims, keepdim);
  // A sum as bool is any().
  const ReduceOp op = to_dtype == kBool ? ReduceOp::any : ReduceOp::sum;
  Tensor out = run_reduce(self, shape, op, to_dtype);
  return record("sum", std::move(out),
                wrt(self, [kept = std::move(shape.kept), sizes = Dims(self.sizes())](
                              const Tensor& g) { return spread(g, kept, sizes); }));
}

Tensor mean(const Tensor& self, std::optional<DType> dtype) { return mean(self, {}, false, dtype); }

Tensor mean(const Tensor& self, IntArrayRef dims, bool keepdim, std::optional<DType> dtype) {
  if (dtype && self.defined() && *dtype != self.dtype()) {
    return mean(self.to(*dtype), dims, keepdim);
  }
  expect_defined("mean", "self", self);
  if (!self.is_complex()) expect_floating("mean", self);
  ReduceShape shape("mean", self.sizes(), dims, keepdim);
  const auto n = static_cast<double>(shape.count);
  Tensor out = run_reduce(self, shape, ReduceOp::mean, self.dtype());
  return record("mean", std::move(out),
                wrt(self, [kept = std::move(shape.kept), sizes = Dims(self.sizes()),
                           n](const Tensor& g) { return spread(g / n, kept, sizes); }));
}

Tensor nansum(const Tensor& self, IntArrayRef dims, bool keepdim, std::optional<DType> dtype) {
  expect_defined("nansum", "self", self);
  expect_real("nansum", self);
  if (!self.is_floating_point()) return sum(self, dims, keepdim, dtype);
  const DType to_dtype = dtype.value_or(self.dtype());
  if (to_dtype != self.dtype()) return nansum(self.to(to_dtype), dims, keepdim, to_dtype);
  ReduceShape shape("nansum", self.sizes(), dims, keepdim);
  Tensor out = run_reduce(self, shape, ReduceOp::nansum, to_dtype);
  return record("nansum", std::move(out),
                wrt(self, [x = saved(self), kept = std::move(shape.kept)](const Tensor& g) {
                  return masked_fill(spread(g, kept, x().sizes()), isnan(x()), 0);
                }));
}

Tensor nanmean(const Tensor& self, IntArrayRef dims, bool keepdim, std::optional<DType> dtype) {
  expect_floating("nanmean", self);
  const Tensor sums = nansum(self, dims, keepdim, dtype);
  return sums / sum(logical_not(isnan(self)), dims, keepdim);
}

Tensor count_nonzero(const Tensor& self, IntArrayRef dims) {
  expect_defined("count_nonzero", "self", self);
  const NoGradGuard no_grad;
  const ReduceShape shape("count_nonzero", self.sizes(), dims, false);
  return run_reduce(ne(self, 0), shape, ReduceOp::sum, kInt64);
}
Tensor count_nonzero(const Tensor& self, std::optional<int64_t> dim) {
  return count_nonzero(self, dim ? IntArrayRef(&*dim, 1) : IntArrayRef());
}

Tensor sum_to_size(const Tensor& self, IntArrayRef sizes) {
  expect_defined("sum_to_size", "self", self);
  check_broadcasts_to("sum_to_size", sizes, self.sizes());
  return sum_to(self, sizes);
}

namespace {

// A product of dtype bool is computed as all().
Tensor run_prod(const Tensor& x, const ReduceShape& shape, DType dtype) {
  return run_reduce(x, shape, dtype == kBool ? ReduceOp::all : ReduceOp::prod, dtype);
}

// y[i] = product of x[j] over j < i along dim, or over j > i if reverse.
Tensor scan_others(const Tensor& x, int64_t dim, bool reverse) {
  Tensor y = empty(x.sizes(), x.options());
  kernels::scan(y, x, {.dim = dim, .reverse = reverse, .exclusive = true}, ScanOp::prod);
  return y;
}

// As above over j < i, composed of differentiable ops in log2(n) steps (Hillis & Steele 1986).
Tensor product_before(const Tensor& x, int64_t dim) {
  const int64_t n = x.size(dim);
  Tensor y = cat({ones_like(narrow(x, dim, 0, 1)), narrow(x, dim, 0, n - 1)}, dim);
  for (int64_t step = 1; step < n; step *= 2) {
    const Tensor longer = narrow(y, dim, step, n - step) * narrow(y, dim, 0, n - step);
    y = cat({narrow(y, dim, 0, step), longer}, dim);
  }
  return y;
}

// True where the product of all factors except x[i] is 0: one of them is 0 and all of them are
// finite. Computing the product could give NaN by overflow.
Tensor others_vanish(const Tensor& x, int64_t dim) {
  const NoGradGuard no_grad;
  const Tensor zero = x == 0, wild = logical_not(isfinite(x));
  const Tensor zeros = sum(zero, {dim}, true), wilds = sum(wild, {dim}, true);
  return logical_and(logical_or(zeros > 1, logical_and(zeros == 1, logical_not(zero))),
                     logical_or(wilds == 0, logical_and(wilds == 1, wild)));
}

// The derivative of a product with respect to x[i] is the product of all other elements. Dividing
// the whole product by x[i] fails at zeros; products from both sides do not, and are
// differentiable.
Tensor prod_grad(const Tensor& g, const Tensor& x, int64_t given) {
  const int64_t dim = wrap_dim("prod", given, x.dim());
  if (x.size(dim) == 0) return g * x;
  if (!GradMode::is_enabled()) {
    const Tensor others = scan_others(x, dim, false).mul_(scan_others(x, dim, true));
    // NaN are rare, so check for them; on other devices the check would block.
    const bool has_none = x.is_cpu() && !any(isnan(others)).item<bool>();
    if (!has_none) others.masked_fill_(others_vanish(x, dim), 0);
    return others.mul_(g);
  }
  const Tensor others = product_before(x, dim) * flip(product_before(flip(x, {dim}), dim), {dim});
  // Replace only NaN, so that other zeros keep their gradients.
  return g * masked_fill(others, logical_and(others_vanish(x, dim), isnan(others)), 0);
}

}  // namespace

Tensor prod(const Tensor& self, std::optional<DType> dtype) {
  AMBIT_AUTOCAST(prod, self, dtype)
  expect_defined("prod", "self", self);
  const DType to_dtype = dtype.value_or(sum_dtype(self));
  if (converts(self, to_dtype)) return prod(self.to(to_dtype), to_dtype);
  const ReduceShape shape("prod", self.sizes(), {}, false);
  Tensor out = run_prod(self, shape, to_dtype);
  return record("prod", std::move(out), wrt(self, [x = saved(self)](const Tensor& g) {
                  const Tensor all = reshape(conj(x()), {x().numel()});
                  return reshape(by_float32(g.dtype(), prod_grad, g, all, 0), x().sizes());
                }));
}

Tensor prod(const Tensor& self, int64_t dim, bool keepdim, std::optional<DType> dtype) {
  AMBIT_AUTOCAST(prod, self, dim, keepdim, dtype)
  expect_defined("prod", "self", self);
  const DType to_dtype = dtype.value_or(sum_dtype(self));
  if (converts(self, to_dtype)) return prod(self.to(to_dtype), dim, keepdim, to_dtype);
  ReduceShape shape("prod", self.sizes(), {dim}, keepdim);
  if (self.dim() == 0) return prod(self, to_dtype);
  Tensor out = run_prod(self, shape, to_dtype);
  return record("prod", std::move(out),
                wrt(self, [x = saved(self), kept = std::move(shape.kept), dim](const Tensor& g) {
                  return by_float32(g.dtype(), prod_grad, with_kept_dims(g, kept), conj(x()), dim);
                }));
}

namespace {

// As in libtorch, the result for uint8 (once the dtype of masks) is uint8.
Tensor reduce_to_bool(const Tensor& self, const ReduceShape& shape, ReduceOp op) {
  const Tensor out = run_reduce(self, shape, op, kBool);
  return self.dtype() == kUInt8 ? out.to(kUInt8) : out;
}

}  // namespace

namespace {

Tensor truth_over(const char* op, const Tensor& self, OptionalIntArrayRef dims, bool keepdim,
                  ReduceOp reduce) {
  expect_defined(op, "self", self);
  const IntArrayRef list = dims.value_or(IntArrayRef());
  if (!dims || !list.empty())
    return reduce_to_bool(self, {op, self.sizes(), list, keepdim}, reduce);
  const Tensor out = ne(self, 0);
  return self.dtype() == kUInt8 ? out.to(kUInt8) : out;
}

}  // namespace

Tensor any(const Tensor& self, OptionalIntArrayRef dims, bool keepdim) {
  return truth_over("any", self, dims, keepdim, ReduceOp::any);
}

Tensor all(const Tensor& self, OptionalIntArrayRef dims, bool keepdim) {
  return truth_over("all", self, dims, keepdim, ReduceOp::all);
}

Tensor any(const Tensor& self) {
  expect_defined("any", "self", self);
  return reduce_to_bool(self, {"any", self.sizes(), {}, false}, ReduceOp::any);
}

Tensor any(const Tensor& self, int64_t dim, bool keepdim) {
  expect_defined("any", "self", self);
  return reduce_to_bool(self, {"any", self.sizes(), {dim}, keepdim}, ReduceOp::any);
}

Tensor all(const Tensor& self) {
  expect_defined("all", "self", self);
  return reduce_to_bool(self, {"all", self.sizes(), {}, false}, ReduceOp::all);
}

Tensor all(const Tensor& self, int64_t dim, bool keepdim) {
  expect_defined("all", "self", self);
  return reduce_to_bool(self, {"all", self.sizes(), {dim}, keepdim}, ReduceOp::all);
}

}  // namespace ambit
