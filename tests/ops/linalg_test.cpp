// Linear algebra: reconstructions, gradients, singular and empty matrices; linalg_values_test.cpp
// has PyTorch's values; `ambit conformance` tests the kernels of every device.
#include <ambit/ambit.h>
#include <ambit/backend/kernels.h>
#include <ambit/backend/reference.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <limits>

#include "composite.h"
#include "linalg_inputs.h"
#include "tests/autograd/gradcheck.h"
#include "tests/child_process.h"
#include "tests/devices.h"
#include "tests/expected.h"

using namespace ambit;
using composite_test::check_composite;
using composite_test::unwritten;
using namespace linalg_test;

namespace {

double epsilon(DType t) {
  return t == kFloat64 ? std::numeric_limits<double>::epsilon()
                       : static_cast<double>(std::numeric_limits<float>::epsilon());
}
// Factors are exact for a matrix that differs from A by at most p(n) epsilon ||A||. In practice
// p(n) is about n; the bound is 8 n.
void check_near(const Tensor& got, const Tensor& want, int64_t n) {
  REQUIRE(got.sizes() == want.sizes());
  const double size = std::max(1.0, want.abs().max().item<double>());
  const double bound = 8 * static_cast<double>(n) * epsilon(want.dtype()) * size;
  CHECK((got - want).abs().max().item<double>() <= bound);
}

}  // namespace

TEST_CASE("products of factors of large matrices equal the matrix") {
  manual_seed(5);
  for (const DType dtype : {kFloat32, kFloat64}) {
    for (const int64_t m : {256, 200}) {
      const int64_t n = 256;
      INFO(name(dtype), " of ", m, " rows");
      const TensorOptions options(dtype);
      const Tensor x = randn({m, n}, options), one = eye(m, options);
      const auto [p, l, u] = linalg_lu(x);
      check_near(matmul(matmul(p, l), u), x, n);
      const auto [q, r] = linalg_qr(x);
      check_near(matmul(q, r), x, n);
      check_near(matmul(mT(q), q), one, n);
      for (const bool full : {false, true}) {
        const auto [left, s, right] = linalg_svd(x, full);
        check_near(matmul(left * s, right.narrow(0, 0, m)), x, n);
        check_near(matmul(mT(left), left), one, n);
        check_near(matmul(right, mT(right)), eye(full ? n : m, options), n);
      }
      if (m != n) continue;
      const Tensor symmetric = x + mT(x), positive = matmul(x, mT(x)) / 256 + one;
      const auto [values, v] = linalg_eigh(symmetric);
      check_near(matmul(v * values, mT(v)), symmetric, n);
      check_near(linalg_eigvalsh(symmetric, "U"), values, n);
      const Tensor lower = linalg_cholesky(positive);
      check_near(matmul(lower, mT(lower)), positive, n);
      check_near(mT(linalg_cholesky(positive, true)), lower, n);
      check_near(matmul(linalg_inv(positive), positive), one, n);  // condition number 5
      check_near(matmul(positive, linalg_solve(positive, x)), x, n);
      check_near(std::get<1>(linalg_slogdet(positive)) / 256,
                 log(linalg_eigvalsh(positive)).sum() / 256, n);
    }
  }
}

TEST_CASE("batches of any dims are broadcast, and strided operands are accepted") {
  for_each_device([](Device d) {
    const Inputs o(d);
    const Tensor a = o.A.unsqueeze(1), b = o.B.unsqueeze(0);  // [2,1,3,3], [1,2,3,2]
    const Tensor x = linalg_solve(a, b);
    REQUIRE(x.sizes() == IntArrayRef{2, 2, 3, 2});
    CHECK(x[1][0].allclose(linalg_solve(o.A[1], o.B[0]), 1e-12, 1e-12));
    CHECK(matmul(mT(o.A), linalg_solve(mT(o.A), o.B)).allclose(o.B, 1e-12, 1e-12));
    CHECK(linalg_solve_triangular(mT(o.A), o.t, true)
              .allclose(linalg_solve_triangular(mT(o.A).contiguous(), o.t, true), 1e-12, 1e-12));
    CHECK(linalg_inv(a.expand({2, 4, 3, 3}))[1][2].allclose(linalg_inv(o.A[1]), 1e-12, 1e-12));
    CHECK(linalg_det(a).sizes() == IntArrayRef{2, 1});
    const auto [u, s, vh] = linalg_svd(o.W.transpose(0, 1), false);
    CHECK(matmul(u * s.unsqueeze(-2), vh).allclose(o.W.transpose(0, 1), 1e-12, 1e-12));
  });
}

