// Scatters of numbers, and scatters that reduce elements with the same index.
#include <ambit/backend/kernels.h>
#include <ambit/detail/by_float32.h>
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/complex.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>

#include <limits>

#include "core/ops/composite.h"
#include "core/ops/operands/allocate.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/operand_grad.h"
#include "core/ops/operands/scalar_operand.h"
#include "core/ops/operands/unrecorded.h"
#include "gather.h"
#include "operands.h"

namespace ambit {
namespace {

// Return the number as a source of index's shape.
Tensor number_at(const char* op, const Tensor& self, const Tensor& index, const Scalar& value) {
  check_fits(op, value, self.dtype());
  return scalar_on(value, self.dtype(), self.device(), index.sizes());
}

}  // namespace

Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  check_operands("scatter", {{"self", self}, {"index", index}});
  return scatter(self, dim, index, number_at("scatter", self, index, value));
}

const Tensor& scatter_(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  check_operands("scatter_", {{"self", self}, {"index", index}}, DeviceRule::in_place);
  return scatter_(self, dim, index, number_at("scatter_", self, index, value));
}

Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
               std::string_view reduce) {
  check_operands("scatter", {{"self", self}, {"index", index}, {"src", src}});
  const bool adds = one_of("scatter", reduce, {"add", "multiply"}) == 0;
  return adds ? scatter_add(self, dim, index, src) : scatter_reduce(self, dim, index, src, "prod");
}

Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value,
               std::string_view reduce) {
  check_operands("scatter", {{"self", self}, {"index", index}});
  return scatter(self, dim, index, number_at("scatter", self, index, value), reduce);
}

const Tensor& scatter_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                       std::string_view reduce) {
  check_operands("scatter_", {{"self", self}, {"index", index}, {"src", src}},
                 DeviceRule::in_place);
  const bool adds = one_of("scatter_", reduce, {"add", "multiply"}) == 0;
  return adds ? scatter_add_(self, dim, index, src)
              : scatter_reduce_(self, dim, index, src, "prod");
}

const Tensor& scatter_(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value,
                       std::string_view reduce) {
  check_operands("scatter_", {{"self", self}, {"index", index}}, DeviceRule::in_place);
  return scatter_(self, dim, index, number_at("scatter_", self, index, value), reduce);
}

