// Functions of singular values that need no inverse: pseudo-inverse, rank, least squares.
#include <ambit/backend/kernels.h>
#include <ambit/detail/record.h>
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
#include <limits>

#include "core/ops/operands/expect.h"
#include "factors.h"
#include "matrices.h"

namespace ambit {
namespace {

/// The threshold below which singular values count as 0: max(atol, rtol * the largest), [] or [...]
/// each.
struct Tolerance {
  Tensor atol, rtol;
};

double default_rtol(const Tensor& A) {
  const double epsilon = real_dtype(A.dtype()) == kFloat64 ? std::numeric_limits<double>::epsilon()
                                                           : std::numeric_limits<float>::epsilon();
  return epsilon * static_cast<double>(std::max(A.size(-2), A.size(-1)));
}

Tolerance tolerance(const Tensor& A, std::optional<double> atol, std::optional<double> rtol) {
  const double relative = rtol ? *rtol : atol && *atol > 0 ? 0 : default_rtol(A);
  const TensorOptions options = real_options(A);
  return {scalar_tensor(atol.value_or(0), options), scalar_tensor(relative, options)};
}

/// An optional tolerance argument.
struct Given {
  const char* name;
  const std::optional<Tensor>& tensor;
};
void check_tolerance(const char* op, const Tensor& self, const Given& given) {
  if (!given.tensor) return;
  check_devices(op, {{"self", self}, {given.name, *given.tensor}});
  expect_defined(op, given.name, *given.tensor);
  expect_real(op, *given.tensor);
}

void expect_kind(const char* op, const Tensor& A, bool hermitian) {
  if (hermitian) {
    expect_square(op, "self", A, Elements::any);
  } else {
    expect_matrices(op, "self", A, Elements::any);
  }
}

Tolerance tolerance_of(const Tensor& A, const std::optional<Tensor>& atol,
                       const std::optional<Tensor>& rtol) {
  const auto as_given = [&](const Tensor& t) { return t.detach().to(real_options(A)); };
  Tolerance out = tolerance(A, std::nullopt, std::nullopt);
  if (atol) out.atol = as_given(*atol);
  if (rtol) {
    out.rtol = as_given(*rtol);
  } else if (atol) {
    out.rtol = where(out.atol > Scalar(0), Scalar(0), out.rtol);
  }
  return out;
}

/// Return which of the singular values s [...,K] are above the tolerance.
Tensor counts(const Tensor& s, const Tolerance& t) {
  if (s.size(-1) == 0) return s > Scalar(0);
  const Tensor largest = std::get<0>(max(s, -1, true));
  return s > maximum(unsqueeze(t.atol, -1), unsqueeze(t.rtol, -1) * largest);
}

/// out [...,N,M], the singular values s [...,K], and whether each of them exceeds the tolerance.
struct PseudoInverse {
  Tensor out, s, counted;
};

PseudoInverse pseudo_inverse(const char* op, const Tensor& A, const Tolerance& t, bool hermitian) {
  const NoGradGuard no_grad;
  if (hermitian) {
    const EighFactors f = factor_eigh(op, A, false, true);
    const Tensor s = abs(f.values), counted = counts(s, t);
    const Tensor inverses = where(counted, 1 / f.values, Scalar(0));
    return {matmul(f.vectors * unsqueeze(inverses, -2), adjoint(f.vectors)), s, counted};
  }
  const SvdFactors f = factor_svd(op, A, false, true);
  const Tensor counted = counts(f.s, t), inverses = where(counted, 1 / f.s, Scalar(0));
  return {matmul(adjoint(f.vh) * unsqueeze(inverses, -2), adjoint(f.u)), f.s, counted};
}

// With P = out, H = g^H:
//   M <= N, K = H P:  gA = -(P K)^H + K P^H - A P K P^H + P^H P (H - K A)
//   M > N,  K = P H:  gA = -(K P)^H + (H - A K) P P^H + P^H K - P^H K P A
// Source: Golub & Pereyra 1973; PyTorch's pinv_backward.
Tensor pinv_grad(const Tensor& g, const Tensor& A, const Tensor& P) {
  const Tensor H = adjoint(g), Ph = adjoint(P);
  if (A.size(-2) <= A.size(-1)) {
    const Tensor K = matmul(H, P), KPh = matmul(K, Ph);
    return KPh - adjoint(matmul(P, K)) - matmul(matmul(A, P), KPh) +
           matmul(matmul(Ph, P), H - matmul(K, A));
  }
  const Tensor K = matmul(P, H), PhK = matmul(Ph, K);
  return matmul(matmul(H - matmul(A, K), P), Ph) - adjoint(matmul(K, P)) + PhK -
         matmul(matmul(PhK, P), A);
}

PseudoInverse recorded_pinv(const char* op, const Tensor& A, const Tolerance& t, bool hermitian) {
  PseudoInverse p = pseudo_inverse(op, A, t, hermitian);
  p.out = record(op, p.out, wrt(A, [a = saved(A), y = saved_output(p.out)](const Tensor& g) {
                   return pinv_grad(g, a(), y());
                 }));
  return p;
}

Tensor rank_of(const char* op, const Tensor& A, const Tolerance& t, bool hermitian) {
  const NoGradGuard no_grad;
  const Tensor s =
      hermitian ? abs(factor_eigh(op, A, false, false).values) : factor_svd(op, A, false, false).s;
  return sum(counts(s, t), IntArrayRef(-1));
}

}  // namespace

Tensor linalg_pinv(const Tensor& self, std::optional<double> atol, std::optional<double> rtol,
                   bool hermitian) {
  expect_kind("linalg_pinv", self, hermitian);
  return recorded_pinv("linalg_pinv", self, tolerance(self, atol, rtol), hermitian).out;
}
Tensor linalg_pinv(const Tensor& self, double rcond, bool hermitian) {
  return linalg_pinv(self, std::optional<double>(0), std::optional<double>(rcond), hermitian);
}
namespace {

Tensor pinv_by_tensors(const Tensor& self, const Given& atol, const Given& rtol, bool hermitian) {
  constexpr const char* kOp = "linalg_pinv";
  check_tolerance(kOp, self, atol);
  check_tolerance(kOp, self, rtol);
  expect_kind(kOp, self, hermitian);
  return recorded_pinv(kOp, self, tolerance_of(self, atol.tensor, rtol.tensor), hermitian).out;
}

Tensor rank_by_tensors(const Tensor& self, const Given& atol, const Given& rtol, bool hermitian) {
  constexpr const char* kOp = "linalg_matrix_rank";
  check_tolerance(kOp, self, atol);
  check_tolerance(kOp, self, rtol);
  expect_kind(kOp, self, hermitian);
  return rank_of(kOp, self, tolerance_of(self, atol.tensor, rtol.tensor), hermitian);
}

}  // namespace

Tensor linalg_pinv(const Tensor& self, const std::optional<Tensor>& atol,
                   const std::optional<Tensor>& rtol, bool hermitian) {
  return pinv_by_tensors(self, {"atol", atol}, {"rtol", rtol}, hermitian);
}
Tensor linalg_pinv(const Tensor& self, const Tensor& rcond, bool hermitian) {
  const std::optional<Tensor> none, given(rcond);
  return pinv_by_tensors(self, {"atol", none}, {"rcond", given}, hermitian);
}
Tensor pinverse(const Tensor& self, double rcond) {
  expect_kind("pinverse", self, false);
  return recorded_pinv("pinverse", self, tolerance(self, 0, rcond), false).out;
}

Tensor linalg_matrix_rank(const Tensor& self, std::optional<double> atol,
                          std::optional<double> rtol, bool hermitian) {
  expect_kind("linalg_matrix_rank", self, hermitian);
  return rank_of("linalg_matrix_rank", self, tolerance(self, atol, rtol), hermitian);
}
Tensor linalg_matrix_rank(const Tensor& self, double tol, bool hermitian) {
  return linalg_matrix_rank(self, std::optional<double>(tol), std::optional<double>(0), hermitian);
}
Tensor linalg_matrix_rank(const Tensor& self, const std::optional<Tensor>& atol,
                          const std::optional<Tensor>& rtol, bool hermitian) {
  return rank_by_tensors(self, {"atol", atol}, {"rtol", rtol}, hermitian);
}
Tensor linalg_matrix_rank(const Tensor& self, const Tensor& tol, bool hermitian) {
  const std::optional<Tensor> given(tol);
  check_tolerance("linalg_matrix_rank", self, {"tol", given});
  expect_kind("linalg_matrix_rank", self, hermitian);
  const std::optional<Tensor> zero(zeros({}, real_options(self)));
  return rank_by_tensors(self, {"tol", given}, {"rtol", zero}, hermitian);
}

namespace {

// For full rank: if A is tall, A = Q R and X = R^-1 Q^H B; if A is wide, A^H = Q R and X = Q R^-H
// B, the solution of minimum norm.
Tensor solve_by_qr(const Tensor& A, const Tensor& B) {
  if (A.size(-2) >= A.size(-1)) {
    const auto [q, r] = linalg_qr(A);
    return linalg_solve_triangular(r, matmul(adjoint(q), B), /*upper=*/true);
  }
  const auto [q, r] = linalg_qr(adjoint(A));
  return matmul(q, linalg_solve_triangular(adjoint(r), B, /*upper=*/false));
}

void expect_right_side(const char* op, const Tensor& A, const Tensor& B, bool vector) {
  const bool fits = B.dim() > 0 && (vector ? B.sizes().back() : B.size(-2)) == A.size(-2);
  if (fits) return;
  throw ShapeError(
      fmt::format("{}: expected b of {} rows, got shape {}", op, A.size(-2), str(B.sizes())));
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor, Tensor> linalg_lstsq(const Tensor& self, const Tensor& b,
                                                        std::optional<double> rcond,
                                                        std::optional<std::string_view> driver) {
  constexpr const char* kOp = "linalg_lstsq";
  check_devices(kOp, {{"self", self}, {"b", b}});
  expect_kind(kOp, self, false);
  expect_dtype(kOp, "b", b, self.dtype());
  const std::string_view by = driver.value_or("gelsy");
  if (by != "gels" && by != "gelsy" && by != "gelsd" && by != "gelss") {
    throw Error(
        fmt::format("{}: expected the driver gels, gelsy, gelsd or gelss, got \"{}\"", kOp, by));
  }
  const int64_t m = self.size(-2), n = self.size(-1);
  const IntArrayRef a = self.sizes();
  const bool vector = b.dim() == 1 || b.sizes() == IntArrayRef(a.data(), a.size() - 1);
  expect_right_side(kOp, self, b, vector);
  const Tensor B = vector ? unsqueeze(b, -1) : b;

  Tensor x, rank = empty({0}, TensorOptions(kInt64).device(self.device()));
  Tensor residuals = empty({0}, real_options(self)), values = residuals;
  bool full_rank = true;
  if (by == "gels") {
    x = solve_by_qr(self, B);
  } else {
    const Tolerance t = tolerance(self, 0, rcond.value_or(default_rtol(self)));
    const PseudoInverse p = recorded_pinv(kOp, self, t, false);
    x = matmul(p.out, B);
    rank = sum(p.counted, IntArrayRef(-1));
    if (by != "gelsy") values = p.s;
    full_rank = by != "gelsy" && !self.is_meta() && all(rank == Scalar(n)).item<bool>();
  }
  if (m > n && full_rank) {
    const Tensor d = matmul(self, x) - B;
    residuals = sum(d.is_complex() ? real(d * conj(d)) : square(d), IntArrayRef(-2));
  }
  return {vector ? squeeze(x, -1) : x, residuals, rank, values};
}

}  // namespace ambit