TEST_CASE("singular and indefinite matrices are typed errors that name the matrix") {
  for_each_device([](Device d) {
    const Inputs o(d);
    const Tensor batch = stack({o.S[0], o.S[1], o.S[0]});
    batch[1].fill_(1);
    CHECK_THROWS_WITH_AS(linalg_inv(batch),
                         "linalg_inv: expected invertible matrices, got a 0 as number 2 of U's "
                         "diagonal in matrix 1 of the batch",
                         LinAlgError);
    CHECK_THROWS_WITH_AS(linalg_solve(batch[1], o.v),
                         "linalg_solve: expected invertible matrices, got a 0 as number 2 of U's "
                         "diagonal",
                         LinAlgError);
    CHECK_THROWS_WITH_AS(linalg_cholesky(batch - 0.5 * eye(3, f64(d))),
                         "linalg_cholesky: expected positive definite matrices, got a leading "
                         "minor of order 2 that is not positive in matrix 1 of the batch",
                         LinAlgError);
    CHECK_THROWS_AS(o.rank1.mul(0).inverse(), LinAlgError);
    CHECK_THROWS_AS(linalg_matrix_power(batch[1], -1), LinAlgError);
    CHECK_THROWS_AS(linalg_svd(batch * NAN), LinAlgError);
    CHECK(isnan(linalg_eigvalsh(batch * NAN)).all().item<bool>());  // as in PyTorch
    const auto info = [](const auto& t) { return std::get<1>(t).to(kFloat64); };
    check_values(info(linalg_inv_ex(batch)), {3}, {0, 2, 0});
    check_values(info(linalg_solve_ex(batch, o.v)), {3}, {0, 2, 0});
    check_values(info(linalg_cholesky_ex(batch[1] - 3)), {}, {1});
    check_values(std::get<2>(linalg_lu_factor_ex(batch)).to(kFloat64), {3}, {0, 2, 0});
    CHECK_THROWS_AS(linalg_inv_ex(batch, true), LinAlgError);
    CHECK_THROWS_AS(linalg_solve_ex(batch, o.v, true, true), LinAlgError);
    CHECK_THROWS_AS(linalg_cholesky_ex(batch * -1, false, true), LinAlgError);
    CHECK_THROWS_AS(linalg_lu_factor_ex(batch, true, true), LinAlgError);
    const auto solve_by_no_pivots = [&] {
      const Tensor x = linalg_lu_solve(o.LU, o.piv + 3, o.B);
      synchronize(d);  // some devices throw here
    };
    CHECK_THROWS_AS(solve_by_no_pivots(), IndexError);
    CHECK_THROWS_AS(lu_unpack(o.LU, o.piv - 3), IndexError);
    // L.cond of singular matrices
    check_values(linalg_cond(batch[1], 1), {}, {INFINITY});
  });
}

