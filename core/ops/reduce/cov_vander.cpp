// cov, corrcoef and vander.
#include <ambit/backend/op.h>
#include <ambit/detail/by_float32.h>
#include <ambit/detail/warning.h>
#include <ambit/error.h>
#include <ambit/ops/complex.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/samples.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <algorithm>

#include "core/ops/operands/expect.h"

namespace ambit {
namespace {

void check_weights(const char* argument, const Tensor& w, int64_t n, bool are_integers) {
  if (!w.defined()) return;
  if (are_integers ? !is_integral(w.dtype()) : !w.is_floating_point()) {
    throw DTypeError(fmt::format("cov: expected {} of {}, got {}", argument,
                                 are_integers ? "integers" : "floating-point numbers",
                                 name(w.dtype())));
  }
  if (w.dim() > 1 || w.numel() != n) {
    throw ShapeError(
        fmt::format("cov: expected {} of shape [{}], got {}", argument, n, str(w.sizes())));
  }
  if (n > 0 && !w.is_meta() && min(w).item<double>() < 0) {
    throw Error(fmt::format("cov: expected {} >= 0, got {}", argument, min(w).item<double>()));
  }
}

// Return the sums of products of the centered variables, with weights w; the caller divides.
Tensor centered_products(const Tensor& x, const Tensor& mean, const Tensor& w) {
  const Tensor from_mean = x - unsqueeze(mean, 1);
  return mm(from_mean, conj(t(w.defined() ? from_mean * w : from_mean)));
}

Tensor covariance(const char* op, const Tensor& self, int64_t correction, const Tensor& fweights,
                  const Tensor& aweights) {
  expect_defined(op, "self", self);
  if (self.dim() > 2) {
    throw ShapeError(fmt::format("{}: expected variables as rows of a matrix, got shape {}", op,
                                 str(self.sizes())));
  }
  expect_numbers(op, self);
  const Tensor x = self.dim() < 2 ? reshape(self, {1, self.numel()}) : self;
  const int64_t n = x.size(1);
  if (!fweights.defined() && !aweights.defined() && n <= correction) {
    detail::warn(detail::Warning::covariance, "cov");
  }
  check_weights("fweights", fweights, n, true);
  check_weights("aweights", aweights, n, false);
  if (!fweights.defined() && !aweights.defined()) {
    const Tensor c = centered_products(x, sum(x, 1) / static_cast<double>(n), {});
    return squeeze(c / static_cast<double>(std::max<int64_t>(n - correction, 0)));
  }
  Tensor w = fweights.defined() ? fweights.detach() : aweights.detach();
  if (fweights.defined() && aweights.defined()) w = w * aweights.detach();
  const Tensor total = sum(w);
  if (!total.is_meta() && total.item<double>() == 0) {
    throw Error("cov: expected weights that sum to more than 0, got 0");
  }
  Tensor divisor = total - correction;
  if (aweights.defined() && correction != 0) {
    divisor = total - correction * sum(w * aweights.detach()) / total;
  }
  const Tensor c = centered_products(x, sum(x * w, 1) / total, w);
  return squeeze(c / divisor.clamp_min(0));
}

// Return x, x^2, .. x^n along a new last dim, n > 0, doubling the number of powers in each step.
Tensor powers(const Tensor& x, int64_t n) {
  Dims sizes(x.sizes());
  sizes.push_back(n);
  // Allocate the result's size once, to throw early if memory is lacking.
  static_cast<void>(empty(sizes, x.options()));
  Tensor out = unsqueeze(x, -1);
  while (out.size(-1) < n) {
    const Tensor next = narrow(out, -1, 0, std::min(out.size(-1), n - out.size(-1)));
    out = cat({out, next * narrow(out, -1, -1, 1)}, -1);
  }
  return out;
}

}  // namespace

Tensor cov(const Tensor& self, int64_t correction, const Tensor& fweights, const Tensor& aweights) {
  check_devices("cov", {{"self", self}, {"fweights", fweights}, {"aweights", aweights}});
  return covariance("cov", self, correction, fweights, aweights);
}

Tensor corrcoef(const Tensor& self) {
  if (self.defined() && is_reduced_floating(self.dtype())) {
    return by_float32(self.dtype(), corrcoef, self);
  }
  const Tensor c = covariance("corrcoef", self, 1, {}, {});
  if (c.dim() == 0) return c / c;
  const auto within = [](const Tensor& x) { return clamp(x, -1, 1); };
  const Tensor deviation = sqrt(real(diagonal(c)));
  const Tensor out = c / unsqueeze(deviation, 1) / deviation;
  return out.is_complex() ? complex(within(real(out)), within(imag(out))) : within(out);
}

Tensor linalg_vander(const Tensor& x, std::optional<int64_t> N) {
  const char* op = "linalg_vander";
  expect_defined(op, "x", x);
  expect_numbers(op, x);
  const Tensor base = atleast_1d(x);
  const int64_t n = N.value_or(base.size(-1));
  if (n < 2) throw Error(fmt::format("{}: expected N >= 2, got {}", op, n));
  const Tensor one = ones_like(unsqueeze(base.detach(), -1));
  return cat({one, powers(base, n - 1)}, -1);
}

Tensor vander(const Tensor& x, std::optional<int64_t> N, bool increasing) {
  const char* op = "vander";
  expect_dim(op, "x", x, 1, "a vector");
  const int64_t n = N.value_or(x.numel());
  if (n < 0) throw Error(fmt::format("{}: expected N >= 0, got {}", op, n));
  const Tensor base = is_differentiable(x.dtype()) ? x : x.to(kInt64);
  if (n == 0) return zeros({x.numel(), 0}, base.options());
  const Tensor column = ones({x.numel(), 1}, base.options());
  if (n == 1) return column;
  const Tensor others = powers(base, n - 1);
  return increasing ? cat({column, others}, 1) : cat({flip(others, 1), column}, 1);
}

}  // namespace ambit
