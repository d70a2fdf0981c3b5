// Counting of numbers and points between edges: histogram and histogramdd.
#include <ambit/autograd.h>
#include <ambit/backend/op.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/samples.h>
#include <ambit/ops/shape.h>
#include <ambit/ops/sort.h>
#include <fmt/format.h>

#include <cmath>

#include "core/ops/index/operands.h"
#include "core/ops/operands/allocate.h"
#include "core/ops/operands/expect.h"

namespace ambit {
namespace {

using Range = std::optional<ArrayRef<double>>;

// sizes: one weight for each number or point.
void check_counted(const char* op, const Tensor& self, const Tensor& weight, IntArrayRef sizes) {
  expect_dtype_if_given(op, "weight", weight, self.dtype());
  expect_sizes(op, "weight", weight, sizes);
  check_has_data(op, self);
}

void check_edges(const char* op, const Tensor& edges, DType dtype) {
  expect_dtype(op, "bins", edges, dtype);
  if (edges.dim() != 1) throw_dim(op, "bins", "[bins + 1]", edges.sizes());
  if (edges.size(0) < 2) {
    throw Error(fmt::format("{}: expected 2 edges or more, got {}", op, edges.size(0)));
  }
}

// Return the edges that divide a range, by default x's range, into equal bins.
Tensor equal_parts(const char* op, const Tensor& x, int64_t bins, const Range& range) {
  if (bins < 1) throw Error(fmt::format("{}: expected bins > 0, got {}", op, bins));
  allocate(op, {bins}, x.dtype(), kMeta);  // throws if too large
  double low = 0, high = 1;
  if (range) {
    low = (*range)[0];
    high = (*range)[1];
  } else if (x.numel() > 0) {
    low = min(x).item<double>();
    high = max(x).item<double>();
  }
  if (!std::isfinite(low) || !std::isfinite(high) || low > high) {
    throw Error(
        fmt::format("{}: expected a finite range, its minimum first, got [{}, {}]", op, low, high));
  }
  if (low == high) {
    low -= 0.5;
    high += 0.5;
  }
  return linspace(low, high, bins + 1, x.options());
}

void check_range(const char* op, const Range& range, size_t numbers) {
  if (!range || range->size() == numbers) return;
  throw Error(
      fmt::format("{}: expected a range of {} numbers, got {}", op, numbers, range->size()));
}

// Count points between sorted edges, edges[d] [bins_d + 1]; x[d] [P] is the d-th coordinate of the
// points: [bins_0, bins_1, ...].
Tensor counts_between(TensorList x, TensorList edges, const Tensor& weight, bool density) {
  Tensor place, inside;  // [P]: row-major position in the grid
  Dims sizes;
  for (size_t d = 0; d < x.size(); ++d) {
    const int64_t bins = edges[d].size(0) - 1;
    const Tensor values = x[d].contiguous();
    const Tensor at = clamp(searchsorted(edges[d], values, false, true) - 1, 0, bins - 1);
    const Tensor in =
        logical_and(values >= edges[d].select(0, 0), values <= edges[d].select(0, bins));
    place = d > 0 ? place * bins + at : at;
    inside = d > 0 ? logical_and(inside, in) : in;
    sizes.push_back(bins);
  }
  const TensorOptions options = x[0].options();
  Tensor hist;
  if (weight.defined()) {
    const Tensor each = weight.reshape({-1}).masked_fill(logical_not(inside), 0);
    hist = scatter_add_(zeros({count("histogram", sizes)}, options), 0, place, each);
  } else {  // count in int64, since float32 is exact only up to 2^24
    hist = scatter_add_(zeros({count("histogram", sizes)}, options.dtype(kInt64)), 0, place,
                        inside.to(kInt64))
               .to(options.dtype());
  }
  hist = hist.view(sizes);
  if (!density) return hist;
  hist = hist / sum(hist);
  for (size_t d = 0; d < x.size(); ++d) {
    Dims along(x.size(), 1);
    along[d] = sizes[d];
    hist = hist / diff(edges[d]).view(along);
  }
  return hist;
}

// Return the coordinates of points [..., D], [P] each.
std::vector<Tensor> coordinates(const Tensor& self) {
  expect_floating("histogramdd", self);
  if (self.dim() < 2 || self.size(-1) < 1) {
    throw_dim("histogramdd", "self", "[..., D], D from 1", self.sizes());
  }
  return self.detach().reshape({self.numel() / self.size(-1), self.size(-1)}).unbind(1);
}

void check_points(const Tensor& self, const Tensor& weight, size_t bins) {
  constexpr const char* kOp = "histogramdd";
  const auto dims = static_cast<size_t>(self.size(-1));
  check_counted(kOp, self, weight, self.sizes().slice(0, static_cast<size_t>(self.dim()) - 1));
  if (bins != dims) {
    throw Error(fmt::format("{}: expected bins for each of {} dims, got {}", kOp, dims, bins));
  }
}

}  // namespace

std::tuple<Tensor, Tensor> histogram(const Tensor& self, const Tensor& bins, const Tensor& weight,
                                     bool density) {
  constexpr const char* kOp = "histogram";
  check_devices(kOp, {{"self", self}, {"bins", bins}, {"weight", weight}});
  expect_floating(kOp, self);
  check_counted(kOp, self, weight, self.sizes());
  check_edges(kOp, bins, self.dtype());
  const NoGradGuard no_grad;
  const Tensor edges = bins.detach().contiguous();
  return {counts_between({self.reshape({-1})}, {edges}, weight, density), edges.clone()};
}

std::tuple<Tensor, Tensor> histogram(const Tensor& self, int64_t bins, Range range,
                                     const Tensor& weight, bool density) {
  constexpr const char* kOp = "histogram";
  check_devices(kOp, {{"self", self}, {"weight", weight}});
  expect_floating(kOp, self);
  check_counted(kOp, self, weight, self.sizes());
  check_range(kOp, range, 2);
  const NoGradGuard no_grad;
  const Tensor edges = equal_parts(kOp, self, bins, range);
  return {counts_between({self.reshape({-1})}, {edges}, weight, density), edges};
}

std::tuple<Tensor, std::vector<Tensor>> histogramdd(const Tensor& self, TensorList bins, Range,
                                                    const Tensor& weight, bool density) {
  check_devices("histogramdd", {{"self", self}, {"bins", bins}, {"weight", weight}});
  const NoGradGuard no_grad;
  const std::vector<Tensor> x = coordinates(self);
  check_points(self, weight, bins.size());
  std::vector<Tensor> edges;
  for (const Tensor& e : bins) {
    check_edges("histogramdd", e, self.dtype());
    edges.push_back(e.detach().clone());
  }
  return {counts_between(x, edges, weight, density), edges};
}

std::tuple<Tensor, std::vector<Tensor>> histogramdd(const Tensor& self, IntArrayRef bins,
                                                    Range range, const Tensor& weight,
                                                    bool density) {
  constexpr const char* kOp = "histogramdd";
  check_devices(kOp, {{"self", self}, {"weight", weight}});
  const NoGradGuard no_grad;
  const std::vector<Tensor> x = coordinates(self);
  check_points(self, weight, bins.size());
  check_range(kOp, range, 2 * x.size());
  std::vector<Tensor> edges;
  for (size_t d = 0; d < x.size(); ++d) {
    edges.push_back(equal_parts(kOp, x[d], bins[d], range ? Range(range->slice(2 * d, 2)) : range));
  }
  return {counts_between(x, edges, weight, density), edges};
}

std::tuple<Tensor, std::vector<Tensor>> histogramdd(const Tensor& self, int64_t bins, Range range,
                                                    const Tensor& weight, bool density) {
  check_devices("histogramdd", {{"self", self}, {"weight", weight}});
  const Dims all(coordinates(self).size(), bins);
  return histogramdd(self, all, range, weight, density);
}

}  // namespace ambit
