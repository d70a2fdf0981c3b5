// What sorting tells of a distribution: quantiles, histograms between given edges, membership.
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
#include "core/ops/operands/expect.h"

namespace ambit {
namespace {

void check_interpolation(const char* op, std::string_view name) {
  for (const std::string_view known : {"linear", "lower", "higher", "midpoint", "nearest"}) {
    if (name == known) return;
  }
  throw Error(fmt::format(
      "{}: expected the interpolation linear, lower, higher, midpoint or nearest, got \"{}\"", op,
      name));
}

void check_fraction(const char* op, double q) {
  if (!(q >= 0 && q <= 1)) throw Error(fmt::format("{}: expected q in [0, 1], got {}", op, q));
}

// What stands at `place`, a number from 0 on, of each line's last dim; place [..., Q] -> [..., Q].
Tensor at_place(const Tensor& sorted, const Tensor& place, std::string_view interpolation) {
  const auto take = [&](const Tensor& whole) { return gather(sorted, -1, whole.to(kInt64)); };
  const Tensor fixed = place.detach();
  if (interpolation == "lower") return take(floor(fixed));
  if (interpolation == "higher") return take(ceil(fixed));
  if (interpolation == "nearest") return take(round(fixed));
  const Tensor below = take(floor(fixed)), above = take(ceil(fixed));
  if (interpolation == "midpoint") return lerp(below, above, 0.5);
  return lerp(below, above, place - floor(fixed));
}

// q [Q] of one dim; `keep`: whether Q is a dim of the result.
Tensor quantiles(const char* op, const Tensor& self, const Tensor& q, bool keep,
                 std::optional<int64_t> dim, bool keepdim, std::string_view interpolation,
                 bool ignore_nan) {
  if (self.numel() == 0) throw Error(fmt::format("{}: expected elements, got none", op));
  const int64_t d = dim ? wrap_dim(op, *dim, self.dim()) : 0;
  const Tensor lines = !dim || self.dim() == 0 ? self.reshape({-1}) : self.movedim(d, -1);
  const Tensor sorted = std::get<0>(sort(lines, -1));  // NaN come last
  const auto last = static_cast<double>(lines.size(-1) - 1);
  const Tensor is_nan = isnan(lines.detach());
  Tensor place;  // [..., Q]
  if (ignore_nan) {
    const Tensor known = lines.size(-1) - sum(is_nan, {-1}, true);
    place = q * (known.to(q.dtype()) - 1).clamp_min(0);
  } else {
    place = (q * last).masked_fill(any(is_nan, -1, true), last);
  }
  Tensor out = at_place(sorted, place, interpolation).movedim(-1, 0);  // [Q, ...]
  if (keepdim && self.dim() > 0) {
    if (dim) {
      out = out.unsqueeze(d + 1);
    } else {
      Dims sizes(static_cast<size_t>(self.dim()) + 1, 1);
      sizes[0] = out.size(0);
      out = out.reshape(sizes);
    }
  }
  return keep ? out : out.squeeze(0);
}

Tensor quantiles_of_tensor(const char* op, const Tensor& self, const Tensor& q,
                           std::optional<int64_t> dim, bool keepdim, std::string_view interpolation,
                           bool ignore_nan) {
  check_devices(op, {{"self", self}, {"q", q}});
  expect_floating(op, self);
  expect_dtype(op, "q", q, self.dtype());
  if (q.dim() > 1) throw_dim(op, "q", "[Q] or []", q.sizes());
  check_interpolation(op, interpolation);
  if (!q.is_meta() && q.numel() > 0) {
    const Tensor wrong = logical_not(logical_and(q.detach() >= 0, q.detach() <= 1));
    if (any(wrong).item<bool>()) {
      throw Error(fmt::format("{}: expected all q in [0, 1], got another", op));
    }
  }
  return quantiles(op, self, q.reshape({-1}), q.dim() == 1, dim, keepdim, interpolation,
                   ignore_nan);
}

Tensor quantiles_of_number(const char* op, const Tensor& self, double q, std::optional<int64_t> dim,
                           bool keepdim, std::string_view interpolation, bool ignore_nan) {
  expect_floating(op, self);
  check_fraction(op, q);
  check_interpolation(op, interpolation);
  return quantiles(op, self, full({1}, q, self.options()), false, dim, keepdim, interpolation,
                   ignore_nan);
}

// The counts between sorted edges [bins + 1].
Tensor counts_between(const Tensor& x, const Tensor& edges, const Tensor& weight, bool density) {
  const int64_t bins = edges.size(0) - 1;
  const Tensor values = x.reshape({-1}).contiguous();
  const Tensor place = clamp(searchsorted(edges, values, false, true) - 1, 0, bins - 1);
  const Tensor inside = logical_and(values >= edges.select(0, 0), values <= edges.select(0, bins));
  Tensor hist;
  if (weight.defined()) {
    const Tensor each = weight.reshape({-1}).masked_fill(logical_not(inside), 0);
    hist = scatter_add_(zeros({bins}, x.options()), 0, place, each);
  } else {  // in whole numbers, of which float32 has only those up to 2^24
    hist = scatter_add_(zeros({bins}, x.options().dtype(kInt64)), 0, place, inside.to(kInt64))
               .to(x.dtype());
  }
  return density ? hist / (sum(hist) * diff(edges)) : hist;
}

void check_histogram(const Tensor& self, const Tensor& weight) {
  expect_floating("histogram", self);
  expect_dtype_if_given("histogram", "weight", weight, self.dtype());
  expect_sizes("histogram", "weight", weight, self.sizes());
  check_has_data("histogram", self);
}

}  // namespace

Tensor quantile(const Tensor& self, const Tensor& q, std::optional<int64_t> dim, bool keepdim,
                std::string_view interpolation) {
  return quantiles_of_tensor("quantile", self, q, dim, keepdim, interpolation, false);
}
Tensor quantile(const Tensor& self, double q, std::optional<int64_t> dim, bool keepdim,
                std::string_view interpolation) {
  return quantiles_of_number("quantile", self, q, dim, keepdim, interpolation, false);
}
Tensor nanquantile(const Tensor& self, const Tensor& q, std::optional<int64_t> dim, bool keepdim,
                   std::string_view interpolation) {
  return quantiles_of_tensor("nanquantile", self, q, dim, keepdim, interpolation, true);
}
Tensor nanquantile(const Tensor& self, double q, std::optional<int64_t> dim, bool keepdim,
                   std::string_view interpolation) {
  return quantiles_of_number("nanquantile", self, q, dim, keepdim, interpolation, true);
}

std::tuple<Tensor, Tensor> histogram(const Tensor& self, const Tensor& bins, const Tensor& weight,
                                     bool density) {
  check_devices("histogram", {{"self", self}, {"bins", bins}, {"weight", weight}});
  check_histogram(self, weight);
  expect_dtype("histogram", "bins", bins, self.dtype());
  if (bins.dim() != 1) throw_dim("histogram", "bins", "[bins + 1]", bins.sizes());
  if (bins.size(0) < 2) {
    throw Error(fmt::format("histogram: expected 2 edges or more, got {}", bins.size(0)));
  }
  const NoGradGuard no_grad;
  const Tensor edges = bins.detach().contiguous();
  return {counts_between(self, edges, weight, density), edges.clone()};
}

std::tuple<Tensor, Tensor> histogram(const Tensor& self, int64_t bins,
                                     std::optional<ArrayRef<double>> range, const Tensor& weight,
                                     bool density) {
  check_devices("histogram", {{"self", self}, {"weight", weight}});
  check_histogram(self, weight);
  if (bins < 1) throw Error(fmt::format("histogram: expected bins > 0, got {}", bins));
  if (range && range->size() != 2) {
    throw Error(fmt::format("histogram: expected a range of 2 numbers, got {}", range->size()));
  }
  const NoGradGuard no_grad;
  double low = 0, high = 1;
  if (range) {
    low = (*range)[0];
    high = (*range)[1];
  } else if (self.numel() > 0) {
    low = min(self).item<double>();
    high = max(self).item<double>();
  }
  if (!std::isfinite(low) || !std::isfinite(high) || low > high) {
    throw Error(fmt::format("histogram: expected a finite range, its least first, got [{}, {}]",
                            low, high));
  }
  if (low == high) {
    low -= 0.5;
    high += 0.5;
  }
  const Tensor edges = linspace(low, high, bins + 1, self.options());
  return {counts_between(self, edges, weight, density), edges};
}

Tensor isin(const Tensor& elements, const Tensor& test_elements, bool, bool invert) {
  const Device device =
      check_devices("isin", {{"elements", elements}, {"test_elements", test_elements}});
  expect_defined("isin", "elements", elements);
  expect_defined("isin", "test_elements", test_elements);
  const NoGradGuard no_grad;
  if (test_elements.numel() == 0) {
    return full(elements.sizes(), invert, TensorOptions(kBool).device(device));
  }
  DType dtype = result_type(elements, test_elements);
  if (dtype == kBool) dtype = kUInt8;
  const Tensor known = std::get<0>(sort(test_elements.to(dtype).reshape({-1}), 0));
  const Tensor wanted = elements.to(dtype).contiguous();
  const Tensor place = searchsorted(known, wanted).clamp_max(known.size(0) - 1);
  const Tensor found = index_select(known, 0, place.reshape({-1})).reshape(wanted.sizes());
  return invert ? found != wanted : found == wanted;
}
Tensor isin(const Tensor& elements, const Scalar& test_element, bool, bool invert) {
  expect_defined("isin", "elements", elements);
  return invert ? ne(elements, test_element) : eq(elements, test_element);
}
Tensor isin(const Scalar& element, const Tensor& test_elements, bool, bool invert) {
  expect_defined("isin", "test_elements", test_elements);
  const Tensor found = any(eq(test_elements, element));
  return invert ? logical_not(found) : found;
}

}  // namespace ambit