TEST_CASE("devices without kernels for linear algebra use the host's") {
  const Inputs o("reference");
  const auto batch = [](const Tensor& x) { return x.dim() == 2 ? x.unsqueeze(0) : x; };
  const Tensor matrices = unwritten({2, 3, 3}), sides = unwritten({2, 3, 2});
  const Tensor ints = unwritten({2, 3}).to(kInt32), info = unwritten({2}).to(kInt32);
  const Tensor row = unwritten({2, 3}), none;
  check_composite(kernels::lu_factor, {matrices, ints, info}, {o.A},
                  [](auto&& f, auto& y, const auto& x) { f(y[0], y[1], y[2], x[0]); });
  check_composite(kernels::lu_solve, {sides}, {o.LU, o.piv, o.B},
                  [](auto&& f, auto& y, const auto& x) { f(y[0], x[0], x[1], x[2], true); });
  check_composite(kernels::cholesky, {matrices, info}, {o.S},
                  [](auto&& f, auto& y, const auto& x) { f(y[0], y[1], x[0], true); });
  check_composite(kernels::qr, {unwritten({1, 4, 3}), unwritten({1, 3, 3})}, {batch(o.Tr)},
                  [](auto&& f, auto& y, const auto& x) { f(y[0], y[1], x[0]); });
  check_composite(kernels::qr, {none, unwritten({1, 3, 3})}, {batch(o.Tr)},
                  [](auto&& f, auto& y, const auto& x) { f(y[0], y[1], x[0]); });
  check_composite(kernels::eigh, {row, none, info}, {o.S},
                  [](auto&& f, auto& y, const auto& x) { f(y[0], y[1], y[2], x[0], false); });
  check_composite(kernels::eig, {unwritten({2, 3, 2}), none, info}, {o.A.unsqueeze(-1)},
                  [](auto&& f, auto& y, const auto& x) { f(y[0], y[1], y[2], x[0]); });
  check_composite(kernels::svd, {none, row, none, info}, {o.S},
                  [](auto&& f, auto& y, const auto& x) { f(y[0], y[1], y[2], y[3], x[0]); });
  check_composite(kernels::triangular_solve, {sides}, {o.A, o.B},
                  [](auto&& f, auto& y, const auto& x) {
                    f(y[0], x[0], x[1], TriangularParams{.upper = false});
                  });
}

TEST_CASE("child: linear algebra without LAPACK" * doctest::skip()) {
  const Inputs o("cpu");
  const uint64_t before = reference::runs();
  CHECK(matmul(linalg_inv(o.A), o.A).allclose(eye(3, f64("cpu")), 1e-12, 1e-12));
  CHECK(linalg_solve_triangular(o.C, matmul(o.C, o.B), false).allclose(o.B, 1e-12, 1e-12));
  const auto [q, r] = linalg_qr(o.Tr);
  CHECK(matmul(q, r).allclose(o.Tr, 1e-12, 1e-12));
  const auto [values, v] = linalg_eigh(o.S);
  CHECK(matmul(v * values.unsqueeze(-2), mT(v)).allclose(o.S, 1e-12, 1e-12));
  const auto [left, s, right] = linalg_svd(o.W, false);
  CHECK(matmul(left * s.unsqueeze(-2), right).allclose(o.W, 1e-12, 1e-12));
  CHECK(linalg_cholesky(o.S).allclose(o.C));
  const auto [roots, vectors] = linalg_eig(o.A);
  CHECK(matmul(o.A.to(kComplexDouble), vectors)
            .allclose(vectors * roots.unsqueeze(-2), 1e-12, 1e-12));
  CHECK(reference::runs() == before + 8);
}

TEST_CASE("without LAPACK the cpu uses the reference's loops") {
  const ChildResult result =
      run_child("child: linear algebra without LAPACK", "AMBIT_LAPACK=libnone.so");
  INFO(result.output);
  CHECK(result.exit_code == 0);
  CHECK(result.output.find("1 passed") != std::string::npos);
}

TEST_CASE("child: linear algebra in a fork" * doctest::skip()) {
  const Tensor x = eye(400) * 2 + 0.001;  // LAPACK uses several threads for this size
  const Tensor expected = linalg_inv(x);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(linalg_inv(x).allclose(expected) ? 7 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 7);
}

TEST_CASE("a forked child can compute linear algebra") {
  const ChildResult result = run_child("child: linear algebra in a fork");
  INFO(result.output);
  CHECK(result.exit_code == 0);
  CHECK(result.output.find("1 passed") != std::string::npos);
}

