// Counting of numbers: bincount and histc.
#include <ambit/backend/kernels.h>
#include <ambit/detail/by_float32.h>
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>
#include <ambit/ops/sort.h>
#include <fmt/format.h>

#include <cmath>

#include "core/ops/index/operands.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/scalar_operand.h"

namespace ambit {
Tensor bincount(const Tensor& self, const Tensor& weights, int64_t minlength) {
  constexpr const char* kOp = "bincount";
  expect_defined(kOp, "self", self);
  check_devices(kOp, {{"self", self}, {"weights", weights}});
  if (self.is_floating_point() || self.dtype() == kBool) {
    throw DTypeError(fmt::format("bincount: expected integers, got {}", name(self.dtype())));
  }
  expect_dim(kOp, "self", self, 1, "1-D");
  expect_sizes(kOp, "weights", weights, self.sizes());
  if (minlength < 0) {
    throw Error(fmt::format("bincount: expected minlength >= 0, got {}", minlength));
  }
  check_has_data(kOp, self);
  const NoGradGuard no_grad;
  const TensorOptions on_device = TensorOptions(kInt64).device(self.device());
  if (self.numel() == 0) return zeros({minlength}, on_device);
  const Tensor bins = self.to(kInt64);
  const auto least = min(bins).item<int64_t>(), most = max(bins).item<int64_t>();
  if (least < 0) throw Error(fmt::format("bincount: expected numbers >= 0, got {}", least));
  if (most == INT64_MAX) throw Error("bincount: expected numbers below 2^63 - 1, got 2^63 - 1");
  const DType dtype = !weights.defined()            ? kInt64
                      : weights.dtype() == kFloat32 ? kFloat32
                                                    : kFloat64;
  const Tensor each =
      weights.defined() ? weights.to(dtype) : scalar_on(1, dtype, self.device(), bins.sizes());
  const Tensor out = zeros({std::max(most + 1, minlength)}, on_device.dtype(dtype));
  return scatter_add_(out, 0, bins, each);
}

Tensor histc(const Tensor& self, int64_t bins, const Scalar& min, const Scalar& max) {
  expect_floating("histc", self);
  if (bins <= 0) throw Error(fmt::format("histc: expected bins > 0, got {}", bins));
  check_has_data("histc", self);
  const NoGradGuard no_grad;
  if (is_reduced_floating(self.dtype()))
    return by_float32(self.dtype(), histc, self, bins, min, max);
  const Tensor x = reshape(self, {-1});
  auto low = min.to<double>(), high = max.to<double>();
  if (low == high && x.numel() > 0) {
    low = ambit::min(x).item<double>();
    high = ambit::max(x).item<double>();
  }
  if (low == high) {
    low -= 1;
    high += 1;
  }
  if (!std::isfinite(low) || !std::isfinite(high) || low > high) {
    throw Error(fmt::format("histc: expected a finite range, min first, got [{}, {}]", low, high));
  }
  const Tensor inside = logical_and(x >= low, x <= high);
  const Tensor part = masked_fill((x - low) * bins / (high - low), logical_not(inside), 0);
  const Tensor bin = clamp(part.to(kInt64), std::nullopt, bins - 1);
  // Count in int64, since float32 is exact only up to 2^24.
  const Tensor count = zeros({bins}, self.options().dtype(kInt64));
  return scatter_add_(count, 0, bin, inside.to(kInt64)).to(self.dtype());
}

}  // namespace ambit
