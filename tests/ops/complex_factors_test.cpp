// Factors of complex matrices reproduce them; errors and singular matrices. PyTorch's values are in
// complex_linalg_test.cpp.
#include <ambit/ambit.h>

#include <complex>
#include <limits>

#include "tests/devices.h"
#include "tests/expected.h"

using namespace ambit;

namespace {

// Factors are those of a matrix within p(n) epsilon ||A||, p(n) about n in practice; 8 for the
// constant.
void check_near(const Tensor& got, const Tensor& want, int64_t n) {
  REQUIRE(got.sizes() == want.sizes());
  if (want.numel() == 0) return;
  const double epsilon = real_dtype(want.dtype()) == kFloat64
                             ? std::numeric_limits<double>::epsilon()
                             : static_cast<double>(std::numeric_limits<float>::epsilon());
  const double size = std::max(1.0, want.abs().max().item<double>());
  const double bound = 8 * static_cast<double>(std::max<int64_t>(n, 8)) * epsilon * size;
  CHECK((got - want).abs().max().item<double>() <= bound);
}
void check_unitary(const Tensor& q) {
  const Tensor product = matmul(adjoint(q), q);
  check_near(product, eye(q.size(-1), q.options()).expand(product.sizes()), q.size(-2));
}

void check_factors_of_any(const Tensor& x) {
  const int64_t m = x.size(-2), n = x.size(-1), k = std::min(m, n);
  const auto [p, l, u] = linalg_lu(x);
  check_near(matmul(p, matmul(l, u)), x, m + n);
  for (const char* mode : {"reduced", "complete"}) {
    const auto [q, r] = linalg_qr(x, mode);
    check_unitary(q);
    check_near(matmul(q, r), x, m + n);
  }
  CHECK(std::get<1>(linalg_qr(x, "r")).equal(std::get<1>(linalg_qr(x))));
  for (const bool full : {false, true}) {
    const auto [left, s, right] = linalg_svd(x, full);
    check_unitary(left);
    check_unitary(adjoint(right));
    CHECK(s.dtype() == real_dtype(x.dtype()));
    const Tensor scaled = left.narrow(-1, 0, k) * s.unsqueeze(-2);
    check_near(matmul(scaled, right.narrow(-2, 0, k)), x, m + n);
    check_near(linalg_svdvals(x), s, m + n);
  }
  if (m < n) return;
  const auto [a, tau] = geqrf(x);
  const Tensor q = orgqr(a, tau), r = triu(a.narrow(-2, 0, n));
  check_unitary(q);
  check_near(matmul(q, r), x, m + n);
  const Tensor full = cat({r, zeros_like(x.narrow(-2, n, m - n))}, -2);
  check_near(ormqr(a, tau, full), x, m + n);
  check_near(ormqr(a, tau, x, true, true), full, m + n);
  check_near(adjoint(ormqr(a, tau, adjoint(full), false, true)), x, m + n);
  const auto [unitary, h] = linalg_polar(x);
  check_unitary(unitary);
  check_near(matmul(unitary, h), x, m + n);
}

// A pseudo-inverse X of A: A X A = A, X A X = X, and A X and X A are Hermitian.
void check_pseudo_inverse(const Tensor& a, const Tensor& x) {
  const int64_t n = a.size(-2) + a.size(-1);
  const Tensor left = matmul(a, x), right = matmul(x, a);
  check_near(matmul(left, a), a, n);
  check_near(matmul(right, x), x, n);
  check_near(adjoint(left), left, n);
  check_near(adjoint(right), right, n);
}

void check_factors_of_square(const Tensor& x) {
  const int64_t n = x.size(-1);
  const Tensor symmetric = x + adjoint(x);
  for (const char* half : {"L", "U"}) {
    // The other half is not read.
    const Tensor read = *half == 'L' ? tril(symmetric) : triu(symmetric);
    const auto [values, v] = linalg_eigh(read, half);
    check_unitary(v);
    check_near(matmul(v * values.unsqueeze(-2), adjoint(v)), symmetric, n);
    check_near(linalg_eigvalsh(read, half), values, n);
  }
  const Tensor one = eye(n, x.options()).expand(x.sizes());
  const Tensor positive = matmul(x, adjoint(x)) + one * n;  // condition number 5
  const Tensor lower = linalg_cholesky(tril(positive));
  check_near(matmul(lower, adjoint(lower)), positive, n);
  check_near(adjoint(linalg_cholesky(triu(positive), true)), lower, n);
  check_near(matmul(positive, linalg_inv(positive)), one, n);
  check_near(cholesky_inverse(lower), linalg_inv(positive), n);
  check_near(matmul(positive, cholesky_solve(x, lower)), x, n);
}

}  // namespace

