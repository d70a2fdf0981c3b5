// Products and linear algebra.
#include <ambit/ambit.h>
#include <fmt/format.h>

#include "calls.h"

namespace fuzz {

using namespace ambit;

namespace {

using Fill = Generator::Fill;

void einsum_call(Generator& g) {
  Random& r = g.random();
  int64_t size_of[5];
  for (int64_t& n : size_of) n = r.one_in(16) ? 0 : r.between(1, 3);
  static const char kLetters[] = "abcde";
  std::string equation;
  std::vector<int> operands;
  std::string letters;
  const int64_t n = r.between(1, 3);
  for (int64_t i = 0; i < n; ++i) {
    Sizes shape;
    if (i > 0) equation += r.one_in(2) ? "," : ", ";
    for (int64_t d = r.between(0, 3); d > 0; --d) {
      const int64_t l = r.between(0, 4);
      equation += kLetters[l];
      letters += kLetters[l];
      shape.push_back(size_of[l]);
    }
    operands.push_back(g.operand(shape));
  }
  if (!r.one_in(3)) {
    equation += "->";
    std::string out;
    for (const char c : letters) {
      if (out.find(c) == out.npos && r.one_in(2)) out.insert(r.one_in(2) ? 0 : out.size(), 1, c);
    }
    equation += out;
  }
  std::string python = "torch.einsum('" + equation + "'";
  for (int64_t i = 0; i < n; ++i) python += fmt::format(", ${}", i);
  g.call(
      python + ")", operands, [=](const Tensors& t) { return einsum(equation, t); }, 512);
}

void product(Generator& g) {
  Random& r = g.random();
  const auto size = [&] { return r.one_in(16) ? 0 : r.between(1, 4); };
  const int64_t B = size(), M = size(), K = size(), N = size(), beta = r.between(0, 2),
                alpha = r.between(1, 2);
  const std::string by = fmt::format(", beta={}, alpha={})", beta, alpha);
  switch (r.between(0, 15)) {
    case 0:
      g.call("torch.addmm($0, $1, $2" + by,
             {g.operand(g.broadcastable({M, N})), g.operand({M, K}), g.operand({K, N})},
             [=](const Tensors& t) { return addmm(t[0], t[1], t[2], beta, alpha); });
      break;
    case 1:
      // With beta 0 PyTorch 1.13 multiplies uninitialised memory.
      g.call(fmt::format("torch.baddbmm($0, $1, $2, beta={}, alpha={})", beta + 1, alpha),
             {g.operand(g.broadcastable({B, M, N})), g.operand({B, M, K}), g.operand({B, K, N})},
             [=](const Tensors& t) { return baddbmm(t[0], t[1], t[2], beta + 1, alpha); });
      break;
    case 2:
      g.call("torch.addbmm($0, $1, $2" + by,
             {g.operand(g.broadcastable({M, N})), g.operand({B, M, K}), g.operand({B, K, N})},
             [=](const Tensors& t) { return addbmm(t[0], t[1], t[2], beta, alpha); });
      break;
    case 3:
      g.call("torch.addmv($0, $1, $2" + by, {g.operand({M}), g.operand({M, K}), g.operand({K})},
             [=](const Tensors& t) { return addmv(t[0], t[1], t[2], beta, alpha); });
      break;
    case 4:
      g.call("torch.addr($0, $1, $2" + by,
             {g.operand(g.broadcastable({M, N})), g.operand({M}), g.operand({N})},
             [=](const Tensors& t) { return addr(t[0], t[1], t[2], beta, alpha); });
      break;
    case 5:
      g.call("torch.bmm($0, $1)", {g.operand({B, M, K}), g.operand({B, K, N})},
             [=](const Tensors& t) { return bmm(t[0], t[1]); });
      break;
    case 6: {
      Sizes a = g.small_sizes(0, 2), b = g.broadcastable(a);
      if (!r.one_in(4)) a.push_back(M);
      a.push_back(K);
      b.push_back(K);
      if (!r.one_in(4)) b.push_back(N);
      g.call("torch.matmul($0, $1)", {g.operand(a), g.operand(b)},
             [=](const Tensors& t) { return matmul(t[0], t[1]); });
      break;
    }
    case 7: {
      const Sizes a{M, K, N}, b{N, K, B};
      g.call("torch.tensordot($0, $1, ([1, 2], [1, 0]))", {g.operand(a), g.operand(b)},
             [=](const Tensors& t) {
               return tensordot(t[0], t[1], {1, 2}, {1, 0});
             });
      break;
    }
    case 8:
      g.call("torch.kron($0, $1)", {g.operand(g.small_sizes(0, 3)), g.operand(g.small_sizes(0, 3))},
             [=](const Tensors& t) { return kron(t[0], t[1]); });
      break;
    case 9: {
      Sizes shape = g.small_sizes(0, 2);
      const int64_t d = r.between(0, static_cast<int64_t>(shape.size()));
      shape.insert(shape.begin() + d, 3);
      g.call(fmt::format("torch.cross($0, $1, dim={})", d), {g.operand(shape), g.operand(shape)},
             [=](const Tensors& t) { return cross(t[0], t[1], d); });
      break;
    }
    case 10: {
      const Sizes in = g.small_sizes(0, 3);
      Sizes x = in;
      x.push_back(K);
      Sizes y = in;
      y.push_back(M);
      g.call("F.bilinear($0, $1, $2, $3)",
             {g.operand(x), g.operand(y), g.operand({N, K, M}), r.one_in(2) ? g.operand({N}) : -1},
             [=](const Tensors& t) { return nn::functional::bilinear(t[0], t[1], t[2], t[3]); });
      break;
    }
    case 11:
      g.call("torch.dot($0, $1)", {g.operand({K}), g.operand({K})},
             [=](const Tensors& t) { return dot(t[0], t[1]); });
      break;
    case 12:
      g.call("torch.vdot($0, $1)", {g.operand({K}), g.operand({K})},
             [=](const Tensors& t) { return vdot(t[0], t[1]); });
      break;
    case 13:
      g.call("torch.mv($0, $1)", {g.operand({M, K}), g.operand({K})},
             [=](const Tensors& t) { return mv(t[0], t[1]); });
      break;
    case 14: {
      Sizes a = g.small_sizes(0, 2), b = g.small_sizes(0, 2);
      a.push_back(K);
      b.push_back(K);
      g.call("torch.inner($0, $1)", {r.one_in(8) ? g.operand({}) : g.operand(a), g.operand(b)},
             [=](const Tensors& t) { return inner(t[0], t[1]); });
      break;
    }
    default:
      g.call(
          "torch.linalg.multi_dot([$0, $1, $2])",
          {g.operand(r.one_in(3) ? Sizes{K} : Sizes{M, K}), g.operand({K, N}),
           g.operand(r.one_in(3) ? Sizes{N} : Sizes{N, B})},
          [=](const Tensors& t) { return linalg_multi_dot(t); }, 256);
  }
}

// The matrix is not nearly singular: the condition number is below 10, and singular values are
// distinct.
Tensor regular(const Tensor& x) {
  const int64_t n = x.size(-1);
  const TensorOptions o = TensorOptions(kInt64).device(x.device());
  return x / 32 + diag(arange(n, o).to(x.dtype()) + 1);
}

// Positive definite for any shape of m: m m^T alone is singular if m has more rows than columns,
// and rounding then decides if it has a factor.
Tensor definite(const Tensor& m) {
  return matmul(m, m.transpose(-2, -1)) + eye(m.size(-2), m.options());
}

struct Row {
  const char* python;  // an expression of m = regular($0) and b = $1
  Tensor (*run)(const Tensor& m, const Tensor& b);
};
#define AMBIT_ROW(python, ...)                                                                 \
  {                                                                                            \
    python, []([[maybe_unused]] const Tensor& m, [[maybe_unused]] const Tensor& b) -> Tensor { \
      return __VA_ARGS__;                                                                      \
    }                                                                                          \
  }
const std::vector<Row> kMatrices{
    AMBIT_ROW("torch.linalg.inv(m)", linalg_inv(m)),
    AMBIT_ROW("torch.linalg.det(m)", linalg_det(m)),
    AMBIT_ROW("torch.linalg.slogdet(m)[1]", std::get<1>(linalg_slogdet(m))),
    AMBIT_ROW("torch.logdet(m)", logdet(m)),
    AMBIT_ROW("torch.linalg.solve(m, b)", linalg_solve(m, b)),
    AMBIT_ROW("torch.linalg.solve(m, b.mT, left=False)",
              linalg_solve(m, b.transpose(-2, -1), false)),
    AMBIT_ROW("torch.linalg.solve_triangular(m, b, upper=True)",
              linalg_solve_triangular(m, b, true)),
    AMBIT_ROW("torch.linalg.solve_triangular(m, b.mT, upper=False, left=False)",
              linalg_solve_triangular(m, b.transpose(-2, -1), false, false)),
    AMBIT_ROW("torch.linalg.solve_triangular(m, b, upper=False, unitriangular=True)",
              linalg_solve_triangular(m, b, false, true, true)),
    AMBIT_ROW("torch.linalg.cholesky(definite(m))", linalg_cholesky(definite(m))),
    AMBIT_ROW("torch.linalg.cholesky(definite(m), upper=True)", linalg_cholesky(definite(m), true)),
    AMBIT_ROW("torch.cholesky_solve(b, m.tril())", cholesky_solve(b, m.tril())),
    AMBIT_ROW("torch.cholesky_inverse(m.tril())", cholesky_inverse(m.tril())),
    AMBIT_ROW("flat(torch.linalg.qr(m))", flat(linalg_qr(m))),
    AMBIT_ROW("torch.linalg.qr(torch.cat([m, b], -1).detach(), 'r')[1]",
              std::get<1>(linalg_qr(cat({m, b}, -1).detach(), "r"))),
    AMBIT_ROW("flat(torch.linalg.lu(m))", flat(linalg_lu(m))),
    AMBIT_ROW("torch.linalg.lu_factor(m)[0]", std::get<0>(linalg_lu_factor(m))),
    AMBIT_ROW("torch.linalg.svdvals(m)", linalg_svdvals(m)),
    AMBIT_ROW("(lambda u, s, v: (u * s.unsqueeze(-2)) @ v)(*torch.linalg.svd(m, False))",
              [](const std::tuple<Tensor, Tensor, Tensor>& usv) {
                return matmul(std::get<0>(usv) * std::get<1>(usv).unsqueeze(-2), std::get<2>(usv));
              }(linalg_svd(m, false))),
    AMBIT_ROW("torch.linalg.eigvalsh(m + m.mT)", linalg_eigvalsh(m + m.transpose(-2, -1))),
    AMBIT_ROW("torch.linalg.eigh(m, UPLO='U')[1].square()",
              std::get<1>(linalg_eigh(m, "U")).square()),
    AMBIT_ROW("torch.linalg.pinv(m)", linalg_pinv(m)),
    AMBIT_ROW("torch.linalg.pinv(torch.cat([m, b], -1))", linalg_pinv(cat({m, b}, -1))),
    AMBIT_ROW("torch.linalg.lstsq(torch.cat([m, m], -2), torch.cat([b, 2 * b], -2))[0]",
              std::get<0>(linalg_lstsq(cat({m, m}, -2), cat({b, 2 * b}, -2)))),
    AMBIT_ROW("torch.linalg.matrix_power(m, 3)", linalg_matrix_power(m, 3)),
    AMBIT_ROW("torch.linalg.matrix_power(m, -2)", linalg_matrix_power(m, -2)),
    AMBIT_ROW("torch.matrix_exp(m / 4)", matrix_exp(m / 4)),
    AMBIT_ROW("torch.linalg.norm(m, 'fro', (-2, -1))", linalg_norm(m, "fro", IntArrayRef{-2, -1})),
    AMBIT_ROW("torch.linalg.matrix_norm(m, 'nuc')", linalg_matrix_norm(m, "nuc")),
    AMBIT_ROW("torch.linalg.matrix_norm(m, 1)", linalg_matrix_norm(m, 1)),
    AMBIT_ROW("torch.linalg.matrix_norm(m, -2)", linalg_matrix_norm(m, -2)),
    AMBIT_ROW("torch.linalg.matrix_norm(m, inf, keepdim=True)",
              linalg_matrix_norm(m, std::numeric_limits<double>::infinity(), {-2, -1}, true)),
    AMBIT_ROW("torch.linalg.cond(m)", linalg_cond(m)),
    AMBIT_ROW("torch.linalg.cond(m, 1)", linalg_cond(m, 1)),
    AMBIT_ROW("torch.linalg.matrix_rank(m)", linalg_matrix_rank(m)),
    AMBIT_ROW("torch.linalg.vector_norm(b, 3, -1)", linalg_vector_norm(b, 3, IntArrayRef{-1})),
    AMBIT_ROW("torch.linalg.vecdot(b, b * 2)", linalg_vecdot(b, b * 2)),
    AMBIT_ROW("torch.linalg.householder_product(*torch.geqrf(m.detach()))",
              [](const std::tuple<Tensor, Tensor>& qr) {
                return linalg_householder_product(std::get<0>(qr), std::get<1>(qr));
              }(geqrf(m.detach()))),
    AMBIT_ROW("torch.orgqr(*torch.geqrf(torch.cat([m, m], -2).detach()))",
              [](const std::tuple<Tensor, Tensor>& qr) {
                return orgqr(std::get<0>(qr), std::get<1>(qr));
              }(geqrf(cat({m, m}, -2).detach()))),
    AMBIT_ROW("torch.ormqr(*torch.geqrf(m.detach()), b.detach())",
              [](const std::tuple<Tensor, Tensor>& qr, const Tensor& c) {
                return ormqr(std::get<0>(qr), std::get<1>(qr), c);
              }(geqrf(m.detach()), b.detach())),
    AMBIT_ROW("torch.ormqr(*torch.geqrf(m.detach()), b.detach().mT, left=False, transpose=True)",
              [](const std::tuple<Tensor, Tensor>& qr, const Tensor& c) {
                return ormqr(std::get<0>(qr), std::get<1>(qr), c, false, true);
              }(geqrf(m.detach()), b.detach().transpose(-2, -1))),
    AMBIT_ROW("torch.triangular_solve(b, m, True, True)[0]",
              std::get<0>(triangular_solve(b, m, true, true))),
    AMBIT_ROW("torch.linalg.tensorsolve(m, b.select(-1, 0))",
              linalg_tensorsolve(m, b.select(-1, 0))),
    AMBIT_ROW("torch.corrcoef(m.select(0, 0) if m.dim() > 2 else m)",
              corrcoef(m.dim() > 2 ? m.select(0, 0) : m)),
    AMBIT_ROW("torch.cov(b.select(0, 0) if b.dim() > 2 else b)",
              cov(b.dim() > 2 ? b.select(0, 0) : b)),
};
#undef AMBIT_ROW

void algebra(Generator& g) {
  Random& r = g.random();
  const Row& row = r.choose(kMatrices);
  const int64_t n = r.one_in(16) ? 0 : r.between(1, 4);
  const int64_t dims = r.between(0, 2), least = r.one_in(8) ? 0 : 1;
  const Sizes batch = draw(g, static_cast<size_t>(dims), least, 2);
  Sizes a = batch, b = batch;
  a.insert(a.end(), {n, n});
  b.insert(b.end(), {n, r.between(1, 3)});
  g.call(
      fmt::format("(lambda m, b: {})(regular($0), $1)", row.python), {g.operand(a), g.operand(b)},
      [run = row.run](const Tensors& t) { return run(regular(t[0]), t[1]); }, 4096);
}

}  // namespace

const std::vector<Call> kMatrixCalls{einsum_call, product, product, algebra, algebra};

}  // namespace fuzz
