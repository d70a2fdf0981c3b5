// Sorting, and selection from a sorted dim: the k largest, the k-th, medians, the most frequent.
// All results except the values of sort and topk are gathered by indices, which gives their
// gradients.
#include <ambit/backend/kernels.h>
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

#include "core/ops/operands/allocate.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/unrecorded.h"
#include "order.h"

namespace ambit {
namespace {

// Record the gradient of values at distinct positions of each line of self.
Tensor record_picked(const char* op, Tensor values, const Tensor& self, const Tensor& indices,
                     int64_t dim) {
  return record(op, std::move(values),
                wrt(self, [i = saved(indices), dim, sizes = Dims(self.sizes())](const Tensor& g) {
                  return scatter(zeros(sizes, g.options()), dim, i(), g);
                }));
}

}  // namespace

Sorted sorted_along(const char* op, const Tensor& x, int64_t dim, bool descending) {
  const Tensor lines = at_least_1d(x);
  Sorted s{allocate(op, lines.sizes(), x.dtype(), x.device()),
           allocate(op, lines.sizes(), kInt64, x.device())};
  if (x.numel() > 0) kernels::sort(s.values, s.indices, lines, dim, descending);
  set_sizes(s.values, x.sizes());
  set_sizes(s.indices, x.sizes());
  return s;
}

std::tuple<Tensor, Tensor> sort(const Tensor& self, int64_t dim, bool descending) {
  expect_defined("sort", "self", self);
  dim = wrap_dim("sort", dim, self.dim());
  const Sorted s = sorted_along("sort", self, dim, descending);
  return {record_picked("sort", s.values, self, s.indices, dim), s.indices};
}

std::tuple<Tensor, Tensor> sort(const Tensor& self, std::optional<bool>, int64_t dim,
                                bool descending) {
  return sort(self, dim, descending);
}

Tensor argsort(const Tensor& self, int64_t dim, bool descending) {
  expect_defined("argsort", "self", self);
  return sorted_along("argsort", self, wrap_dim("argsort", dim, self.dim()), descending).indices;
}

Tensor msort(const Tensor& self) {
  expect_defined("msort", "self", self);
  const Sorted s = sorted_along("msort", self, 0);
  return record_picked("msort", s.values, self, s.indices, 0);
}

std::tuple<Tensor, Tensor> topk(const Tensor& self, int64_t k, int64_t dim, bool largest, bool) {
  expect_defined("topk", "self", self);
  dim = wrap_dim("topk", dim, self.dim());
  const int64_t length = self.dim() == 0 ? 1 : self.size(dim);
  if (k < 0 || k > length) {
    throw IndexError(fmt::format("topk: expected k in [0, {}], got {}", length, k));
  }
  Dims sizes(self.sizes());
  if (self.dim() > 0) sizes[static_cast<size_t>(dim)] = k;  // 0-dim remains 0-dim, k = 0 or 1
  Tensor values = allocate("topk", sizes, self.dtype(), self.device());
  Tensor indices = allocate("topk", sizes, kInt64, self.device());
  if (values.numel() > 0) {
    Tensor y = at_least_1d(values), index = at_least_1d(indices);
    kernels::topk(y, index, at_least_1d(self), dim, largest);
  }
  return {record_picked("topk", values, self, indices, dim), indices};
}

namespace {

/// Selects elements from each line of a tensor along a dim.
class Picker {
 public:
  /// Errors: IndexError for a dim out of range or of size 0.
  Picker(const char* op, const Tensor& self, int64_t dim, bool keepdim)
      : op_(op), keepdim_(keepdim), scalar_((expect_defined(op, "self", self), self.dim() == 0)) {
    dim_ = wrap_dim(op, dim, self.dim());
    x_ = scalar_ ? reshape(self, {1}) : self;
    if (length() == 0) {
      throw IndexError(
          fmt::format("{}: expected a dim with elements, got sizes {}", op, str(self.sizes())));
    }
  }
  const Tensor& x() const { return x_; }
  int64_t dim() const { return dim_; }
  int64_t length() const { return x_.size(dim_); }
  Sorted sorted() const { return sorted_along(op_, x_, dim_); }

  /// Return the elements at `index`, which has size 1 at dim, and their indices.
  std::tuple<Tensor, Tensor> pick(const Tensor& index) const {
    const Tensor values = gather(x_, dim_, index);
    if (keepdim_ && !scalar_) return {values, index};
    return {squeeze(values, dim_), squeeze(index, dim_)};
  }