namespace {

// --- Runs: after sorting, equal indices are adjacent along dim.

// Combine x[i] with all earlier elements of its run, in log2(n) steps (Hillis & Steele 1986). Each
// step doubles the number of elements that x[i] combines, limited to its run. Uses differentiable
// ops.
template <class Join>
Tensor joined_in_runs(Tensor x, const Tensor& index, int64_t dim, const Join& join) {
  const int64_t n = index.size(dim);
  for (int64_t step = 1; step < n; step *= 2) {
    const auto begin = [&](const Tensor& t) { return narrow(t, dim, 0, n - step); };
    const auto end = [&](const Tensor& t) { return narrow(t, dim, step, n - step); };
    const Tensor longer = where(begin(index) == end(index), join(begin(x), end(x)), end(x));
    x = cat({narrow(x, dim, 0, step), longer}, dim);
  }
  return x;
}

Tensor reversed(const Tensor& t, int64_t dim) { return flip(t, {dim}); }

Tensor product(const Tensor& a, const Tensor& b) { return a * b; }

// Return the product of all elements before x[i] in its run.
Tensor product_before(const Tensor& x, const Tensor& index, int64_t dim) {
  const int64_t n = index.size(dim);
  const Tensor up_to = joined_in_runs(x, index, dim, product);
  const Tensor same = narrow(index, dim, 0, n - 1) == narrow(index, dim, 1, n - 1);
  const Tensor before = where(same, narrow(up_to, dim, 0, n - 1), 1);
  return cat({ones_like(narrow(x, dim, 0, 1)), before}, dim);
}

// --- gradients of out = self reduced with the elements of src at each position

// For each position, the number of zero factors and of non-finite factors.
struct Counts {
  Counts(const Tensor& src, const Tensor& index, int64_t dim, const Tensor& first_zeros,
         const Tensor& first_wilds)
      : zeros(scatter_add(first_zeros, dim, index, (src == 0).to(kInt64))),
        wilds(scatter_add(first_wilds, dim, index, logical_not(isfinite(src)).to(kInt64))) {}
  Tensor zeros, wilds;  // int64
};

// True where the product of all factors of a position except src[j], including self's, is 0: one
// factor is 0 and all are finite. Computing the product could give NaN by overflow.
Tensor others_vanish(const Tensor& self, const Tensor& index, const Tensor& src, int64_t dim) {
  const NoGradGuard no_grad;
  const Counts counts(src, index, dim, (self == 0).to(kInt64),
                      logical_not(isfinite(self)).to(kInt64));
  return logical_and(gather(counts.zeros, dim, index) > (src == 0),
                     gather(counts.wilds, dim, index) == logical_not(isfinite(src)));
}

// True where the product of all elements of src at a position is 0, by the same rule.
Tensor src_vanishes(const Tensor& like, const Tensor& index, const Tensor& src, int64_t dim) {
  const NoGradGuard no_grad;
  const Tensor none = zeros_like(like, kInt64);
  const Counts counts(src, index, dim, none, none);
  return logical_and(counts.zeros > 0, counts.wilds == 0);
}

// Replace a NaN product whose exact value is 0; other values keep their gradient.
Tensor zero_for_nan(const Tensor& product, const Tensor& vanishes) {
  return masked_fill(product, logical_and(vanishes, isnan(product)), 0);
}

// Gradient of a product with respect to src[j]: the product of all other factors. They are
// multiplied, since division by src[j] fails at zeros.
Tensor prod_src_grad(const Tensor& g, const Tensor& self, const Tensor& index, const Tensor& src,
                     int64_t dim) {
  Tensor order;
  {
    const NoGradGuard no_grad;
    order = std::get<1>(index.sort(dim));
  }
  const Tensor at = gather(index, dim, order), x = gather(src, dim, order);
  const Tensor others = product_before(x, at, dim) *
                        reversed(product_before(reversed(x, dim), reversed(at, dim), dim), dim);
  const Tensor vanish = gather(others_vanish(self, index, src, dim), dim, order);
  const Tensor slope = zero_for_nan(gather(self, dim, at) * others, vanish);
  return scatter(zeros_like(src), dim, order, gather(g, dim, at) * conj(slope));
}

Tensor prod_self_grad(const Tensor& g, const Tensor& index, const Tensor& src, int64_t dim) {
  const Tensor product = scatter_reduce(ones_like(g), dim, index, src, "prod");
  return g * conj(zero_for_nan(product, src_vanishes(g, index, src, dim)));
}

Tensor same(const Tensor& a, const Tensor& b) {
  return logical_or(a == b, logical_and(isnan(a), isnan(b)));
}

// Gradient of an extreme: all elements that equal it get equal parts. Without include_self, an
// element of self gets no part if any element of src refers to it, even if the two are equal: self
// was replaced by the neutral element, which src may equal too.
struct Shares {
  Shares(const Tensor& g, const Tensor& out, const Tensor& self, const Tensor& index,
         const Tensor& src, int64_t dim, bool include_self) {
    of_self = same(self, out).to(g.dtype());
    if (!include_self) of_self = scatter(of_self, dim, index, 0);
    of_src = same(src, gather(out, dim, index)).to(g.dtype());
    each = g / scatter_add(of_self, dim, index, of_src);
  }
  Tensor of_self, of_src, each;
};

// self has at least 1 dim; src has index's shape.
Tensor reduced(const char* op, const Tensor& self, int64_t dim, const Tensor& index,
               const Tensor& src, ScatterOp reduce, bool include_self) {
  Tensor out = allocate(op, self.sizes(), self.dtype(), self.device());
  kernels::copy(out, self);
  if (index.numel() == 0) {
    return record(op, out, wrt(self, [](const Tensor& g) { return g; }),
                  wrt(src, [s = saved(src)](const Tensor&) { return zeros_like(s()); }));
  }
  kernels::scatter_reduce(out, index, src, dim, reduce);
  if (!needs_gradient(self, src)) return out;
  Saved i = saved(index), x = saved(self), s = saved(src);
  if (reduce == ScatterOp::prod) {
    const DType dtype = out.dtype();
    return record(
        op, out,
        wrt(self,
            [=](const Tensor& g) { return by_float32(dtype, prod_self_grad, g, i(), s(), dim); }),
        wrt(src, [=](const Tensor& g) {
          return by_float32(dtype, prod_src_grad, g, x(), i(), s(), dim);
        }));
  }
  Saved y = saved_output(out);
  return record(op, out,
                wrt(self,
                    [=](const Tensor& g) {
                      const Shares shares(g, y(), x(), i(), s(), dim, include_self);
                      return shares.of_self * shares.each;
                    }),
                wrt(src, [=](const Tensor& g) {
                  const Shares shares(g, y(), x(), i(), s(), dim, include_self);
                  return shares.of_src * gather(shares.each, dim, i());
                }));
}

enum class Reduce : uint8_t { sum, prod, mean, amax, amin };

// Return the neutral element of a reduction.
Scalar neutral(Reduce reduce, DType dtype) {
  if (reduce == Reduce::prod) return 1;
  if (reduce != Reduce::amax && reduce != Reduce::amin) return 0;
  const bool largest = reduce == Reduce::amax;
  return visit<dtypes::kEvery>(dtype, [&]<class T>() -> Scalar {
    using Limits = std::numeric_limits<T>;
    constexpr auto kMost = Limits::has_infinity ? Limits::infinity() : Limits::max();
    constexpr auto kLeast = Limits::has_infinity ? static_cast<T>(-kMost) : Limits::lowest();
    return largest ? kLeast : kMost;
  });
}

Tensor mean_at(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
               bool include_self) {
  Tensor count;
  {
    const NoGradGuard no_grad;
    const DType dtype = real_dtype(self.dtype());
    const Tensor first = include_self ? ones_like(self, dtype) : zeros_like(self, dtype);
    const Tensor one = scalar_on(1, dtype, self.device(), index.sizes());
    count = clamp(scatter_add(first, dim, index, one), 1);
  }
  const Tensor sum = scatter_add(self, dim, index, src);
  if (is_differentiable(self.dtype())) return sum / count;
  return div(sum, count, "floor").to(self.dtype());  // for bool, count is an integer
}

// All operands are checked and have at least 1 dim.
Tensor scatter_reduced(const char* op, const Tensor& self, int64_t dim, const Tensor& index,
                       const Tensor& src, Reduce reduce, bool include_self) {
  if (reduce == Reduce::amax || reduce == Reduce::amin) expect_real(op, self);
  const Tensor start = include_self || index.numel() == 0
                           ? self
                           : scatter(self, dim, index,
                                     scalar_on(neutral(reduce, self.dtype()), self.dtype(),
                                               self.device(), index.sizes()));
  switch (reduce) {
    case Reduce::sum:
      return scatter_add(start, dim, index, src);
    case Reduce::mean:
      return mean_at(start, dim, index, src, include_self);
    case Reduce::prod:
      return reduced(op, start, dim, index, src, ScatterOp::prod, include_self);
    case Reduce::amax:
      return reduced(op, start, dim, index, src, ScatterOp::max, include_self);
    case Reduce::amin:
      return reduced(op, start, dim, index, src, ScatterOp::min, include_self);
  }
  return start;
}

Tensor as_line(const Tensor& t) { return t.dim() == 0 ? reshape(t, {1}) : t; }

Tensor checked_scatter_reduce(const char* op, const Tensor& self, int64_t dim, const Tensor& given,
                              const Tensor& src, std::string_view reduce, bool include_self,
                              DeviceRule rule) {
  check_operands(op, {{"self", self}, {"index", given}, {"src", src}}, rule);
  const Tensor index = as_int64(given);
  const auto kind =
      static_cast<Reduce>(one_of(op, reduce, {"sum", "prod", "mean", "amax", "amin"}));
  const int64_t d = check_scatter(op, self, dim, index, src, rule);
  const Tensor part = index.numel() == 0 ? src : covered(src, index);
  const Tensor out =
      scatter_reduced(op, as_line(self), d, as_line(index), as_line(part), kind, include_self);
  return self.dim() == 0 ? reshape(out, {}) : out;
}

}  // namespace

