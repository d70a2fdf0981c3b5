// Tolerance of results in reduced floating-point types relative to float64 results for the same
// numbers, derived from the dtype's epsilon and from how much the function amplifies errors of its
// operands.
#pragma once

#include <ambit/finfo.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>
#include <doctest/doctest.h>

#include <vector>

#include "tests/devices.h"
#include "tests/function_ref.h"

namespace rounding {

using namespace ambit;

/// The float64 result, and its largest change when operands have an error of one rounding.
struct Exact {
  std::vector<Tensor> values, changes;  // undefined: no such result
};

/// Number of random perturbations. The actual error of a sum of n terms is usually below sqrt(n)
/// roundings; the largest change of 6 random choices of signs exceeds that in 9 of 10 cases.
constexpr int kWays = 6;

/// Return the numbers rounded to the dtype, as float64, each changed by half of its epsilon, up or
/// down, differently for each way. Way 0 changes nothing.
inline Tensor off(const Tensor& numbers, DType dtype, int way) {
  const Tensor exact = numbers.to(dtype).to(kFloat64);
  if (way == 0) return exact;
  const Tensor i = arange(exact.numel(), exact.options()).view(exact.sizes());
  const Tensor up = sin((i + 1) * (12.9898 * way)) > 0;  // pseudo-random
  return exact * (1 + where(up, 1, -1) * (finfo(dtype).eps / 2));
}

/// run(way): return the float64 results with operands off(..., way).
inline Exact exact(FunctionRef<std::vector<Tensor>(int way)> run) {
  Exact all{run(0), {}};
  for (const Tensor& y : all.values) {
    all.changes.push_back(y.defined() && y.is_floating_point() ? zeros_like(y) : Tensor());
  }
  for (int way = 1; way <= kWays; ++way) {
    const std::vector<Tensor> results = run(way);
    for (size_t i = 0; i < results.size(); ++i) {
      Tensor& most = all.changes[i];
      if (!most.defined() || !results[i].defined() || results[i].sizes() != most.sizes()) continue;
      most = maximum(most, (results[i] - all.values[i]).abs().nan_to_num(0));
    }
  }
  return all;
}

/// The tolerance is relative to each element, or to the largest if every element depends on all.
enum class Of : uint8_t { each, largest };

inline Tensor largest_of(const Tensor& t) {
  const Tensor finite = where(isfinite(t), t.abs(), 0);
  return t.numel() == 0 ? finite : finite.max().expand_as(t);
}

/// Check that a result equals the exact one for operands with `roundings` errors, and is itself
/// rounded as often:
///   |got - exact| <= roundings * (eps / 2 (|exact| + terms) + change)
/// where `terms` is the magnitude of terms that cancel; plus 8 units in the last place of float32,
/// in which it is computed, and half the dtype's smallest number. Numbers beyond the dtype's range
/// are infinite.
inline void check(const Tensor& got, const Tensor& exact, const Tensor& change, DType dtype,
                  double roundings, Of of = Of::each, double terms = 0) {
  REQUIRE(got.sizes() == exact.sizes());
  if (!exact.is_floating_point()) {
    CHECK(got.dtype() == exact.dtype());
    CHECK(got.cpu().equal(exact.cpu()));
    return;
  }
  const FloatInfo info = finfo(dtype);
  const Tensor y = got.cpu().to(kFloat64), want = exact.cpu();
  const Tensor there = want.to(dtype).to(kFloat64);  // infinite beyond the dtype's range
  const Tensor fine = (y == there) | (isnan(y) & isnan(want));
  const Tensor size = of == Of::each ? want.abs() : largest_of(want);
  const Tensor one =
      (size + terms) * (info.eps / 2) + (of == Of::each ? change : largest_of(change)).cpu();
  const Tensor least = size * 8 * 0x1p-24 + info.smallest_normal * info.eps / 2;
  const Tensor beyond = where(fine, 0, (y - want).abs() - least);
  if (((beyond <= one * roundings) | fine).all().item<bool>()) return;
  const double needed = where(fine, 0, beyond / one).nan_to_num(1e9).max().item<double>();
  INFO("got ", str(y), " expected ", str(want), " one rounding ", str(one));
  FAIL_CHECK("off by ", needed, " roundings");
}

/// Roundings of a row with PyTorch's values: one of its function, and one of a function that
/// computes an operand or uses the result.
constexpr double kOfRows = 2;

/// Check the results of `run` with operands converted by `floats`, in both reduced floating-point
/// types and on every device.
using Floats = FunctionRef<Tensor(const Tensor&)>;
inline void check_reduced_floating(
    FunctionRef<std::vector<Tensor>(Device device, const Floats& floats)> run, double roundings) {
  for (const DType dtype : dtypes::kReducedFloating) {
    INFO(name(dtype));
    const Exact want = exact(
        [&](int way) { return run(kCPU, [&](const Tensor& t) { return off(t, dtype, way); }); });
    for_each_device([&](Device device) {
      const std::vector<Tensor> got = run(device, [&](const Tensor& t) { return t.to(dtype); });
      REQUIRE(got.size() == want.values.size());
      for (size_t i = 0; i < got.size(); ++i) {
        INFO("result ", i);
        check(got[i], want.values[i], want.changes[i], dtype, roundings);
      }
    });
  }
}

}  // namespace rounding