TEST_CASE("matrices without elements have PyTorch's results") {
  for_each_device([](Device d) {
    const Tensor none = zeros({2, 0, 0}, f64(d)), wide = zeros({2, 0, 3}, f64(d));
    const Tensor tall = mT(wide), no_batch = zeros({0, 3, 3}, f64(d));
    const Tensor identities = eye(3, f64(d)).expand({2, 3, 3});
    CHECK(linalg_inv(none).sizes() == none.sizes());
    CHECK(linalg_inv(no_batch).sizes() == no_batch.sizes());
    check_values(linalg_det(none), {2}, {1, 1});
    check_values(std::get<0>(linalg_slogdet(none)), {2}, {1, 1});
    check_values(std::get<1>(linalg_slogdet(none)), {2}, {0, 0});
    CHECK(linalg_det(no_batch).sizes() == IntArrayRef{0});
    CHECK(linalg_solve(none, zeros({2, 0, 4}, f64(d))).sizes() == IntArrayRef{2, 0, 4});
    CHECK(linalg_solve(no_batch, zeros({3, 2}, f64(d))).sizes() == IntArrayRef{0, 3, 2});
    CHECK(std::get<2>(linalg_svd(wide)).equal(identities));
    CHECK(std::get<0>(linalg_svd(tall)).equal(identities));
    CHECK(std::get<0>(linalg_svd(tall, false)).sizes() == IntArrayRef{2, 3, 0});
    CHECK(std::get<0>(linalg_qr(tall, "complete")).equal(identities));
    CHECK(std::get<1>(linalg_qr(wide)).sizes() == IntArrayRef{2, 0, 3});
    CHECK(std::get<1>(linalg_eigh(none)).sizes() == none.sizes());
    CHECK(linalg_cholesky(none).sizes() == none.sizes());
    CHECK(linalg_pinv(wide).sizes() == tall.sizes());
    CHECK(linalg_matrix_rank(tall).equal(zeros({2}, TensorOptions(kInt64).device(d))));
    check_values(linalg_matrix_norm(wide), {2}, {0, 0});
    check_values(linalg_matrix_norm(wide, 1), {2}, {0, 0});
    check_values(linalg_cond(none), {2}, {0, 0});
    const Tensor x = none.detach().requires_grad_();
    linalg_det(x).sum().backward();
    CHECK(x.grad().sizes() == none.sizes());
  });
}

