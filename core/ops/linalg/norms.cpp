// Norms of vectors and matrices, and the condition number.
#include <ambit/backend/kernels.h>
#include <ambit/detail/autocast.h>
#include <ambit/detail/by_float32.h>
#include <ambit/error.h>
#include <ambit/ops/complex.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/linalg.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "core/ops/operands/expect.h"
#include "matrices.h"

namespace ambit {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Tensor converted(const char* op, const Tensor& x, std::optional<DType> dtype) {
  expect_defined(op, "self", x);
  expect_inexact(op, x);
  if (dtype && is_complex(*dtype) != x.is_complex()) throw_dtypes_differ(op, x.dtype(), *dtype);
  if (dtype && !x.is_complex() && !is_floating_point(*dtype)) throw_not_floating(op, *dtype);
  return dtype ? x.to(*dtype) : x;
}

Dims all_dims(const Tensor& x) {
  Dims dims(static_cast<size_t>(x.dim()));
  std::iota(dims.begin(), dims.end(), int64_t{0});
  return dims;
}

Tensor vector_norm(const char* op, const Tensor& x, const Scalar& ord, IntArrayRef dims,
                   bool keepdim) {
  const Dims over = dims.empty() ? all_dims(x) : Dims(dims);
  const double p = ord.to<double>();
  if (std::isinf(p) || p < 0) {
    for (const int64_t d : over) {
      if (x.dim() == 0 || x.size(d) != 0) continue;
      throw ShapeError(fmt::format("{}: expected elements for the norm {}, got shape {}", op, p,
                                   str(x.sizes())));
    }
  }
  if (over.empty()) return norm(unsqueeze(x, 0), p, {0});  // for 0 dims, |x|
  return norm(x, p, over, keepdim);
}

/// Moves the two dims to the end, and restores them if kept.
struct MatrixDims {
  MatrixDims(const char* op, const Tensor& x, IntArrayRef dim) {
    if (x.dim() < 2) throw_dim(op, "self", "a matrix, or a batch of them", x.sizes());
    if (dim.size() != 2) {
      throw ShapeError(fmt::format("{}: expected two dims, got {}", op, str(dim)));
    }
    first = wrap_dim(op, dim[0], x.dim());
    second = wrap_dim(op, dim[1], x.dim());
    if (first == second) {
      throw ShapeError(fmt::format("{}: expected two different dims, got {}", op, str(dim)));
    }
    Dims order;
    for (int64_t d = 0; d < x.dim(); ++d) {
      if (d != first && d != second) order.push_back(d);
    }
    order.push_back(first);
    order.push_back(second);
    matrices = permute(x, order);
  }
  Tensor kept(const Tensor& y, bool keepdim) const {
    if (!keepdim) return y;
    return unsqueeze(unsqueeze(y, std::min(first, second)), std::max(first, second));
  }
  Tensor matrices;
  int64_t first, second;
};

// Return the norms of matrices x [...,M,N]; p is one of +-1, +-2, +-inf.
Tensor norm_of(const char* op, const Tensor& x, double p) {
  const double size = std::abs(p);
  if (size != 1 && size != 2 && !std::isinf(p)) {
    throw Error(fmt::format("{}: expected the order 1, -1, 2, -2, inf or -inf, got {}", op, p));
  }
  if (x.size(-2) == 0 || x.size(-1) == 0) {
    // The minimum over no columns, rows or singular values is undefined; other norms are 0, as in
    // PyTorch.
    const bool has_least = size != 2 && x.size(size == 1 ? -1 : -2) > 0;
    if (p < 0 && !has_least) {
      throw ShapeError(fmt::format("{}: expected elements for the order {}, got shape {}", op, p,
                                   str(x.sizes())));
    }
    return sum(abs(x), {-2, -1});
  }
  // Sums and singular values are not negative, so a vector norm returns their extremes.
  const Tensor parts = size == 2 ? linalg_svdvals(x) : norm(x, 1, {size == 1 ? -2 : -1});
  return vector_norm(op, parts, std::copysign(kInfinity, p), {-1}, false);
}

Tensor matrix_norm(const char* op, const Tensor& self, double p, IntArrayRef dim, bool keepdim,
                   std::optional<DType> dtype) {
  const MatrixDims dims(op, converted(op, self, dtype), dim);
  return dims.kept(norm_of(op, dims.matrices, p), keepdim);
}

Tensor matrix_norm(const char* op, const Tensor& self, std::string_view ord, IntArrayRef dim,
                   bool keepdim, std::optional<DType> dtype) {
  const MatrixDims dims(op, converted(op, self, dtype), dim);
  if (ord == "fro") return dims.kept(vector_norm(op, dims.matrices, 2, {-2, -1}, false), keepdim);
  if (ord == "nuc") return dims.kept(sum(linalg_svdvals(dims.matrices), IntArrayRef(-1)), keepdim);
  throw Error(fmt::format("{}: expected the order fro or nuc, got \"{}\"", op, ord));
}

}  // namespace

