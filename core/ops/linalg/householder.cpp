// Householder reflections I - tau v v^H in LAPACK's storage, and products of them.
#include <ambit/autograd.h>
#include <ambit/backend/op.h>
#include <ambit/error.h>
#include <ambit/ops/complex.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/linalg.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <algorithm>

#include "core/ops/operands/allocate.h"
#include "core/ops/operands/expect.h"
#include "factors.h"
#include "matrices.h"

namespace ambit {
namespace {

// Compute the reflection whose adjoint maps x [...,M,1] to a real multiple of (1, 0, ...). Return
// tau [...,1,1]; x becomes that multiple and, below it, v without its first element. tau is 0 if x
// already has that form.
Tensor reflect(const Tensor& x) {
  const int64_t m = x.size(-2);
  const Tensor first = x.narrow(-2, 0, 1), rest = x.narrow(-2, 1, m - 1);
  const Tensor part = real(first);
  // The elements are scaled, so that squares do not overflow.
  const Tensor scale = m > 1 ? amax(abs(rest), {-2}, true) : zeros_like(part);
  Tensor none = scale == 0;
  const Tensor unit = scale.masked_fill(none, 1);
  const Tensor norm = m > 1 ? sqrt(sum(square(abs(rest / unit)), {-2}, true)) * unit : scale;
  if (x.is_complex()) none = logical_and(none, imag(first) == 0);
  const Tensor length = hypot(abs(first), norm);
  const Tensor end = where(none, part, neg(copysign(length, part)));
  const Tensor tau = where(none, 0, (end - first) / end.masked_fill(none, 1));
  if (m > 1) rest.div_((first - end).masked_fill(none, 1));
  first.copy_(end);
  return tau;
}

// Return v [...,M,1] of reflection i of a.
Tensor vector_of(const Tensor& a, int64_t i) {
  Dims sizes(a.sizes());
  sizes[sizes.size() - 1] = 1;
  const int64_t m = a.size(-2);
  sizes[sizes.size() - 2] = i;
  const Tensor before = zeros(sizes, a.options());
  sizes[sizes.size() - 2] = 1;
  const Tensor one = ones(sizes, a.options());
  return cat({before, one, a.narrow(-1, i, 1).narrow(-2, i + 1, m - i - 1)}, -2);
}

// x - tau v (v^H x)
Tensor reflected(const Tensor& x, const Tensor& v, const Tensor& tau) {
  return x - matmul(v * tau, matmul(adjoint(v), x));
}

// Apply the product of all reflections to x, or its adjoint.
Tensor product(const Tensor& a, const Tensor& tau, Tensor x, bool is_adjoint) {
  const int64_t k = tau.size(-1);
  const Tensor factors = is_adjoint ? conj(tau) : tau;
  for (int64_t j = 0; j < k; ++j) {
    const int64_t i = is_adjoint ? j : k - 1 - j;
    x = reflected(x, vector_of(a, i), factors.narrow(-1, i, 1).unsqueeze(-1));
  }
  return x;
}

void check_reflections(const char* op, const char* a_name, const char* tau_name, const Tensor& a,
                       const Tensor& tau) {
  expect_matrices(op, a_name, a, Elements::any);
  expect_dtype(op, tau_name, tau, a.dtype());
  const int64_t m = a.size(-2), n = a.size(-1);
  if (m < n) {
    throw ShapeError(fmt::format("{}: expected {} of at least as many rows as columns, got {}", op,
                                 a_name, str(a.sizes())));
  }
  const bool fits =
      tau.dim() == a.dim() - 1 && tau.size(-1) <= n && tau.sizes().drop_back() == batch_of(a);
  if (!fits) {
    throw ShapeError(fmt::format("{}: expected {} of shape [..., K], K <= {}, as {} {}, got {}", op,
                                 tau_name, n, a_name, str(a.sizes()), str(tau.sizes())));
  }
}

Tensor householder(const char* op, const char* a_name, const char* tau_name, const Tensor& a,
                   const Tensor& tau) {
  check_devices(op, {{a_name, a}, {tau_name, tau}});
  check_reflections(op, a_name, tau_name, a, tau);
  const Tensor start = eye(a.size(-2), a.size(-1), a.options());
  return product(a, tau, start.expand(a.sizes()), false);
}

}  // namespace

std::tuple<Tensor, Tensor> geqrf(const Tensor& self) {
  expect_matrices("geqrf", "self", self, Elements::any);
  const int64_t m = self.size(-2), n = self.size(-1), k = std::min(m, n);
  Tensor a, tau;
  {
    const NoGradGuard no_grad;
    a = self.clone().contiguous();
    tau = zeros(batch_and(batch_of(self), {k}), self.options());
    for (int64_t i = 0; i < k && a.numel() > 0; ++i) {
      const Tensor below = a.narrow(-2, i, m - i);
      const Tensor factor = reflect(below.narrow(-1, i, 1));
      tau.narrow(-1, i, 1).copy_(factor.squeeze(-1));
      if (i + 1 == n) continue;
      const Tensor others = below.narrow(-1, i + 1, n - i - 1);
      others.copy_(reflected(others, vector_of(a, i).narrow(-2, i, m - i), conj(factor)));
    }
  }
  record_factors<2>("geqrf", self, {a, tau}, [](const auto&, const auto&) -> Tensor {
    throw NotImplementedError(
        "geqrf: expected no backward, got one; the gradient is not implemented");
  });
  return {a, tau};
}

Tensor linalg_householder_product(const Tensor& input, const Tensor& tau) {
  return householder("linalg_householder_product", "input", "tau", input, tau);
}

Tensor orgqr(const Tensor& self, const Tensor& input2) {
  return householder("orgqr", "self", "input2", self, input2);
}

Tensor ormqr(const Tensor& self, const Tensor& input2, const Tensor& input3, bool left,
             bool transpose) {
  check_devices("ormqr", {{"self", self}, {"input2", input2}, {"input3", input3}});
  check_reflections("ormqr", "self", "input2", self, input2);
  expect_matrices("ormqr", "input3", input3, Elements::any);
  expect_dtype("ormqr", "input3", input3, self.dtype());
  if (batch_of(input3) != batch_of(self) || input3.size(left ? -2 : -1) != self.size(-2)) {
    throw ShapeError(fmt::format("ormqr: expected input3 of {} {} and the batch of self {}, got {}",
                                 self.size(-2), left ? "rows" : "columns", str(self.sizes()),
                                 str(input3.sizes())));
  }
  if (left) return product(self, input2, input3, transpose);
  return adjoint(product(self, input2, adjoint(input3), !transpose));  // x Q = (Q^H x^H)^H
}

}  // namespace ambit