namespace {

struct Differentiable {
  const char* text;
  std::vector<Dims> sizes;
  Tensor (*f)(const std::vector<Tensor>&);
  bool twice = true;
};

// Matrices are away from points without a derivative: eigenvalues are distinct, and matrices are
// invertible.
Tensor apart(const Tensor& x) {
  return x + eye(x.size(-2), x.size(-1), x.options()) * arange(2, x.size(-1) + 2, 1, x.options());
}
Tensor symmetric(const Tensor& x) { return apart(x + mT(x)); }
Tensor gram(const Tensor& x) { return matmul(x, mT(x)) + eye(x.size(-1), x.options()); }
#define OF(...) [](const std::vector<Tensor>& in) -> Tensor { return __VA_ARGS__; }

template <class... T>
Tensor joined(const std::tuple<T...>& parts) {
  return std::apply([](const auto&... t) { return cat({t.reshape({-1})...}); }, parts);
}

std::vector<Differentiable> differentiable() {
  const Dims a{2, 3, 3}, b{2, 3, 2}, wide{2, 2, 3};
  return {
      {"inv", {a}, OF(linalg_inv(apart(in[0])))},
      {"inv_ex", {a}, OF(std::get<0>(linalg_inv_ex(apart(in[0]))))},
      {"solve", {a, b}, OF(linalg_solve(apart(in[0]), in[1]))},
      {"solve, batches", {{3, 3}, b}, OF(linalg_solve(apart(in[0]), in[1]))},
      {"solve, vector", {a, {3}}, OF(linalg_solve(apart(in[0]), in[1]))},
      {"solve, right", {a, wide}, OF(linalg_solve(apart(in[0]), in[1], false))},
      {"triangle", {{3, 3}, b}, OF(linalg_solve_triangular(apart(in[0]), in[1], true))},
      {"unit triangle", {a, wide}, OF(linalg_solve_triangular(in[0], in[1], false, false, true))},
      {"triangular_solve", {b, a}, OF(joined(triangular_solve(in[0], apart(in[1]), true, true)))},
      {"det", {a}, OF(linalg_det(apart(in[0])))},
      {"slogdet", {a}, OF(std::get<1>(linalg_slogdet(apart(in[0]))))},
      {"logdet", {a}, OF(logdet(gram(in[0])))},
      {"lu_factor", {a}, OF(std::get<0>(linalg_lu_factor(apart(in[0]))))},
      {"lu_factor, tall", {b}, OF(std::get<0>(linalg_lu_factor(apart(in[0]))))},
      {"lu_factor, wide", {wide}, OF(std::get<0>(linalg_lu_factor(apart(in[0]))))},
      {"lu", {wide}, OF(joined(linalg_lu(apart(in[0]))))},
      {"lu_solve", {a, b}, OF([&] {
         const auto [lu, pivots] = linalg_lu_factor(apart(in[0]));
         return linalg_lu_solve(lu, pivots, in[1]) + linalg_lu_solve(lu, pivots, in[1], true, true);
       }())},
      {"lu_solve, b", {wide}, OF([&] {
         const auto [lu, pivots] = linalg_lu_factor(eye(3, in[0].options()) + 0.5);
         return linalg_lu_solve(lu, pivots, in[0], false);
       }())},
      {"cholesky", {a}, OF(linalg_cholesky(gram(in[0])))},
      {"cholesky, upper", {a}, OF(linalg_cholesky(gram(in[0]), true))},
      {"cholesky_inverse", {a}, OF(cholesky_inverse(apart(in[0])))},
      {"cholesky_solve", {b, a}, OF(cholesky_solve(in[0], apart(in[1]), true))},
      {"qr", {a}, OF(joined(linalg_qr(apart(in[0]))))},
      {"qr, tall", {b}, OF(joined(linalg_qr(apart(in[0]))))},
      {"qr, wide", {wide}, OF(joined(linalg_qr(apart(in[0]))))},
      {"qr, q of wide", {wide}, OF(std::get<0>(linalg_qr(apart(in[0]))))},
      {"qr, r of tall", {b}, OF(std::get<1>(linalg_qr(apart(in[0]))))},
      {"qr, complete", {wide}, OF(joined(linalg_qr(apart(in[0]), "complete")))},
      {"eigh", {a}, OF(joined(linalg_eigh(symmetric(in[0]))))},
      {"eigvalsh", {a}, OF(linalg_eigvalsh(symmetric(in[0])))},
      {"svd", {a}, OF(joined(linalg_svd(apart(in[0]), false)))},
      {"svd, tall", {b}, OF(joined(linalg_svd(apart(in[0]), false)))},
      {"svd, wide", {wide}, OF(joined(linalg_svd(apart(in[0]), false)))},
      {"svd, u of tall", {b}, OF(std::get<0>(linalg_svd(apart(in[0]), false)))},
      {"svd, v of wide", {wide}, OF(std::get<2>(svd(apart(in[0]))))},
      {"svdvals", {wide}, OF(linalg_svdvals(apart(in[0])))},
      {"s of full", {wide}, OF(std::get<1>(linalg_svd(apart(in[0])))), false},
      {"pinv", {b}, OF(linalg_pinv(apart(in[0])))},
      {"pinv, wide", {wide}, OF(linalg_pinv(apart(in[0])))},
      {"pinv, hermitian", {a}, OF(linalg_pinv(symmetric(in[0]), 1e-9, true))},
      {"lstsq", {b, b}, OF(joined(linalg_lstsq(apart(in[0]), in[1])))},
      {"lstsq, qr", {b, b}, OF(joined(linalg_lstsq(apart(in[0]), in[1], {}, "gels")))},
      {"lstsq, wide",
       {wide, {2, 2}},
       OF(std::get<0>(linalg_lstsq(apart(in[0]), in[1], {}, "gels")))},
      {"matrix_power", {a}, OF(linalg_matrix_power(apart(in[0]), -3))},
      {"tensorinv",
       {{6, 2, 3}},
       OF(linalg_tensorinv(in[0] + 3 * eye(6, in[0].options()).view({6, 2, 3}), 1))},
      {"nuc", {b}, OF(linalg_matrix_norm(in[0], "nuc"))},
      {"2", {b}, OF(linalg_matrix_norm(in[0], 2))},
      {"1", {b}, OF(linalg_matrix_norm(in[0], 1, {0, 1}, true))},
      {"cond", {a}, OF(linalg_cond(apart(in[0])))},
      {"cond, fro", {a}, OF(linalg_cond(apart(in[0]), "fro"))},
      {"vecdot", {b, {3, 1}}, OF(linalg_vecdot(in[0], in[1], 1))},
  };
}

}  // namespace

TEST_CASE("linear algebra has correct first and second gradients") {
  for (const Differentiable& row : differentiable()) {
    INFO(std::string(row.text));
    std::vector<Tensor> in;
    for (const Dims& sizes : row.sizes) in.push_back(wave("cpu", sizes, 0.6));
    gradcheck(row.f, in);
    if (row.twice) gradgradcheck(row.f, in);
  }
}

