// Functions that add a product: beta * self + alpha * product, and their in-place variants.
#include <ambit/backend/op.h>
#include <ambit/detail/autocast.h>
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include "core/ops/operands/broadcast.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/operand_grad.h"
#include "core/ops/operands/promote.h"
#include "core/ops/operands/scalar_operand.h"

namespace ambit {
namespace {

bool is_zero(const Scalar& s) { return s.to<double>() == 0; }
bool is_one(const Scalar& s) { return s.to<double>() == 1; }

// One of these functions: its names, and its operands' names in errors.
struct SumOp {
  const char* name;
  const char* in_place;
  const char* first;
  const char* second;
  Tensor (*multiply)(const SumOp& op, const char* name, const Tensor& a, const Tensor& b);
  bool ignores_nan = true;  // NaN of the factors if alpha is 0; false for baddbmm, as in PyTorch
};

void check_numbers(const char* op, DType dtype, const Scalar& beta, const Scalar& alpha) {
  if (is_differentiable(dtype)) return;
  if (!beta.is_floating_point() && !alpha.is_floating_point()) return;
  throw DTypeError(
      fmt::format("{}: expected integer beta and alpha for {}, got a float", op, name(dtype)));
}

// Convert beta and alpha as libtorch does in all functions but addr: truncate them for integer
// operands.
struct Factors {
  // Errors: DTypeError for operands of several dtypes or bool, or a factor that does not fit.
  Factors(const char* op, const Tensor& self, const Tensor& a, const Tensor& b,
          const Scalar& of_self, const Scalar& of_product) {
    expect_same_dtype(op, a, b);
    expect_dtype(op, "self", self, a.dtype());
    expect_numbers(op, self);
    beta = converted(op, of_self, self.dtype());
    alpha = converted(op, of_product, self.dtype());
  }
  static Scalar converted(const char* op, const Scalar& factor, DType dtype) {
    if (is_differentiable(dtype) || !factor.is_floating_point()) return factor;
    check_fits(op, factor, dtype);
    return factor.to<int64_t>();
  }
  Scalar beta, alpha;
};

// `out`: the product, which may be overwritten. self is not read if beta is 0, so that its NaN do
// not propagate; as in libtorch its gradient is then 0.
Tensor add_self(const char* op, Tensor out, const Tensor& self, const Scalar& beta,
                const Scalar& alpha) {
  if (!is_one(alpha)) out.mul_(alpha);
  if (!is_zero(beta)) {
    out.add_(self, beta);
    return out;
  }
  if (!needs_gradient(self)) return out;
  return record(op, out.detach(), wrt(out, [](const Tensor& g) { return g; }),
                wrt(self, ZerosLike(self)));
}

const Tensor& add_in_place(const char* op, const Tensor& self, const Tensor& product,
                           const Scalar& beta, const Scalar& alpha) {
  expect_sizes(op, "self", self, product.sizes());
  check_in_place(op, self);
  if (is_zero(beta)) return copy_(self, is_one(alpha) ? product : mul(product, alpha));
  if (!is_one(beta)) self.mul_(beta);
  return add_(self, product, alpha);
}

// The product for alpha 0 is 0 for any factors, including NaN and infinities, and has zero
// gradients.
Tensor no_product(const SumOp& op, const char* name, const Tensor& a, const Tensor& b) {
  Tensor out;
  {
    const NoGradGuard no_grad;
    out = op.multiply(op, name, zeros_like(a), zeros_like(b));
  }
  return record(op.name, std::move(out), wrt(a, ZerosLike(a)), wrt(b, ZerosLike(b)));
}

Tensor multiplied(const SumOp& op, const char* name, const Tensor& a, const Tensor& b,
                  const Scalar& alpha) {
  return op.ignores_nan && is_zero(alpha) ? no_product(op, name, a, b)
                                          : op.multiply(op, name, a, b);
}

Tensor sum(const SumOp& op, const Tensor& self, const Tensor& a, const Tensor& b,
           const Scalar& beta, const Scalar& alpha) {
  check_devices(op.name, {{"self", self}, {op.first, a}, {op.second, b}});
  const Factors by(op.name, self, a, b, beta, alpha);
  Tensor product = multiplied(op, op.name, a, b, by.alpha);
  check_broadcasts_to(op.name, self.sizes(), product.sizes());
  return add_self(op.name, std::move(product), self, by.beta, by.alpha);
}

const Tensor& sum_(const SumOp& op, const Tensor& self, const Tensor& a, const Tensor& b,
                   const Scalar& beta, const Scalar& alpha) {
  check_devices(op.in_place, {{"self", self}, {op.first, a}, {op.second, b}}, DeviceRule::in_place);
  const Factors by(op.in_place, self, a, b, beta, alpha);
  return add_in_place(op.in_place, self, multiplied(op, op.in_place, a, b, by.alpha), by.beta,
                      by.alpha);
}

// a: [(B,)M,K], b: [(B,)K,N] or [K].
void check_factors(const SumOp& op, const char* name, const Tensor& a, int64_t a_dim,
                   const Tensor& b, int64_t b_dim) {
  const auto text = [](int64_t dim) {
    return dim == 1 ? "a vector" : dim == 2 ? "a matrix" : "a batch of matrices";
  };
  expect_dim(name, op.first, a, a_dim, text(a_dim));
  expect_dim(name, op.second, b, b_dim, text(b_dim));
  const bool same_batch = a_dim < 3 || a.size(0) == b.size(0);
  if (same_batch && a.size(-1) == b.size(b_dim == 1 ? 0 : -2)) return;
  throw ShapeError(fmt::format("{}: expected inner sizes that agree, got {} and {}", name,
                               str(a.sizes()), str(b.sizes())));
}

Tensor multiply_matrices(const SumOp& op, const char* name, const Tensor& a, const Tensor& b) {
  check_factors(op, name, a, 2, b, 2);
  return mm(a, b);
}

Tensor multiply_vector(const SumOp& op, const char* name, const Tensor& a, const Tensor& b) {
  check_factors(op, name, a, 2, b, 1);
  return mv(a, b);
}

Tensor multiply_batches(const SumOp& op, const char* name, const Tensor& a, const Tensor& b) {
  check_factors(op, name, a, 3, b, 3);
  return bmm(a, b);
}

// Summing over the batch is one product with the batch merged into the inner dim.
Tensor multiply_and_sum(const SumOp& op, const char* name, const Tensor& a, const Tensor& b) {
  check_factors(op, name, a, 3, b, 3);
  const int64_t k = a.size(0) * a.size(2);
  return mm(reshape(transpose(a, 0, 1), {a.size(1), k}), reshape(b, {k, b.size(2)}));
}

constexpr SumOp kAddmm{"addmm", "addmm_", "mat1", "mat2", multiply_matrices};
constexpr SumOp kAddmv{"addmv", "addmv_", "mat", "vec", multiply_vector};
constexpr SumOp kBaddbmm{"baddbmm", "baddbmm_", "batch1", "batch2", multiply_batches, false};
constexpr SumOp kAddbmm{"addbmm", "addbmm_", "batch1", "batch2", multiply_and_sum};

Tensor outer_product(const char* op, const char* first, const Tensor& a, const char* second,
                     const Tensor& b) {
  expect_dim(op, first, a, 1, "a vector");
  expect_dim(op, second, b, 1, "a vector");
  return mul(unsqueeze(a, 1), b);
}

// Return addr's product in the result's dtype. For bool, non-zero is true.
Tensor addr_product(const char* op, const Tensor& self, const Tensor& vec1, const Tensor& vec2,
                    const Scalar& beta, const Scalar& alpha) {
  expect_defined(op, "self", self);
  const Tensor product = outer_product(op, "vec1", vec1, "vec2", vec2);
  const DType dtype = result_type(self, product);
  if (dtype != kBool) check_numbers(op, dtype, beta, alpha);
  return product.to(dtype);
}

Scalar as_bool(const Scalar& s) { return Scalar(s.to<double>() != 0); }

}  // namespace

#define AMBIT_SUM(name, kOp, a, b)                                                                \
  Tensor name(const Tensor& self, const Tensor& a, const Tensor& b, const Scalar& beta,           \
              const Scalar& alpha) {                                                              \
    AMBIT_AUTOCAST(name, self, a, b, beta, alpha)                                                 \
    return sum(kOp, self, a, b, beta, alpha);                                                     \
  }                                                                                               \
  const Tensor& name##_(const Tensor& self, const Tensor& a, const Tensor& b, const Scalar& beta, \
                        const Scalar& alpha) {                                                    \
    return sum_(kOp, self, a, b, beta, alpha);                                                    \
  }