Tensor linalg_vector_norm(const Tensor& self, const Scalar& ord, OptionalIntArrayRef dim,
                          bool keepdim, std::optional<DType> dtype) {
  AMBIT_AUTOCAST_AS("norm", linalg_vector_norm, self, ord, dim, keepdim, dtype)
  constexpr const char* kOp = "linalg_vector_norm";
  return vector_norm(kOp, converted(kOp, self, dtype), ord, dim.value_or({}), keepdim);
}

Tensor linalg_matrix_norm(const Tensor& self, const Scalar& ord, IntArrayRef dim, bool keepdim,
                          std::optional<DType> dtype) {
  AMBIT_AUTOCAST_AS("norm", linalg_matrix_norm, self, ord, dim, keepdim, dtype)
  return matrix_norm("linalg_matrix_norm", self, ord.to<double>(), dim, keepdim, dtype);
}

Tensor linalg_matrix_norm(const Tensor& self, std::string_view ord, IntArrayRef dim, bool keepdim,
                          std::optional<DType> dtype) {
  AMBIT_AUTOCAST_AS("norm", linalg_matrix_norm, self, ord, dim, keepdim, dtype)
  return matrix_norm("linalg_matrix_norm", self, ord, dim, keepdim, dtype);
}

Tensor linalg_norm(const Tensor& self, const std::optional<Scalar>& ord, OptionalIntArrayRef dim,
                   bool keepdim, std::optional<DType> dtype) {
  AMBIT_AUTOCAST_AS("norm", linalg_norm, self, ord, dim, keepdim, dtype)
  constexpr const char* kOp = "linalg_norm";
  const Tensor x = converted(kOp, self, dtype);
  if (ord && !dim && x.dim() != 1 && x.dim() != 2) {
    throw_dim(kOp, "self", "a vector or a matrix if an order but no dim is given", x.sizes());
  }
  if (!ord || (dim ? dim->size() : static_cast<size_t>(x.dim())) == 1) {
    return vector_norm(kOp, x, ord.value_or(2), dim.value_or({}), keepdim);
  }
  return matrix_norm(kOp, x, ord->to<double>(), dim.value_or({-2, -1}), keepdim, std::nullopt);
}

Tensor linalg_norm(const Tensor& self, std::string_view ord, OptionalIntArrayRef dim, bool keepdim,
                   std::optional<DType> dtype) {
  AMBIT_AUTOCAST_AS("norm", linalg_norm, self, ord, dim, keepdim, dtype)
  return matrix_norm("linalg_norm", self, ord, dim.value_or({-2, -1}), keepdim, dtype);
}

namespace {

// ||A|| ||A^-1||; inf for a singular matrix.
template <class Ord>
Tensor cond_by_inverse(const char* op, const Tensor& self, const Ord& ord) {
  expect_square(op, "self", self, Elements::any);
  const auto [inverse, info] = linalg_inv_ex(self);
  const auto norm_by = [&](const Tensor& x) {
    return matrix_norm(op, x, ord, {-2, -1}, false, std::nullopt);
  };
  return where(info == Scalar(0), norm_by(self) * norm_by(inverse), Scalar(kInfinity));
}

}  // namespace

Tensor linalg_cond(const Tensor& self, const std::optional<Scalar>& p) {
  constexpr const char* kOp = "linalg_cond";
  expect_matrices(kOp, "self", self, Elements::any);
  if (self.numel() == 0) return zeros(batch_of(self), real_options(self));
  const double ord = p ? p->to<double>() : 2;
  if (std::abs(ord) != 2) return cond_by_inverse(kOp, self, ord);
  const Tensor s = linalg_svdvals(self), largest = select(s, -1, 0), smallest = select(s, -1, -1);
  return ord > 0 ? largest / smallest : smallest / largest;
}

Tensor linalg_cond(const Tensor& self, std::string_view p) {
  constexpr const char* kOp = "linalg_cond";
  expect_matrices(kOp, "self", self, Elements::any);
  if (self.numel() == 0) return zeros(batch_of(self), real_options(self));
  return cond_by_inverse(kOp, self, p);
}

Tensor linalg_vecdot(const Tensor& x, const Tensor& y, int64_t dim) {
  AMBIT_AUTOCAST(linalg_vecdot, x, y, dim)
  check_devices("linalg_vecdot", {{"x", x}, {"y", y}});
  expect_same_dtype("linalg_vecdot", x, y);
  if (is_reduced_floating(x.dtype())) return by_float32(x.dtype(), linalg_vecdot, x, y, dim);
  return sum(mul(conj(x), y), IntArrayRef(dim));
}

}  // namespace ambit