Tensor scatter_reduce(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                      std::string_view reduce, bool include_self) {
  return checked_scatter_reduce("scatter_reduce", self, dim, index, src, reduce, include_self,
                                DeviceRule::strict);
}

const Tensor& scatter_reduce_(const Tensor& self, int64_t dim, const Tensor& index,
                              const Tensor& src, std::string_view reduce, bool include_self) {
  constexpr const char* kOp = "scatter_reduce_";
  check_operands(kOp, {{"self", self}, {"index", index}, {"src", src}}, DeviceRule::in_place);
  check_in_place(kOp, self);
  check_apart(kOp, self, index);
  check_apart(kOp, self, src);
  // Saved for the gradient, since self is overwritten.
  const Tensor before = needs_gradient(self, src) ? clone(self) : self;
  self.copy_(checked_scatter_reduce(kOp, before, dim, index, src, reduce, include_self,
                                    DeviceRule::in_place));
  return self;
}

// After sorting by index, elements of one position are adjacent: the run's total is propagated back
// to all of its elements, so that it does not matter which of them is written.
void composite::scatter_reduce(Tensor& y, const Tensor& index, const Tensor& src, int64_t dim,
                               const ScatterOp& op) {
  if (index.numel() == 0) return;
  const auto join = [op](const Tensor& a, const Tensor& b) {
    return op == ScatterOp::prod ? mul(a, b) : op == ScatterOp::max ? maximum(a, b) : minimum(a, b);
  };
  const Tensor lines = at_least_1d(index);
  Tensor at = empty_like(lines), order = empty_like(lines);
  kernels::sort(at, order, lines, dim, false);
  const Tensor x = gather(at_least_1d(src), dim, order);
  Tensor total = joined_in_runs(x, at, dim, join);
  const auto later = [](const Tensor& a, const Tensor&) { return a; };
  total = reversed(joined_in_runs(reversed(total, dim), reversed(at, dim), dim, later), dim);
  Tensor out = at_least_1d(y);
  kernels::scatter(out, at, join(gather(out, dim, at), total), dim);
}

}  // namespace ambit