AMBIT_SUM(addmm, kAddmm, mat1, mat2)
AMBIT_SUM(addmv, kAddmv, mat, vec)
AMBIT_SUM(baddbmm, kBaddbmm, batch1, batch2)
AMBIT_SUM(addbmm, kAddbmm, batch1, batch2)
#undef AMBIT_SUM

Tensor _addmm_activation(const Tensor& self, const Tensor& mat1, const Tensor& mat2,
                         const Scalar& beta, const Scalar& alpha, bool use_gelu) {
  AMBIT_AUTOCAST(_addmm_activation, self, mat1, mat2, beta, alpha, use_gelu)
  constexpr SumOp kOp{"_addmm_activation", "", "mat1", "mat2", multiply_matrices};
  check_devices(kOp.name, {{"self", self}, {"mat1", mat1}, {"mat2", mat2}});
  const Factors by(kOp.name, self, mat1, mat2, beta, alpha);
  check_factors(kOp, kOp.name, mat1, 2, mat2, 2);
  const bool is_layer = self.sizes() == IntArrayRef{mat2.size(1)} && is_one(by.beta) &&
                        is_one(by.alpha) && self.is_floating_point();
  if (is_layer) {
    return linear_map(mat1, mat2.t(), self, use_gelu ? UnaryOp::gelu : UnaryOp::relu);
  }
  const Tensor total = sum(kOp, self, mat1, mat2, by.beta, by.alpha);
  return use_gelu ? gelu(total) : relu(total);
}