 private:
  const char* op_;
  bool keepdim_, scalar_;
  int64_t dim_ = 0;
  Tensor x_;
};

// Return the positions of the medians in each sorted line, with size 1 at dim. NaN come last: the
// result is the first NaN, or with ignores_nan they are not counted.
Tensor median_places(const Picker& p, bool ignores_nan) {
  const TensorOptions options = TensorOptions(kInt64).device(p.x().device());
  const int64_t n = p.length(), dim = p.dim();
  Dims one(p.x().sizes());
  one[static_cast<size_t>(dim)] = 1;
  if (!p.x().is_floating_point()) return full(one, (n - 1) / 2, options);
  const Tensor numbers = n - sum(isnan(p.x()), {dim}, true);
  if (!ignores_nan) return masked_fill(numbers, numbers == n, (n - 1) / 2);
  return div(clamp(numbers - 1, 0), scalar_tensor(2, options), "floor");
}

std::tuple<Tensor, Tensor> median_along(const char* op, const Tensor& self, int64_t dim,
                                        bool keepdim, bool ignores_nan) {
  const Picker p(op, self, dim, keepdim);
  Tensor index;
  {
    const NoGradGuard no_grad;
    index = gather(p.sorted().indices, p.dim(), median_places(p, ignores_nan));
  }
  return p.pick(index);
}

Tensor median_of_all(const char* op, const Tensor& self, bool ignores_nan) {
  expect_defined(op, "self", self);
  Tensor value;
  if (self.numel() == 0) {
    expect_floating(op, self);
    value = full({}, std::numeric_limits<double>::quiet_NaN(), self.options());
  } else {
    const NoGradGuard no_grad;
    value = std::get<0>(median_along(op, reshape(self, {-1}), 0, false, ignores_nan)).clone();
  }
  return record(op, value, wrt(self, [x = saved(self), y = saved_output(value)](const Tensor& g) {
                  const Tensor taken = where(isnan(y()), isnan(x()), x() == y());
                  return taken * (g / sum(taken));
                }));
}

}  // namespace

std::tuple<Tensor, Tensor> kthvalue(const Tensor& self, int64_t k, int64_t dim, bool keepdim) {
  const Picker p("kthvalue", self, dim, keepdim);
  if (k < 1 || k > p.length()) {
    throw IndexError(fmt::format("kthvalue: expected k in [1, {}], got {}", p.length(), k));
  }
  return p.pick(clone(narrow(p.sorted().indices, p.dim(), k - 1, 1)));
}

Tensor median(const Tensor& self) { return median_of_all("median", self, false); }
Tensor nanmedian(const Tensor& self) { return median_of_all("nanmedian", self, true); }

std::tuple<Tensor, Tensor> median(const Tensor& self, int64_t dim, bool keepdim) {
  return median_along("median", self, dim, keepdim, false);
}
std::tuple<Tensor, Tensor> nanmedian(const Tensor& self, int64_t dim, bool keepdim) {
  return median_along("nanmedian", self, dim, keepdim, true);
}

std::tuple<Tensor, Tensor> mode(const Tensor& self, int64_t dim, bool keepdim) {
  const Picker p("mode", self, dim, keepdim);
  Tensor index;
  {
    const NoGradGuard no_grad;
    const Sorted s = p.sorted();
    const int64_t n = p.length(), d = p.dim();
    Dims along(p.x().sizes().size(), 1);
    along[static_cast<size_t>(d)] = n;
    const Tensor place = expand(
        reshape(arange(n, TensorOptions(kInt64).device(self.device())), along), p.x().sizes());
    // NaN counts as equal to NaN; they are sorted last.
    const Tensor nan = isnan(s.values);
    const Tensor differs =
        logical_and(narrow(s.values, d, 1, n - 1) != narrow(s.values, d, 0, n - 1),
                    logical_not(narrow(nan, d, 0, n - 1)));
    const Tensor begins = cat({ones_like(narrow(s.values, d, 0, 1), kBool), differs}, d);
    // For each element, count the equal elements before it: the maximum is at the last element of
    // the longest run.
    const Tensor first = std::get<0>(cummax(masked_fill(place, logical_not(begins), 0), d));
    const Tensor last = argmax(place - first, d, true);
    index = gather(s.indices, d, where(gather(nan, d, last), gather(first, d, last), last));
  }
  return p.pick(index);
}

}  // namespace ambit
