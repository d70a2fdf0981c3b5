// How far results of 16 bits may be from those of float64 of the same numbers: a bound that follows
// from the dtype's epsilon and from how much the function enlarges what its operands are off by.
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

/// What float64 gives, and the most that it changes where operands are off by one rounding.
struct Exact {
  std::vector<Tensor> values, changes;  // undefined: no such result
};

/// In how many ways operands are made wrong: of sums of n terms the one of 6 random choices of
/// signs that changes most changes it by sqrt(n) roundings but in one of 20 cases, as roundings do.
constexpr int kWays = 6;

/// Return the numbers as they are in the dtype, in float64, each off by half of its epsilon: up or
/// down, in each way differently. Way 0: not off.
inline Tensor off(const Tensor& numbers, DType dtype, int way) {
  const Tensor exact = numbers.to(dtype).to(kFloat64);
  if (way == 0) return exact;
  const Tensor i = arange(exact.numel(), exact.options()).view(exact.sizes());
  const Tensor up = sin((i + 1) * (12.9898 * way)) > 0;  // without a pattern
  return exact * (1 + where(up, 1, -1) * (finfo(dtype).eps / 2));
}

/// run(way): the results of float64 with operands of off(..., way).
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

/// Whether the bound of an element is its own, or that of the largest: where all are made of all.
enum class Of : uint8_t { each, largest };

inline Tensor largest_of(const Tensor& t) {
  const Tensor finite = where(isfinite(t), t.abs(), 0);
  return t.numel() == 0 ? finite : finite.max().expand_as(t);
}

/// Check that a result is the exact one of operands that are off by as many roundings, itself
/// rounded as often:
///   |got - exact| <= roundings * (eps / 2 (|exact| + terms) + change)
/// where it is a difference of `terms` of that size, and by 8 last places of float32, in which it
/// is computed. Numbers that the dtype does not have are infinite, or a step of its smallest ones
/// away.
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

/// The roundings of a row of PyTorch's values: that of its function, and of one around or inside
/// it.
constexpr double kOfRows = 2;

/// What `run` gives on a device whose operands are `floats` of float64 numbers, in both dtypes of
/// 16 bits and on every device.
using Floats = FunctionRef<Tensor(const Tensor&)>;
inline void check_reduced(FunctionRef<std::vector<Tensor>(Device device, const Floats& floats)> run,
                          double roundings) {
  for (const DType dtype : dtypes::kReduced) {
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