Tensor outer(const Tensor& self, const Tensor& vec2) {
  check_devices("outer", {{"self", self}, {"vec2", vec2}});
  return outer_product("outer", "self", self, "vec2", vec2);
}

Tensor ger(const Tensor& self, const Tensor& vec2) {
  check_devices("ger", {{"self", self}, {"vec2", vec2}});
  return outer_product("ger", "self", self, "vec2", vec2);
}

Tensor addr(const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta,
            const Scalar& alpha) {
  AMBIT_AUTOCAST(addr, self, vec1, vec2, beta, alpha)
  check_devices("addr", {{"self", self}, {"vec1", vec1}, {"vec2", vec2}});
  Tensor product = addr_product("addr", self, vec1, vec2, beta, alpha);
  check_broadcasts_to("addr", self.sizes(), product.sizes());
  if (product.dtype() != kBool) return add_self("addr", std::move(product), self, beta, alpha);
  product = mul(product, as_bool(alpha));
  return is_zero(beta) ? product : logical_or(product, self);
}

const Tensor& addr_(const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta,
                    const Scalar& alpha) {
  check_devices("addr_", {{"self", self}, {"vec1", vec1}, {"vec2", vec2}}, DeviceRule::in_place);
  const Tensor product = addr_product("addr_", self, vec1, vec2, beta, alpha);
  check_casts_to("addr_", product.dtype(), self.dtype());
  if (product.dtype() != kBool) return add_in_place("addr_", self, product, beta, alpha);
  return add_in_place("addr_", self, product, as_bool(beta), as_bool(alpha));
}

}  // namespace ambit
