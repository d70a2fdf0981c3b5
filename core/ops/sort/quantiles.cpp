// Functions based on sorting: quantiles and membership.
#include <ambit/autograd.h>
#include <ambit/backend/op.h>
#include <ambit/detail/by_float32.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>
#include <ambit/ops/sort.h>
#include <fmt/format.h>

#include "core/ops/index/operands.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/statistics.h"

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

// Return each line's element at the fractional index `place`; place [..., Q] -> [..., Q].
Tensor at_place(const Tensor& sorted, const Tensor& place, std::string_view interpolation) {
  const auto take = [&](const Tensor& whole) { return gather(sorted, -1, whole.to(kInt64)); };
  const Tensor fixed = place.detach();
  if (interpolation == "lower") return take(floor(fixed));
  if (interpolation == "higher") return take(ceil(fixed));
  if (interpolation == "nearest") return take(round(fixed));
  const Tensor below = upcast(take(floor(fixed))), above = upcast(take(ceil(fixed)));
  const Tensor between = interpolation == "midpoint" ? lerp(below, above, 0.5)
                                                     : lerp(below, above, place - floor(fixed));
  // The difference of two equal infinities would be NaN.
  const Tensor stays = logical_and(isinf(below), below == above);
  return where(stays, below, between).to(sorted.dtype());
}

// fractions [Q]; `keep`: Q is a dim of the result. Positions are float32 for reduced floating-point
// types, which cannot represent large indices.
Tensor quantiles(const char* op, const Tensor& self, const Tensor& fractions, bool keep,
                 std::optional<int64_t> dim, bool keepdim, std::string_view interpolation,
                 bool ignore_nan) {
  if (self.numel() == 0) throw Error(fmt::format("{}: expected elements, got none", op));
  const int64_t d = dim ? wrap_dim(op, *dim, self.dim()) : 0;
  const Tensor lines = !dim || self.dim() == 0 ? self.reshape({-1}) : self.movedim(d, -1);
  const Tensor sorted = std::get<0>(sort(lines, -1));  // NaN come last
  const auto last = static_cast<double>(lines.size(-1) - 1);
  const Tensor q = upcast(fractions);
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
      throw Error(fmt::format("{}: expected all q in [0, 1], got one outside", op));
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
  const Tensor fraction = full({1}, q, self.options().dtype(statistics_dtype(self.dtype())));
  return quantiles(op, self, fraction, false, dim, keepdim, interpolation, ignore_nan);
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
  Tensor known = std::get<0>(sort(test_elements.to(dtype).reshape({-1}), 0));
  if (is_floating_point(dtype)) {
    // NaN equals no element and must not be compared in the search: replace it by the largest
    // number, if there is one.
    const Tensor nan = isnan(known);
    const Tensor last = clamp(sum(logical_not(nan)) - 1, 0).reshape({1});
    known = where(nan, index_select(known, 0, last), known);
  }
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