TEST_CASE("factors of complex matrices reproduce them") {
  for_each_device([](Device d) {
    manual_seed(4);
    for (const DType dtype : {kComplexFloat, kComplexDouble}) {
      for (const Dims& sizes : std::vector<Dims>{{5, 5},
                                                 {3, 7, 4},
                                                 {2, 4, 7},
                                                 {1, 1},
                                                 {2, 30, 33},
                                                 {33, 33},
                                                 {0, 3, 3},
                                                 {2, 0, 0},
                                                 {2, 3, 0}}) {
        INFO(name(dtype), " ", str(IntArrayRef(sizes)));
        const Tensor x = randn(sizes, TensorOptions(dtype).device(d));
        check_factors_of_any(x);
        if (x.size(-2) == x.size(-1)) check_factors_of_square(x);
      }
    }
  });
}

TEST_CASE("complex matrices of any rank have pseudo-inverses") {
  for_each_device([](Device d) {
    manual_seed(5);
    for (const DType dtype : {kComplexFloat, kComplexDouble}) {
      const TensorOptions options = TensorOptions(dtype).device(d);
      for (const Dims& sizes : std::vector<Dims>{{5, 5}, {2, 7, 4}, {2, 4, 7}, {1, 1}, {0, 3, 2}}) {
        const int64_t m = sizes[sizes.size() - 2], n = sizes[sizes.size() - 1];
        for (int64_t rank = 0; rank <= std::min(m, n); ++rank) {
          INFO(name(dtype), " ", str(IntArrayRef(sizes)), " rank ", rank);
          const auto [u, s, vh] = linalg_svd(randn(sizes, options), false);
          // Singular values are 1, so that the error is that of a few products.
          const Tensor a = matmul(u.narrow(-1, 0, rank), vh.narrow(-2, 0, rank));
          const Tensor x = linalg_pinv(a);
          check_pseudo_inverse(a, x);
          check_near(x, adjoint(a), m + n);
          CHECK((linalg_matrix_rank(a) == rank).all().item<bool>());
          const Tensor b = randn(sizes, options).narrow(-1, 0, 1);
          for (const char* driver : {"gelsy", "gelsd", "gelss"}) {
            check_near(std::get<0>(linalg_lstsq(a, b, {}, driver)), matmul(x, b), m + n);
          }
          if (rank == std::min(m, n)) {
            check_near(std::get<0>(linalg_lstsq(a, b, {}, "gels")), matmul(x, b), m + n);
          }
          if (m != n) continue;
          const Tensor h = matmul(u.narrow(-1, 0, rank), adjoint(u.narrow(-1, 0, rank)));
          check_near(linalg_pinv(h, 1e-3, true), h, n);
          CHECK((linalg_matrix_rank(h, 1e-3, true) == rank).all().item<bool>());
        }
      }
    }
  });
}

TEST_CASE("complex matrices have the errors of real ones") {
  for_each_device([](Device d) {
    const TensorOptions options = TensorOptions(kComplexFloat).device(d);
    const Tensor batch = eye(3, options).repeat({3, 1, 1}) * std::complex<double>(0, 1);
    batch[1].fill_(1);
    CHECK_THROWS_WITH_AS(linalg_inv(batch),
                         "linalg_inv: expected invertible matrices, got a 0 as number 2 of U's "
                         "diagonal in matrix 1 of the batch",
                         LinAlgError);
    CHECK_THROWS_AS(linalg_solve(batch, batch), LinAlgError);
    CHECK_THROWS_AS(linalg_cholesky(batch), LinAlgError);
    CHECK_THROWS_AS(linalg_svd(batch * NAN), LinAlgError);
    CHECK_THROWS_AS(linalg_inv(batch.narrow(-1, 0, 2)), ShapeError);
    CHECK_THROWS_AS(linalg_solve(batch, ones({3, 3, 3}, d)), DTypeError);
    CHECK_THROWS_AS(linalg_ldl_factor(batch), DTypeError);
    const auto [f, p] = linalg_lu_factor(batch);
    CHECK_THROWS_AS(linalg_lu_solve(f, p + 3, batch), IndexError);
    // L.slogdet(torch.zeros(2, 2, dtype=torch.complex64))
    const auto [sign, log_of] = linalg_slogdet(zeros({2, 2}, options));
    CHECK(sign.dtype() == kComplexFloat);
    check_values(abs(sign), {}, {0});
    check_values(log_of, {}, {-INFINITY});
    const Tensor x = randn({3, 3}, options).requires_grad_();
    const Tensor by_phase = imag(std::get<0>(linalg_svd(x, false))).sum();
    CHECK_THROWS_AS(by_phase.backward(), AutogradError);
  });
}

TEST_CASE("the determinant of a singular complex matrix has a gradient") {
  for_each_device([](Device d) {
    using C = std::complex<double>;
    const Tensor x = tensor({C(1), C(0, 1), C(0, 1), C(-1)}, d).view({2, 2}).requires_grad_();
    real(linalg_det(x)).backward();
    // The conjugates of the cofactors.
    check_values(view_as_real(x.grad()), {2, 2, 2}, {-1, 0, 0, 1, 0, 1, 1, 0}, 1e-11);
  });
}
