// Matrix factorisations and linear solvers. Factors are not unique to the last bit, and for nearly
// equal values not at all, so products and orthogonality are checked instead, in float64 on
// `reference`. Solutions and eigenvalues are compared with the reference's.
#include <ambit/backend/kernels.h>
#include <ambit/ops/complex.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

#include "cases.h"
#include "expect.h"
#include "trial.h"

namespace conformance {
namespace {

using namespace ambit;

struct Matrices {
  int64_t B, M, N;
};
constexpr Matrices kSquare[] = {{3, 5, 5}, {1, 1, 1}, {2, 33, 33}, {1, 130, 130}};
constexpr Matrices kAny[] = {{3, 5, 5}, {3, 7, 4}, {3, 4, 7}, {2, 70, 33}, {2, 33, 70}, {5, 1, 3}};
constexpr Matrices kEmpty[] = {{0, 3, 3}, {2, 0, 0}};

Tensor on_oracle(const Tensor& t) {
  return t.cpu().to(Device("reference"), t.dtype() == kInt32 ? kInt32 : kFloat64);
}
Tensor t_of(const Tensor& x) { return transpose(x, -2, -1); }

/// Use the elements of a tensor as the values of an operand.
Values elements_of(const Tensor& x) {
  return [x](Random&, DType dtype, void* to, int64_t n) {
    if (n == 0) return;  // there is no memory to write
    const Tensor host = x.to(Device(), dtype).contiguous();
    std::memcpy(to, host.data_ptr(), static_cast<size_t>(n) * element_size(dtype));
  };
}

/// Random numbers in [-1, 1] on `reference`.
Tensor random_matrices(Trial& t, const Matrices& s) {
  Tensor x = empty({s.B, s.M, s.N}, kFloat64);
  for (int64_t i = 0; i < x.numel(); ++i) x.data_ptr<double>()[i] = uniform(t.random(), -1, 1);
  return on_oracle(x);
}
Tensor identities(int64_t n) { return eye(n, TensorOptions(kFloat64).device("reference")); }
/// A symmetric matrix with eigenvalues of at least n.
Tensor positive_definite(Trial& t, const Matrices& s) {
  const Tensor x = random_matrices(t, s);
  return matmul(x, t_of(x)) + identities(s.N) * static_cast<double>(s.N);
}

/// Backward stability: the factors are exact for a matrix that differs from A by at most p(n)
/// epsilon ||A||. In practice p(n) is about n; the bound is 8 n. `size`: the magnitude of A's
/// elements. Factors of reduced floating-point types are rounded too.
void expect_near(const char* what, const Tensor& got, const Tensor& want, DType dtype, int64_t n) {
  if (want.numel() == 0) return;
  const double size = std::max(1.0, want.abs().max().item<double>());
  const double rounding = epsilon(dtype) + last_place(dtype);
  const double bound = 8 * static_cast<double>(std::max<int64_t>(n, 4)) * rounding * size;
  const double error = (got - want).abs().max().item<double>();
  note_error(error / bound);
  expect(error <= bound,  // false for NaN
         fmt::format("{}: expected a difference of {:g} at most, got {:g}", what, bound, error));
}
void expect_orthonormal(const char* what, const Tensor& q, DType dtype) {
  const Tensor product = matmul(t_of(q), q);
  expect_near(what, product, identities(q.size(-1)).expand(product.sizes()), dtype, q.size(-2));
}
void expect_zero(const char* what, const Tensor& x) {
  expect(x.numel() == 0 || x.abs().max().item<double>() == 0,
         fmt::format("{}: expected zeros there", what));
}

Tensor below(const Tensor& x, bool or_above = false) {  // diagonal 1, others 0
  const Tensor i = unsqueeze(arange(x.size(-2), kInt64), 1), j = arange(x.size(-1), kInt64);
  return on_oracle((or_above ? i < j : i > j).to(kFloat64));
}

// A = P L U, where P permutes rows.
void check_lu_factor(Trial& t, DType dtype, const Matrices& s) {
  const int64_t K = std::min(s.M, s.N);
  t.begin();
  Operand& lu = t.output("lu", dtype, {s.B, s.M, s.N});
  Operand& pivots = t.output("pivots", kInt32, {s.B, K});
  Operand& info = t.output("info", kInt32, {s.B});
  Operand& x = t.input("x", dtype, {s.B, s.M, s.N}, Layout::contiguous, between(-1, 1));
  t.run([&](Side side) { kernels::lu_factor(lu[side], pivots[side], info[side], x[side]); });
  t.expect(info);
  const Tensor f = on_oracle(lu[Side::device]), p = on_oracle(pivots[Side::device]).cpu();
  const Tensor lower =
      narrow(f * below(f), -1, 0, K) + on_oracle(eye(s.M, K, TensorOptions(kFloat64)));
  const Tensor upper = narrow(f * (1 - below(f)), -2, 0, K);
  expect(f.numel() == 0 || (f * below(f)).abs().max().item<double>() <= 1,
         "lu: expected no factor above 1, since the largest is the pivot");
  Tensor product = matmul(lower, upper);
  for (int64_t b = 0; b < s.B; ++b) {
    for (int64_t i = K; i-- > 0;) {
      const int64_t j = p[b][i].item<int64_t>() - 1;
      expect(j >= i && j < s.M, fmt::format("pivots[{}, {}]: expected a row from {} on", b, i, i));
      if (j == i) continue;
      const Tensor row = product[b][i].clone();
      product[b][i].copy_(product[b][j]);
      product[b][j].copy_(row);
    }
  }
  expect_near("P L U", product, on_oracle(x[Side::device]), dtype, s.M);
}

void check_lu_singular(Trial& t, DType dtype) {
  t.begin("a matrix of zeros, and one whose last two rows are zeros");
  Operand& lu = t.output("lu", dtype, {3, 4, 4});
  Operand& pivots = t.output("pivots", kInt32, {3, 4});
  Operand& info = t.output("info", kInt32, {3});
  Tensor values = zeros({3, 4, 4}, kFloat64);
  values[1].narrow(0, 0, 2).copy_(eye(2, 4, TensorOptions(kFloat64)));
  values[2].copy_(eye(4, TensorOptions(kFloat64)));
  Operand& x = t.input("x", dtype, {3, 4, 4}, Layout::contiguous, elements_of(values));
  t.run([&](Side side) { kernels::lu_factor(lu[side], pivots[side], info[side], x[side]); });
  t.expect(info);
  t.expect(lu);
}

// A matrix with n on the diagonal and other elements of at most 1 is well-conditioned.
Bound solved(DType dtype, int64_t n) {
  return {0, 64 * static_cast<double>(std::max<int64_t>(n, 4)) * epsilon(dtype),
          "well-conditioned: a few roundings for each of n steps"};
}

void check_lu_solve(Trial& t, DType dtype, const Matrices& s, int64_t R) {
  for (const bool transpose : {false, true}) {
    t.begin(fmt::format("transpose {}", transpose));
    Tensor lu =
        random_matrices(t, s) / static_cast<double>(std::max<int64_t>(s.N, 1)) + identities(s.N);
    Tensor pivots = zeros({s.B, s.N}, kInt32);
    for (int64_t i = 0; i < pivots.numel(); ++i) {
      const int64_t k = i % s.N;
      pivots.data_ptr<int32_t>()[i] = static_cast<int32_t>(
          k + 1 + static_cast<int64_t>(t.random()() % static_cast<uint64_t>(s.N - k)));
    }
    Operand& y = t.output("y", dtype, {s.B, s.N, R});
    Operand& f = t.input("lu", dtype, {s.B, s.N, s.N}, Layout::contiguous, elements_of(lu));
    Operand& p = t.input("pivots", kInt32, {s.B, s.N}, Layout::contiguous, elements_of(pivots));
    Operand& b = t.input("b", dtype, {s.B, s.N, R}, Layout::contiguous, between(-1, 1));
    t.run([&](Side side) { kernels::lu_solve(y[side], f[side], p[side], b[side], transpose); });
    t.expect(y, solved(dtype, s.N));
  }
}

void check_triangular_solve(Trial& t, DType dtype, const Matrices& s, int64_t R) {
  for (int flags = 0; flags < 8; ++flags) {
    const TriangularParams p{(flags & 1) != 0, (flags & 2) != 0, (flags & 4) != 0};
    t.begin(fmt::format("upper {}, transpose {}, unitriangular {}", p.upper, p.transpose,
                        p.unitriangular));
    // The other triangle and an unread diagonal are NaN, so that reading them shows in the result.
    Tensor values = random_matrices(t, s) / static_cast<double>(std::max<int64_t>(s.N, 1));
    const double unread = std::numeric_limits<double>::quiet_NaN();
    const Tensor one = identities(s.N);
    values = where(below(values, !p.upper) > 0, unread, values + one);
    if (p.unitriangular) values = where(one > 0, unread, values);
    Operand& y = t.output("y", dtype, {s.B, s.N, R});
    Operand& a = t.input("a", dtype, {s.B, s.N, s.N}, Layout::contiguous, elements_of(values));
    Operand& b = t.input("b", dtype, {s.B, s.N, R}, Layout::contiguous, between(-1, 1));
    t.run([&](Side side) { kernels::triangular_solve(y[side], a[side], b[side], p); });
    t.expect(y, solved(dtype, s.N));
  }
}

void check_cholesky(Trial& t, DType dtype, const Matrices& s) {
  for (const bool upper : {false, true}) {
    t.begin(fmt::format("upper {}", upper));
    Tensor values = positive_definite(t, s);
    values = where(below(values, !upper) > 0, std::numeric_limits<double>::quiet_NaN(), values);
    Operand& y = t.output("y", dtype, {s.B, s.N, s.N});
    Operand& info = t.output("info", kInt32, {s.B});
    Operand& x = t.input("x", dtype, {s.B, s.N, s.N}, Layout::contiguous, elements_of(values));
    t.run([&](Side side) { kernels::cholesky(y[side], info[side], x[side], upper); });
    t.expect(info);
    t.expect(y, {0, 64 * static_cast<double>(s.N) * epsilon(dtype),
                 "well-conditioned: a few roundings for each of n steps"});
  }
}

void check_not_positive(Trial& t, DType dtype) {
  t.begin("of 3 matrices the first fails at its second minor, the last at its first");
  Tensor values = eye(3, TensorOptions(kFloat64)).repeat({3, 1, 1});
  values[0][1].copy_(tensor({2., 1., 0.}, kFloat64));
  values[0][0].copy_(tensor({1., 2., 0.}, kFloat64));
  values[2][0].copy_(tensor({-1., 0., 0.}, kFloat64));
  Operand& y = t.output("y", dtype, {3, 3, 3});
  Operand& info = t.output("info", kInt32, {3});
  Operand& x = t.input("x", dtype, {3, 3, 3}, Layout::contiguous, elements_of(values));
  t.run([&](Side side) { kernels::cholesky(y[side], info[side], x[side], false); });
  t.expect(info);
}

void check_qr(Trial& t, DType dtype, const Matrices& s) {
  const int64_t K = std::min(s.M, s.N);
  for (const int64_t C : {K, s.M}) {
    for (const bool with_q : {true, false}) {
      t.begin(fmt::format("{} columns of q", C));
      Operand& q = with_q ? t.output("q", dtype, {s.B, s.M, C}) : t.absent();
      Operand& r = t.output("r", dtype, {s.B, C, s.N});
      Operand& x = t.input("x", dtype, {s.B, s.M, s.N}, Layout::contiguous, between(-1, 1));
      t.run([&](Side side) { kernels::qr(q[side], r[side], x[side]); });
      const Tensor upper = on_oracle(r[Side::device]);
      expect_zero("r below its diagonal", upper * below(upper));
      if (with_q) {
        const Tensor columns = on_oracle(q[Side::device]);
        expect_orthonormal("q^T q", columns, dtype);
        expect_near("q r", matmul(columns, upper), on_oracle(x[Side::device]), dtype, s.M);
      }
      // The signs of r depend on the reflections: read them from the diagonal, whose elements are
      // not small.
      const Tensor want = on_oracle(r[Side::reference]);
      expect_near("r^T r", matmul(t_of(upper), upper), matmul(t_of(want), want), dtype, s.M);
      const Tensor first = narrow(narrow(upper, -2, 0, std::min<int64_t>(K, 1)), -1, 0, s.N);
      expect_near("the first row of r", first, narrow(want, -2, 0, std::min<int64_t>(K, 1)), dtype,
                  s.M);
    }
  }
}

void check_eigh(Trial& t, DType dtype, const Matrices& s) {
  for (const bool upper : {false, true}) {
    for (const bool with_vectors : {true, false}) {
      t.begin(fmt::format("upper {}", upper));
      const Tensor half = random_matrices(t, s), symmetric = half + t_of(half);
      const Tensor unread =
          where(below(half, !upper) > 0, std::numeric_limits<double>::quiet_NaN(), symmetric);
      Operand& values = t.output("values", dtype, {s.B, s.N});
      Operand& vectors = with_vectors ? t.output("vectors", dtype, {s.B, s.N, s.N}) : t.absent();
      Operand& info = t.output("info", kInt32, {s.B});
      Operand& x = t.input("x", dtype, {s.B, s.N, s.N}, Layout::contiguous, elements_of(unread));
      t.run([&](Side side) {
        kernels::eigh(values[side], vectors[side], info[side], x[side], upper);
      });
      t.expect(info);
      const Tensor l = on_oracle(values[Side::device]);
      expect_near("values", l, on_oracle(values[Side::reference]), dtype, s.N);
      if (!with_vectors) continue;
      const Tensor v = on_oracle(vectors[Side::device]);
      expect_orthonormal("vectors^T vectors", v, dtype);
      expect_near("V L V^T", matmul(v * unsqueeze(l, -2), t_of(v)), symmetric, dtype, s.N);
    }
  }
}

Tensor complex_on_oracle(const Tensor& pairs) { return view_as_complex(on_oracle(pairs)); }

// The eigenvalues have no order: compare the sums of their first and second powers, which are
// traces.
void check_eig(Trial& t, DType dtype, const Matrices& s) {
  for (const int64_t parts : {1, 2}) {
    for (const bool with_vectors : {true, false}) {
      t.begin(parts == 1 ? "real numbers" : "complex numbers");
      Operand& values = t.output("values", dtype, {s.B, s.N, 2});
      Operand& vectors = with_vectors ? t.output("vectors", dtype, {s.B, s.N, s.N, 2}) : t.absent();
      Operand& info = t.output("info", kInt32, {s.B});
      Operand& x = t.input("x", dtype, {s.B, s.N, s.N, parts}, Layout::contiguous, between(-1, 1));
      t.run([&](Side side) { kernels::eig(values[side], vectors[side], info[side], x[side]); });
      t.expect(info);
      const Tensor pairs = on_oracle(x[Side::device]);
      const Tensor a = view_as_complex(parts == 2 ? pairs : cat({pairs, zeros_like(pairs)}, -1));
      const Tensor l = complex_on_oracle(values[Side::device]);
      // With E = p(n) epsilon |A| of a rounded A + E in Frobenius' norm, the sums change by at most
      // sqrt(n) |E| and 2 |A| |E|, and are compared in units of these without p(n) epsilon.
      const double norm = std::sqrt(square(abs(a)).sum().item<double>());
      const auto expect_sum = [&](const char* what, const Tensor& numbers, const Tensor& matrix,
                                  double unit) {
        const Tensor trace = (matrix * identities(s.N)).sum(IntArrayRef{-2, -1});
        const double scale = 1 / std::max(unit, 1.0);
        expect_near(what, view_as_real(numbers.sum(-1)) * scale, view_as_real(trace) * scale, dtype,
                    s.N);
      };
      expect_sum("the sum of values", l, a, std::sqrt(static_cast<double>(s.N)) * norm);
      expect_sum("the sum of squares of values", l * l, matmul(a, a), 2 * norm * norm);
      if (!with_vectors) continue;
      const Tensor v = complex_on_oracle(vectors[Side::device]);
      const Tensor norms = square(abs(v)).sum(-2);
      expect_near("norms of vectors", norms, ones_like(norms), dtype, s.N);
      expect_near("A V", view_as_real(matmul(a, v)), view_as_real(v * unsqueeze(l, -2)), dtype,
                  s.N);
    }
  }
}

void check_svd(Trial& t, DType dtype, const Matrices& s) {
  const int64_t K = std::min(s.M, s.N);
  enum Form { reduced, full, values_only };
  for (const Form form : {reduced, full, values_only}) {
    t.begin(form == reduced ? "reduced" : form == full ? "full" : "values only");
    const int64_t C = form == full ? s.M : K, D = form == full ? s.N : K;
    const bool all = form != values_only;
    Operand& u = all ? t.output("u", dtype, {s.B, s.M, C}) : t.absent();
    Operand& values = t.output("s", dtype, {s.B, K});
    Operand& vh = all ? t.output("vh", dtype, {s.B, D, s.N}) : t.absent();
    Operand& info = t.output("info", kInt32, {s.B});
    Operand& x = t.input("x", dtype, {s.B, s.M, s.N}, Layout::contiguous, between(-1, 1));
    t.run([&](Side side) { kernels::svd(u[side], values[side], vh[side], info[side], x[side]); });
    t.expect(info);
    const int64_t n = std::max(s.M, s.N);
    const Tensor l = on_oracle(values[Side::device]);
    expect_near("s", l, on_oracle(values[Side::reference]), dtype, n);
    if (!all) continue;
    const Tensor left = on_oracle(u[Side::device]), right = on_oracle(vh[Side::device]);
    expect_orthonormal("u^T u", left, dtype);
    expect_orthonormal("vh vh^T", t_of(right), dtype);
    const Tensor scaled = narrow(left, -1, 0, K) * unsqueeze(l, -2);
    expect_near("u s vh", matmul(scaled, narrow(right, -2, 0, K)), on_oracle(x[Side::device]),
                dtype, n);
  }
}

void add_cases_of(Cases& cases, DType dtype) {
  const auto add = [&](const char* op, const char* form, std::function<void(Trial&)> check) {
    cases.push_back(kernel_case(fmt::format("{}/{}/{}", op, name(dtype), form), std::move(check)));
  };
  const auto add_sizes = [&](const char* op, std::span<const Matrices> sizes,
                             void (*check)(Trial&, DType, const Matrices&)) {
    add(op, "sizes", [=](Trial& t) {
      for (const Matrices& s : sizes) check(t, dtype, s);
    });
    add(op, "empty", [=](Trial& t) {
      for (const Matrices& s : kEmpty) check(t, dtype, s);
    });
  };
  add_sizes("lu_factor", kAny, check_lu_factor);
  add("lu_factor", "singular", [=](Trial& t) { check_lu_singular(t, dtype); });
  add_sizes("cholesky", kSquare, check_cholesky);
  add("cholesky", "not_positive", [=](Trial& t) { check_not_positive(t, dtype); });
  add_sizes("qr", kAny, check_qr);
  add_sizes("eigh", kSquare, check_eigh);
  add_sizes("eig", kSquare, check_eig);
  add_sizes("svd", kAny, check_svd);
  add("lu_solve", "sizes", [=](Trial& t) {
    for (const Matrices& s : kSquare) check_lu_solve(t, dtype, s, 3);
    check_lu_solve(t, dtype, {2, 7, 7}, 1);
  });
  add("lu_solve", "empty", [=](Trial& t) {
    for (const Matrices& s : kEmpty) check_lu_solve(t, dtype, s, 2);
    check_lu_solve(t, dtype, {2, 3, 3}, 0);
  });
  add("triangular_solve", "sizes", [=](Trial& t) {
    for (const Matrices& s : kSquare) check_triangular_solve(t, dtype, s, 3);
    check_triangular_solve(t, dtype, {2, 7, 7}, 1);
  });
  add("triangular_solve", "empty", [=](Trial& t) {
    for (const Matrices& s : kEmpty) check_triangular_solve(t, dtype, s, 2);
    check_triangular_solve(t, dtype, {2, 3, 3}, 0);
  });
}

}  // namespace

void add_factor_cases(Cases& cases) {
  for (const DType dtype : dtypes::kAnyFloating) add_cases_of(cases, dtype);
}

}  // namespace conformance
