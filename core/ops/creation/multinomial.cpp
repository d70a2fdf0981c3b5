// Sampling indices by weights.
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/random.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/scan.h>
#include <ambit/ops/shape.h>
#include <ambit/ops/sort.h>
#include <fmt/format.h>

#include <limits>

#include "core/ops/operands/expect.h"

namespace ambit {
namespace {

using Stream = std::optional<Generator>;

void check_shape(const Tensor& self, int64_t num_samples, bool replacement) {
  if (self.dim() < 1 || self.dim() > 2 || self.size(-1) == 0) {
    throw ShapeError(fmt::format("multinomial: expected weights [N] or [M,N], N > 0, got {}",
                                 str(self.sizes())));
  }
  const int64_t n = self.size(-1);
  if (num_samples < 1 || (!replacement && num_samples > n)) {
    throw ShapeError(fmt::format("multinomial: expected num_samples in [1, {}], got {}",
                                 replacement ? std::numeric_limits<int64_t>::max() : n,
                                 num_samples));
  }
}

// Check rows [M,N]; M may be 0.
void check_weights(const Tensor& rows) {
  const Tensor good = logical_and(isfinite(rows), rows >= 0);
  const Tensor some = any(rows > 0, 1);
  if (logical_and(all(good), all(some)).item<bool>()) return;
  throw Error("multinomial: expected finite weights >= 0, not all 0, got others");
}

// Exponential times with these rates, sorted ascending, give the order of draws without
// replacement. Source: Efraimidis & Spirakis 2006, "Weighted random sampling with a reservoir".
Tensor without_replacement(const Tensor& rows, int64_t num_samples, const Stream& stream) {
  // -log(1 - u) is 0 for u = 0, and 0 / 0 is NaN.
  const Tensor time = clamp(neg(log1p(neg(rand(rows.sizes(), stream, rows.options())))), 1e-30);
  const Tensor key = rows / time;
  if (num_samples == 1) return argmax(key, 1, true);
  return std::get<1>(topk(key, num_samples, 1));
}

// Find the position of a number in [0, total) in the cumulative sums: after all sums <= the number,
// so never at a weight of 0.
Tensor with_replacement(const Tensor& rows, int64_t num_samples, const Stream& stream) {
  const Tensor sums = cumsum(rows, 1, kFloat64);
  const Tensor total = narrow(sums, 1, sums.size(1) - 1, 1);
  const Tensor at = rand({rows.size(0), num_samples}, stream, sums.options()) * total;
  return clamp(searchsorted(sums, at, false, true), std::nullopt, rows.size(1) - 1);
}

}  // namespace

Tensor multinomial(const Tensor& self, int64_t num_samples, bool replacement,
                   const std::optional<Generator>& generator) {
  expect_floating("multinomial", self);
  check_shape(self, num_samples, replacement);
  const NoGradGuard no_grad;
  const Tensor rows = self.dim() == 1 ? unsqueeze(self, 0) : self;
  if (!self.is_meta()) check_weights(rows);
  const Tensor drawn = replacement ? with_replacement(rows, num_samples, generator)
                                   : without_replacement(rows, num_samples, generator);
  return self.dim() == 1 ? squeeze(drawn, 0) : drawn;
}

}  // namespace ambit
