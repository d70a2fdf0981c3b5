// Distinct elements and slices: found where consecutive elements of a sorted sequence differ.
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/scan.h>
#include <ambit/ops/shape.h>
#include <ambit/ops/sort.h>
#include <fmt/format.h>

#include "core/ops/index/operands.h"
#include "core/ops/operands/expect.h"
#include "order.h"

namespace ambit {
namespace {

void check_unique(const char* op, const Tensor& self) {
  expect_defined(op, "self", self);
  check_has_data(op, self);
}

Tensor int64_on(const Tensor& like, IntArrayRef sizes) {
  return empty(sizes, TensorOptions(kInt64).device(like.device()));
}

/// The runs of equal elements in a sequence of n.
struct Runs {
  /// begins [n]: true at the start of each run.
  explicit Runs(const Tensor& begins)
      : starts(reshape(nonzero(begins), {-1})), of_each(cumsum(begins, 0) - 1) {}
  Tensor counts() const {
    const int64_t n = of_each.numel();
    if (n == 0) return int64_on(starts, {0});
    const Tensor end = full({1}, n, starts.options());
    return cat({narrow(starts, 0, 1, starts.numel() - 1), end}, 0) - starts;
  }

  Tensor starts;   // int64: the first position of each run
  Tensor of_each;  // int64 [n]: the run of each element
};

// Return a mask of the rows of x [n, ...] that start a run: the first, and those that differ from
// the previous one.
Tensor begins_of(const Tensor& x) {
  const int64_t n = x.size(0);
  if (n == 0) return ones({0}, TensorOptions(kBool).device(x.device()));
  const Tensor rows = reshape(x, {n, n > 0 ? x.numel() / n : 1});
  const Tensor differs = any(narrow(rows, 0, 1, n - 1) != narrow(rows, 0, 0, n - 1), 1);
  return cat({ones({1}, differs.options()), differs}, 0);
}

// Invert x[order] = sorted: return the run of each element of x.
Tensor inverse_of(const Tensor& order, const Tensor& of_each) {
  return scatter(zeros_like(of_each), 0, order, of_each);
}

// Return the lexicographic order of the rows of x [n, m]: sort by each column, the first one last.
Tensor lexicographic(const Tensor& x) {
  Tensor order = arange(x.size(0), TensorOptions(kInt64).device(x.device()));
  for (int64_t column = x.size(1); column-- > 0;) {
    const Tensor keys = index_select(select(x, 1, column), 0, order);
    order = index_select(order, 0, sorted_along("unique_dim", keys, 0).indices);
  }
  return order;
}

// Move dim to the front and merge all others: [size of dim, the rest].
Tensor slices(const char* op, const Tensor& self, int64_t dim) {
  const int64_t n = self.size(dim);
  if (n > 0 && self.numel() == 0) {
    throw ShapeError(
        fmt::format("{}: expected slices with elements, got sizes {}", op, str(self.sizes())));
  }
  return reshape(movedim(self, dim, 0), {n, n > 0 ? self.numel() / n : 0});
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> _unique2(const Tensor& self, bool, bool return_inverse,
                                            bool return_counts) {
  check_unique("_unique2", self);
  const NoGradGuard no_grad;
  const Sorted s = sorted_along("_unique2", reshape(self, {-1}), 0);
  const Runs runs(begins_of(s.values));
  return {index_select(s.values, 0, runs.starts),
          return_inverse ? reshape(inverse_of(s.indices, runs.of_each), self.sizes())
                         : int64_on(self, {0}),
          return_counts ? runs.counts() : int64_on(self, {0})};
}

std::tuple<Tensor, Tensor> _unique(const Tensor& self, bool sorted, bool return_inverse) {
  auto [values, inverse, counts] = _unique2(self, sorted, return_inverse);
  return {values, inverse};
}

std::tuple<Tensor, Tensor, Tensor> unique_dim(const Tensor& self, int64_t dim, bool, bool, bool) {
  check_unique("unique_dim", self);
  const NoGradGuard no_grad;
  dim = wrap_dim("unique_dim", dim, self.dim());
  const Tensor whole = self.dim() == 0 ? reshape(self, {1}) : self;
  const Tensor rows = slices("unique_dim", whole, dim);
  const Tensor order = lexicographic(rows);
  const Runs runs(begins_of(index_select(rows, 0, order)));
  return {index_select(whole, dim, index_select(order, 0, runs.starts)),
          inverse_of(order, runs.of_each), runs.counts()};
}

std::tuple<Tensor, Tensor, Tensor> unique_consecutive(const Tensor& self, bool return_inverse,
                                                      bool return_counts,
                                                      std::optional<int64_t> dim) {
  check_unique("unique_consecutive", self);
  if (dim) return unique_dim_consecutive(self, *dim, return_inverse, return_counts);
  const NoGradGuard no_grad;
  const Tensor x = reshape(self, {-1});
  const Runs runs(begins_of(x));
  return {index_select(x, 0, runs.starts),
          return_inverse ? reshape(runs.of_each, self.sizes()) : int64_on(self, {0}),
          return_counts ? runs.counts() : int64_on(self, {0})};
}

std::tuple<Tensor, Tensor, Tensor> unique_dim_consecutive(const Tensor& self, int64_t dim, bool,
                                                          bool) {
  check_unique("unique_dim_consecutive", self);
  const NoGradGuard no_grad;
  dim = wrap_dim("unique_dim_consecutive", dim, self.dim());
  const Tensor whole = self.dim() == 0 ? reshape(self, {1}) : self;
  const Runs runs(begins_of(slices("unique_dim_consecutive", whole, dim)));
  return {index_select(whole, dim, runs.starts), runs.of_each, runs.counts()};
}

}  // namespace ambit
