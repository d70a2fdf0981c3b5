// Rows of the tables for linear algebra: bad calls, mixed devices, agreement.
#include <ambit/ambit.h>

#include <cmath>

#include "tests/mismatch/mismatch_calls.h"
#include "tests/tables/agreement_calls.h"
#include "tests/tables/bad_calls.h"

using namespace ambit;

namespace {

Tensor m33() { return eye(3); }

std::vector<bad_input::BadCall> bad_calls() {
  using namespace bad_input;
#define SQUARE(f) SHAPE(f, m23()), SHAPE(f, ones({3})), DTYPE(f, i23()), VALUE(f, none())
#define ANY(f) SHAPE(f, ones({3})), DTYPE(f, i23()), VALUE(f, none())
  return {
      SQUARE(linalg_inv),
      SQUARE(linalg_inv_ex),
      SQUARE(inverse),
      SQUARE(linalg_det),
      SQUARE(det),
      SQUARE(linalg_slogdet),
      SQUARE(slogdet),
      SQUARE(logdet),
      SQUARE(linalg_cholesky),
      SQUARE(linalg_cholesky_ex),
      SQUARE(cholesky),
      SQUARE(cholesky_inverse),
      SQUARE(linalg_eig),
      SQUARE(linalg_eigvals),
      SQUARE(linalg_eigh),
      SQUARE(linalg_eigvalsh),
      ANY(linalg_lu_factor),
      ANY(linalg_lu_factor_ex),
      ANY(linalg_lu),
      ANY(linalg_qr),
      ANY(qr),
      ANY(linalg_svd),
      ANY(linalg_svdvals),
      ANY(svd),
      ANY(linalg_pinv),
      ANY(pinverse),
      ANY(linalg_matrix_rank),
      ANY(linalg_cond),
      ANY(linalg_matrix_norm),
      BAD(LinAlgError, linalg_inv, zeros({3, 3})),
      BAD(LinAlgError, linalg_cholesky, zeros({3, 3})),
      BAD(LinAlgError, linalg_eig, full({3, 3}, INFINITY)),
      BAD(LinAlgError, linalg_eigvals, full({3, 3}, NAN)),
      BAD(LinAlgError, linalg_svd, full({2, 3}, NAN)),
      BAD(NotImplementedError, linalg_lu_factor, m33(), false),
      VALUE(linalg_qr, m33(), "full"),
      VALUE(linalg_eigh, m33(), "X"),
      VALUE(linalg_lstsq, m33(), m33(), {}, "qr"),
      SHAPE(linalg_solve, m33(), m23()),
      SHAPE(linalg_solve, m33(), ones({3}), false),
      SHAPE(linalg_solve, m33(), ones({})),
      DTYPE(linalg_solve, m33(), ones({3}, kFloat64)),
      DEVICE(linalg_solve, m33(), there()),
      VALUE(linalg_solve, m33(), none()),
      SHAPE(linalg_solve_ex, m23(), m33()),
      SHAPE(linalg_solve_triangular, m33(), m23(), true),
      SHAPE(linalg_solve_triangular, m33(), ones({3}), true),
      SHAPE(triangular_solve, m23(), m33()),
      DTYPE(triangular_solve, i23(), m33()),
      SHAPE(linalg_lstsq, m33(), m23()),
      DTYPE(linalg_lstsq, m33(), i23()),
      SHAPE(linalg_tensorsolve, m23(), m33()),
      SHAPE(linalg_tensorinv, m23()),
      VALUE(linalg_tensorinv, m33(), 0),
      SHAPE(linalg_matrix_power, m23(), 2),
      DTYPE(linalg_matrix_power, ones({2, 2}, kInt64), -1),
      SHAPE(lu_unpack, m33(), ones({2}, kInt32)),
      DTYPE(lu_unpack, m33(), ones({3})),
      SHAPE(linalg_lu_solve, m33(), ones({3}, kInt32), m23()),
      INDEX(linalg_lu_solve, m33(), full({3}, 4, kInt32), m33()),
      SHAPE(lu_solve, m23(), m33(), ones({3}, kInt32)),
      SHAPE(cholesky_solve, m23(), m33()),
      DEVICE(cholesky_solve, m33(), there()),
      DEVICE(linalg_pinv, m33(), ones({3}, "reference")),
      SHAPE(linalg_vector_norm, zeros({0}), INFINITY),
      INDEX(linalg_vector_norm, m33(), 2, 2),
      DTYPE(linalg_vector_norm, i23()),
      SHAPE(linalg_matrix_norm, m33(), 1, {0, 0}),
      VALUE(linalg_matrix_norm, m33(), 3),
      VALUE(linalg_matrix_norm, m33(), "max"),
      SHAPE(linalg_norm, ones({2, 3, 4}), 2),
      DTYPE(linalg_norm, i23()),
      SHAPE(linalg_cond, m23(), 1),
      SHAPE(linalg_vecdot, m23(), ones({4})),
      DTYPE(linalg_vecdot, m23(), i23()),
  };
}
const CallTable<bad_input::BadCall> kBad(bad_calls);

std::vector<mismatch::Call> mixed_calls() {
  using namespace mismatch;
  const auto pivots = [] { return ones({2}, kInt32); };
#define IN_LINALG(name, operands, ...)                                                      \
  reported_as(Call{#name, Rule::strict, operands,                                           \
                   [](const Tensors& t) { static_cast<void>(linalg::name(__VA_ARGS__)); }}, \
              "linalg_" #name)
#define BOTH_NAMES(name, ...)                                \
  CALL(linalg_##name, strict, given(f(), f()), __VA_ARGS__), \
      IN_LINALG(name, given(f(), f()), __VA_ARGS__)
  return {
      BOTH_NAMES(solve, t[0], t[1]),
      BOTH_NAMES(solve_ex, t[0], t[1]),
      BOTH_NAMES(solve_triangular, t[0], t[1], true),
      BOTH_NAMES(lstsq, t[0], t[1]),
      BOTH_NAMES(tensorsolve, t[0], t[1]),
      BOTH_NAMES(vecdot, t[0], t[1]),
      BOTH(triangular_solve, strict, given(f(), f()), t[1]),
      BOTH(cholesky_solve, strict, given(f(), f()), t[1]),
      CALL(linalg_lu_solve, strict, given(f(), pivots(), f()), t[0], t[1], t[2]),
      IN_LINALG(lu_solve, given(f(), pivots(), f()), t[0], t[1], t[2]),
      BOTH(lu_solve, strict, given(f(), f(), pivots()), t[1], t[2]),
      CALL(lu_unpack, strict, given(f(), pivots()), t[0], t[1]),
      CALL(linalg_pinv, strict, given(f(), f({2})), t[0], t[1]),
      CALL(linalg_matrix_rank, strict, given(f(), f({2})), t[0], t[1]),
      reported_as(
          Call{"matrix_rank", Rule::strict, given(f(), f({2})),
               [](const Tensors& t) { static_cast<void>(linalg::matrix_rank(t[0], t[1])); }},
          "linalg_matrix_rank"),
  };
}
const CallTable<mismatch::Call> kMixed(mixed_calls);

// A symmetric matrix with a condition number of at most 4; a well-conditioned one without symmetry.
Tensor positive_of(const agreement::Operands& o) {
  const profiler::RecordFunction scope(agreement::kOperand);
  const Tensor x = o.unit.narrow(0, 0, std::min<int64_t>(o.unit.size(0), 5));
  return matmul(x.t(), x) / 5 + eye(o.unit.size(1), o.unit.options());
}
Tensor square_of(const agreement::Operands& o) {
  const profiler::RecordFunction scope(agreement::kOperand);
  const int64_t n = o.unit.size(1);
  const Tensor scale = arange(n, o.unit.options()) / 5 + 1;
  return positive_of(o) * scale;
}
// The results of eig() without their order, and the matrix that they factor.
Tensor in_order(const agreement::Operands& o, const Tensor& values) {
  const profiler::RecordFunction scope(agreement::kOperand);
  return std::get<0>(sort(real(values), -1)).to(o.a.dtype());
}
Tensor product_of(const agreement::Operands& o, const std::tuple<Tensor, Tensor>& factors) {
  const profiler::RecordFunction scope(agreement::kOperand);
  const auto& [values, vectors] = factors;
  return real(matmul(vectors * values, linalg_inv(vectors))).to(o.a.dtype());
}
Tensor sides_of(const agreement::Operands& o) { return o.a.t(); }  // a column for each row of a

std::vector<agreement::Call> agreeing_calls() {
  using namespace agreement;
#define ALL_OF(...) std::get<0>(__VA_ARGS__), std::get<1>(__VA_ARGS__)
#define LINALG(f, ...) with_dims(RESULT(f, __VA_ARGS__))
  return {
      LINALG(linalg_inv, linalg_inv(square_of(o))),
      LINALG(linalg_inv_ex, ALL_OF(linalg_inv_ex(square_of(o)))),
      LINALG(inverse, inverse(positive_of(o))),
      LINALG(linalg_solve, linalg_solve(square_of(o), sides_of(o)),
             linalg_solve(square_of(o), o.a, false)),
      LINALG(linalg_solve_ex, ALL_OF(linalg_solve_ex(square_of(o), sides_of(o)))),
      LINALG(linalg_solve_triangular, linalg_solve_triangular(square_of(o), sides_of(o), true),
             linalg_solve_triangular(square_of(o).t(), o.a, true, false)),
      LINALG(triangular_solve, ALL_OF(triangular_solve(sides_of(o), square_of(o)))),
      LINALG(linalg_lstsq, ALL_OF(linalg_lstsq(square_of(o), sides_of(o))),
             std::get<2>(linalg_lstsq(square_of(o), sides_of(o))),
             std::get<3>(linalg_lstsq(square_of(o), sides_of(o), {}, "gelsd"))),
      LINALG(linalg_pinv, linalg_pinv(square_of(o)), linalg_pinv(positive_of(o), 1e-4, true)),
      LINALG(pinverse, pinverse(square_of(o))),
      LINALG(linalg_tensorsolve, linalg_tensorsolve(square_of(o), MADE(sides_of(o).sum(1)))),
      LINALG(linalg_tensorinv, linalg_tensorinv(square_of(o), 1)),
      LINALG(linalg_matrix_power, linalg_matrix_power(square_of(o), -2),
             linalg_matrix_power(square_of(o), 3)),
      LINALG(linalg_det, linalg_det(square_of(o))),
      LINALG(det, det(positive_of(o))),
      LINALG(linalg_slogdet, ALL_OF(linalg_slogdet(square_of(o)))),
      LINALG(slogdet, ALL_OF(slogdet(MADE(-square_of(o))))),
      LINALG(logdet, logdet(positive_of(o))),
      LINALG(linalg_lu_factor, ALL_OF(linalg_lu_factor(square_of(o)))),
      LINALG(linalg_lu_factor_ex, std::get<2>(linalg_lu_factor_ex(square_of(o)))),
      LINALG(linalg_lu, ALL_OF(linalg_lu(square_of(o)))),
      LINALG(lu_unpack, ALL_OF(std::apply([](const auto&... f) { return lu_unpack(f...); },
                                          MADE(linalg_lu_factor(square_of(o)))))),
      LINALG(linalg_lu_solve,
             std::apply([&](const auto&... f) { return linalg_lu_solve(f..., sides_of(o)); },
                        MADE(linalg_lu_factor(square_of(o))))),
      LINALG(lu_solve, std::apply([&](const auto&... f) { return lu_solve(sides_of(o), f...); },
                                  MADE(linalg_lu_factor(square_of(o))))),
      LINALG(linalg_cholesky, linalg_cholesky(positive_of(o))),
      LINALG(linalg_cholesky_ex, ALL_OF(linalg_cholesky_ex(positive_of(o), true))),
      LINALG(cholesky, cholesky(positive_of(o))),
      LINALG(cholesky_inverse, cholesky_inverse(positive_of(o))),
      LINALG(cholesky_solve, cholesky_solve(sides_of(o), square_of(o))),
      LINALG(linalg_qr, ALL_OF(linalg_qr(square_of(o)))),
      LINALG(qr, ALL_OF(qr(positive_of(o)))),
      LINALG(linalg_eig, product_of(o, linalg_eig(square_of(o)))),
      LINALG(linalg_eigvals, in_order(o, linalg_eigvals(square_of(o)))),
      LINALG(linalg_eigh, std::get<0>(linalg_eigh(square_of(o), "U"))),
      LINALG(linalg_eigvalsh, linalg_eigvalsh(positive_of(o))),
      LINALG(linalg_svd, std::get<1>(linalg_svd(o.unit))),
      LINALG(linalg_svdvals, linalg_svdvals(o.unit)),
      LINALG(svd, std::get<1>(svd(o.unit, true, false)), std::get<2>(svd(o.unit, true, false))),
      RESULT(linalg_vector_norm, linalg_vector_norm(o.a), linalg_vector_norm(o.a, 3)),
      LINALG(linalg_matrix_norm, linalg_matrix_norm(o.a), linalg_matrix_norm(o.a, "nuc"),
             linalg_matrix_norm(positive_of(o), 1)),
      RESULT(linalg_norm, linalg_norm(o.a)),
      LINALG(linalg_cond, linalg_cond(square_of(o)), linalg_cond(square_of(o), "fro")),
      LINALG(linalg_matrix_rank, linalg_matrix_rank(square_of(o)), linalg_matrix_rank(o.unit, 0.1)),
      LINALG(linalg_vecdot, linalg_vecdot(o.a, o.unit)),
  };
}
const CallTable<agreement::Call> kAgreeing(agreeing_calls);

}  // namespace
