// Matrix chains, powers, and the matrix exponential.
#include <ambit/backend/op.h>
#include <ambit/detail/autocast.h>
#include <ambit/detail/memory_errors.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/linalg.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/products.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "core/ops/operands/expect.h"

namespace ambit {
namespace {

// The cheapest order of multiplying a chain of matrices: dynamic programming over the position of
// the last product of each subchain.
class Chain {
 public:
  explicit Chain(const std::vector<Tensor>& matrices) : matrices_(matrices) {
    const size_t n = matrices.size();
    std::vector<double> costs(n * n, 0);
    last_.resize(n * n);
    for (size_t length = 2; length <= n; ++length) {
      for (size_t i = 0; i + length <= n; ++i) {
        const size_t j = i + length - 1;
        double best = HUGE_VAL;
        for (size_t k = i; k < j; ++k) {
          const double cost =
              costs[i * n + k] + costs[(k + 1) * n + j] + rows(i) * columns(k) * columns(j);
          if (cost >= best) continue;
          best = cost;
          last_[i * n + j] = k;
        }
        costs[i * n + j] = best;
      }
    }
  }
  Tensor product() const { return product(0, matrices_.size() - 1); }

 private:
  // Return the product of matrices i to j, both included.
  Tensor product(size_t i, size_t j) const {
    if (i == j) return matrices_[i];
    const size_t k = last_[i * matrices_.size() + j];
    return mm(product(i, k), product(k + 1, j));
  }
  double rows(size_t i) const { return static_cast<double>(matrices_[i].sizes()[0]); }
  double columns(size_t i) const { return static_cast<double>(matrices_[i].sizes()[1]); }

  const std::vector<Tensor>& matrices_;
  std::vector<size_t> last_;
};

Tensor chained(const char* op, const std::vector<Tensor>& matrices) {
  for (size_t i = 0; i + 1 < matrices.size(); ++i) {
    expect_same_dtype(op, matrices[i], matrices[i + 1]);
    expect_numbers(op, matrices[i]);
    if (matrices[i].size(1) != matrices[i + 1].size(0)) {
      throw ShapeError(fmt::format("{}: expected inner sizes that agree, got {} and {}", op,
                                   str(matrices[i].sizes()), str(matrices[i + 1].sizes())));
    }
  }
  return Chain(matrices).product();
}

void check_list(const char* op, TensorList tensors, size_t least) {
  if (tensors.size() < least) {
    throw ShapeError(
        fmt::format("{}: expected {} tensors at least, got {}", op, least, tensors.size()));
  }
  check_devices(op, {{"tensors", tensors}});
  for (const Tensor& t : tensors) expect_defined(op, "each of the tensors", t);
}

void expect_square(const char* op, const Tensor& self) {
  expect_defined(op, "self", self);
  if (self.dim() < 2 || self.size(-1) != self.size(-2)) {
    throw ShapeError(
        fmt::format("{}: expected square matrices, got shape {}", op, str(self.sizes())));
  }
}

Tensor unit_like(const Tensor& self) {
  return expand(eye(self.size(-1), self.options()), self.sizes());
}

// The sum of x^k / k! up to k = 15, in six products: four groups of four terms that share powers of
// x. Source: Paterson & Stockmeyer 1973, SIAM J. Comput. 2(1).
Tensor taylor(const Tensor& x) {
  const Tensor x2 = matmul(x, x), x3 = matmul(x2, x), x4 = matmul(x2, x2);
  const Tensor one = unit_like(x);
  double factorial = 1;
  std::array<double, 16> inverse{};
  for (size_t k = 0; k < inverse.size(); ++k) {
    if (k > 0) factorial *= static_cast<double>(k);
    inverse[k] = 1 / factorial;
  }
  const auto group = [&](size_t k) {
    return add(add(add(one * inverse[k], x, inverse[k + 1]), x2, inverse[k + 2]), x3,
               inverse[k + 3]);
  };
  Tensor sum = group(12);
  for (const size_t k : {8, 4, 0}) sum = matmul(sum, x4) + group(k);
  return sum;
}

Tensor exponential(const char* op, const Tensor& self) {
  expect_square(op, self);
  expect_inexact(op, self);
  if (self.numel() == 0) return clone(self);
  // Halve each matrix s times, to a norm of at most 0.5: the first omitted term is then below
  // 0.5^16 / 16! = 7e-19 of the result.
  const Tensor norm = amax(sum(abs(self.detach()), {-2}, true), {-1}, true);
  const Tensor halvings = ceil(log2(norm)).add(1).clamp(0, 1100);
  const Tensor s = where(isfinite(norm), halvings, 0);
  const auto most = static_cast<int64_t>(max(s).item<double>());
  Tensor out = taylor(self * pow(2, -s));
  for (int64_t i = 0; i < most; ++i) out = where(gt(s, i), matmul(out, out), out);
  return out;
}

}  // namespace

Tensor chain_matmul(TensorList tensors) try {
  AMBIT_AUTOCAST_AS("matmul", chain_matmul, tensors)
  check_list("chain_matmul", tensors, 1);
  for (const Tensor& t : tensors) {
    expect_dim("chain_matmul", "each of the tensors", t, 2, "a matrix");
  }
  if (tensors.size() == 1) return tensors[0];
  return chained("chain_matmul", {tensors.begin(), tensors.end()});
} catch (const std::bad_alloc&) {
  throw_out_of_host_memory("chain_matmul");
}

Tensor linalg_multi_dot(TensorList tensors) try {
  AMBIT_AUTOCAST_AS("matmul", linalg_multi_dot, tensors)
  const char* op = "linalg_multi_dot";
  check_list(op, tensors, 2);
  std::vector<Tensor> matrices(tensors.begin(), tensors.end());
  Tensor &first = matrices.front(), &last = matrices.back();
  const bool is_row = first.dim() == 1, is_column = last.dim() == 1;
  if (is_row) first = unsqueeze(first, 0);
  if (is_column) last = unsqueeze(last, 1);
  for (const Tensor& t : matrices) expect_dim(op, "each of the tensors", t, 2, "a matrix");
  Tensor out = chained(op, matrices);
  if (is_row) out = squeeze(out, 0);
  return is_column ? squeeze(out, -1) : out;
} catch (const std::bad_alloc&) {
  throw_out_of_host_memory("linalg_multi_dot");
}

Tensor matrix_power(const Tensor& self, int64_t n) {
  expect_defined("matrix_power", "self", self);
  return linalg_matrix_power(self, n);
}

Tensor matrix_exp(const Tensor& self) { return exponential("matrix_exp", self); }

Tensor linalg_matrix_exp(const Tensor& self) { return exponential("linalg_matrix_exp", self); }

Tensor linalg_matmul(const Tensor& self, const Tensor& other) {
  check_devices("linalg_matmul", {{"self", self}, {"other", other}});
  expect_defined("linalg_matmul", "self", self);
  expect_defined("linalg_matmul", "other", other);
  return matmul(self, other);
}

}  // namespace ambit
