// Pairwise distances of points.
#include <ambit/backend/op.h>
#include <ambit/detail/autocast.h>
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/products.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include "core/ops/operands/expect.h"
#include "core/ops/operands/operand_grad.h"

namespace ambit {
namespace {

void check_p(const char* op, double p) {
  if (!(p >= 0)) throw Error(fmt::format("{}: expected p >= 0, got {}", op, p));
}

// The distance of points without coordinates is 0 in any norm.
Tensor norm_of_rows(const Tensor& x, double p) {
  return norm(x, x.size(-1) == 0 ? 2 : p, IntArrayRef{-1});
}

// Return g / distance, 0 between equal points: the differences' weights in the gradient.
Tensor weights(const Tensor& g, const Tensor& distance) {
  const Tensor is_zero = eq(distance, 0);
  return masked_fill(g / masked_fill(distance, is_zero, 1), is_zero, 0);
}

// Return x1's gradient, where distance[.., p, r] is that of x1[.., p, :] and x2[.., r, :].
Tensor gradient(const Tensor& w, const Tensor& x1, const Tensor& x2) {
  return sum_to(x1 * sum(w, {-1}, true) - matmul(w, x2), x1.sizes());
}

// |a - b|^2 = |a|^2 + |b|^2 - 2 a b, which may be negative by rounding.
Tensor by_product(const Tensor& x1, const Tensor& x2) {
  const auto compute = [&] {
    const NoGradGuard no_grad;
    const Tensor own = sum(x1 * x1, {-1}, true), its = sum(x2 * x2, {-1}, true);
    const Tensor squares = own + transpose(its, -2, -1);
    return sqrt(clamp(add(squares, matmul(x1, transpose(x2, -2, -1)), -2), 0));
  };
  const Tensor out = compute();
  return record("cdist", out,
                wrt(x1, [d = saved_output(out), a = saved(x1), b = saved(x2)](
                            const Tensor& g) { return gradient(weights(g, d()), a(), b()); }),
                wrt(x2, [d = saved_output(out), a = saved(x1), b = saved(x2)](const Tensor& g) {
                  return gradient(transpose(weights(g, d()), -2, -1), b(), a());
                }));
}

}  // namespace

Tensor cdist(const Tensor& x1, const Tensor& x2, double p, std::optional<int64_t> compute_mode) {
  AMBIT_AUTOCAST(cdist, x1, x2, p, compute_mode)
  const char* op = "cdist";
  check_devices(op, {{"x1", x1}, {"x2", x2}});
  expect_same_dtype(op, x1, x2);
  expect_floating(op, x1);
  check_p(op, p);
  const int64_t mode = compute_mode.value_or(0);
  if (mode < 0 || mode > 2) {
    throw Error(fmt::format("{}: expected compute_mode 0, 1 or 2, got {}", op, mode));
  }
  if (x1.dim() < 2 || x2.dim() < 2 || x1.size(-1) != x2.size(-1)) {
    throw ShapeError(fmt::format("{}: expected points of one size as rows, got {} and {}", op,
                                 str(x1.sizes()), str(x2.sizes())));
  }
  broadcast(op, {x1.sizes().data(), x1.sizes().size() - 2},
            {x2.sizes().data(), x2.sizes().size() - 2});
  const bool is_large = x1.size(-2) > 25 || x2.size(-2) > 25;
  if (p == 2 && (mode == 1 || (mode == 0 && is_large))) return by_product(x1, x2);
  return norm_of_rows(unsqueeze(x1, -2) - unsqueeze(x2, -3), p);
}

Tensor pdist(const Tensor& self, double p) {
  AMBIT_AUTOCAST(pdist, self, p)
  const char* op = "pdist";
  expect_dim(op, "self", self, 2, "a matrix");
  expect_floating(op, self);
  check_p(op, p);
  const Tensor pairs = triu_indices(self.size(0), self.size(0), 1).to(self.device());
  return norm_of_rows(index_select(self, 0, pairs[0]) - index_select(self, 0, pairs[1]), p);
}

}  // namespace ambit