TEST_CASE("the determinant has a gradient at singular matrices, too") {
  for_each_device([](Device d) {
    // The transposed adjugate, for rank 2, 1 and 0, and for an invertible matrix.
    const Tensor x = tensor({{{1., 2., 3.}, {4., 5., 6.}, {5., 7., 9.}},
                             {{1., 2., 3.}, {2., 4., 6.}, {3., 6., 9.}},
                             {{0., 0., 0.}, {0., 0., 0.}, {0., 0., 0.}},
                             {{2., 0., 0.}, {0., 3., 0.}, {1., 0., 4.}}},
                            f64(d))
                         .requires_grad_();
    linalg_det(x).sum().backward();
    const std::vector<double> adjugates{3, -6, 3, 3, -6, 3, -3, 6, -3, 0,  0, 0,  0, 0, 0, 0, 0, 0,
                                        0, 0,  0, 0, 0,  0, 0,  0, 0,  12, 0, -3, 0, 8, 0, 0, 0, 6};
    check_values(x.grad(), {4, 3, 3}, adjugates, 1e-12);
    const Tensor diagonal = tensor({{0., 0.}, {0., 3.}}, f64(d)).requires_grad_();
    const Tensor g = autograd::grad({linalg_det(diagonal)}, {diagonal}, {}, true, true)[0];
    // det'' of [[a, b], [c, d]]: the sum of the gradient's elements is 1 for a, d and -1 for b, c.
    check_values(autograd::grad({g.sum()}, {diagonal})[0], {2, 2}, {1, -1, -1, 1}, 1e-12);
  });
}

TEST_CASE("factors without a gradient give an error in backward, not before") {
  const Tensor tall = wave("cpu", {3, 2}).requires_grad_();
  const Tensor q = std::get<0>(linalg_qr(tall, "complete")), r = std::get<1>(linalg_qr(tall, "r"));
  CHECK_THROWS_AS(q.sum().backward(), AutogradError);
  CHECK_THROWS_AS(r.sum().backward(), AutogradError);
  const Tensor u = std::get<0>(linalg_svd(tall));
  CHECK_THROWS_AS(u.sum().backward(), AutogradError);
  CHECK_FALSE(tall.grad().defined());
}

TEST_CASE("methods and functions of linalg:: have equal results") {
  const Inputs o("cpu");
  CHECK(o.A.inverse().equal(linalg::inv(o.A)));
  CHECK(o.A.det().equal(linalg::det(o.A)));
  CHECK(o.S.logdet().equal(logdet(o.S)));
  CHECK(std::get<1>(o.S.slogdet()).equal(std::get<1>(linalg::slogdet(o.S))));
  CHECK(o.S.cholesky(true).equal(linalg::cholesky(o.S, true)));
  CHECK(o.C.cholesky_inverse().equal(cholesky_inverse(o.C)));
  CHECK(o.B.cholesky_solve(o.C).equal(cholesky_solve(o.B, o.C)));
  CHECK(std::get<1>(o.Tr.qr(false)).equal(std::get<1>(linalg::qr(o.Tr, "complete"))));
  CHECK(std::get<2>(o.Tr.svd()).equal(mT(std::get<2>(linalg::svd(o.Tr, false)))));
  CHECK(o.W.pinverse().equal(linalg::pinv(o.W)));
  CHECK(o.B.lu_solve(o.LU, o.piv).equal(linalg::lu_solve(o.LU, o.piv, o.B)));
  CHECK(std::get<0>(lu_unpack(o.LU, o.piv)).equal(std::get<0>(linalg::lu(o.A))));
  CHECK(std::get<1>(lu_unpack(o.LU, o.piv)).equal(std::get<1>(linalg_lu(o.A))));
  CHECK(std::get<1>(lu_unpack(o.LU, o.piv, false)).numel() == 0);
  CHECK(std::get<1>(linalg::inv_ex(o.A)).dtype() == kInt32);
  CHECK(linalg::norm(o.Tr, 2, {0, 1}).equal(linalg::matrix_norm(o.Tr, 2)));
  CHECK(linalg::eigvalsh(o.S).allclose(std::get<0>(linalg::eigh(o.S)), 1e-14));
}
