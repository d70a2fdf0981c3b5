// LDL factors of symmetric matrices: PyTorch's values, products, gradients, singular and empty
// matrices, bad calls.
#include <ambit/ambit.h>

#include <cmath>
#include <limits>

#include "tests/autograd/gradcheck.h"
#include "tests/devices.h"
#include "tests/expected.h"
#include "tests/mismatch/mismatch_calls.h"
#include "tests/tables/agreement_calls.h"
#include "tests/tables/bad_calls.h"

using namespace ambit;

namespace {

// a = wave(5, 5, k=k); a + a.mT with `diagonal` times its diagonal, plus `more` times 1
Tensor symmetric(Device d, double k, double diagonal, double more) {
  const Tensor w = wave(d, {5, 5}, k), a = w + w.t();
  return a + diag(a.diagonal() * (diagonal - 1) + more);
}

struct Case {
  double k, diagonal, more;
  std::vector<double> LD, pivots, x;
};
// LD, pivots = torch.linalg.ldl_factor(a); x = torch.linalg.ldl_solve(LD, pivots, wave(5, 2, k=.4))
const Case kCases[] = {
    {1.3,
     0,
     0,
     {0,
      0,
      0,
      0,
      0,
      1.17867817351,
      0,
      0,
      0,
      0,
      1.10791084113,
      0.793828569732,
      -2.07327434728,
      0,
      0,
      0.0856627086691,
      -0.069761442362,
      0.495261566461,
      0.522628518191,
      0,
      0.0554386414758,
      -0.102569308534,
      0.406459837024,
      -0.985582850886,
      0.355929466522},
     {-2, -2, 3, -5, -5},
     {0.611639352012, 0.521652915048, -0.0784194250572, 0.0873558069775, 0.0266035962199,
      0.257307275261, -0.0319477298125, 0.103827208896, -0.536924850089, -0.448624475375}},
    {2.1,
     0,
     0,
     {0,
      0,
      0,
      0,
      0,
      0.100788356176,
      0,
      0,
      0,
      0,
      -0.816947258216,
      -0.346469921749,
      -0.141484873693,
      0,
      0,
      -0.692548045263,
      -0.163574384466,
      -0.750150549584,
      0.211932199286,
      0,
      -1.14243251004,
      -0.61438287295,
      1.37883233324,
      -1.10146183747,
      -0.20033804052},
     {-4, -4, 5, 5, 5},
     {-5.65149978502, -11.3234363445, -9.54645923637, -12.8599385253, -7.01448979386,
      -9.17984970054, -3.99802230435, -0.47470013658, -0.0100204306135, 1.53922695589}},
    {0.9,
     1,
     1,
     {1,
      0,
      0,
      0,
      0,
      -0.194203208038,
      -1.4606095231,
      0,
      0,
      0,
      1.38596611612,
      1.41830858324,
      2.15101825443,
      0,
      0,
      1.23116430679,
      -1.36821078241,
      -1.39745051856,
      -4.14526814536,
      0,
      -1.19350769007,
      -0.990334353178,
      1.28666278437,
      -1.04155371624,
      2.70646617415},
     {1, 4, 4, 4, 5},
     {0.436117978456, 0.437676856036, 0.0338803812775, -0.160363954909, -0.205121360538,
      -0.17524931519, 0.215504914306, 0.352824064864, 0.344001975163, 0.226975069358}},
};

}  // namespace

TEST_CASE("linalg_ldl_factor and linalg_ldl_solve have LAPACK's values") {
  for_each_device([](Device d) {
    const Tensor b = wave(d, {5, 2}, 0.4);
    std::vector<Tensor> all;
    for (const Case& c : kCases) {
      INFO("k = ", c.k);
      const Tensor a = all.emplace_back(symmetric(d, c.k, c.diagonal, c.more));
      const auto [LD, pivots, info] = linalg_ldl_factor_ex(a);
      CHECK(pivots.dtype() == kInt32);
      check_values(LD, {5, 5}, c.LD, 1e-10);  // values have 12 digits; condition number 30
      check_values(pivots, {5}, c.pivots);
      CHECK(info.item<int>() == 0);
      check_values(linalg::ldl_solve(LD, pivots, b), {5, 2}, c.x, 1e-10);
      // Only the lower triangle is read.
      const Tensor lower = a.tril() + full({5, 5}, 7, a.options()).triu(1);
      CHECK(std::get<0>(linalg::ldl_factor(lower)).equal(LD));
    }
    const Tensor a = stack(all, 0);
    const auto [LD, pivots] = linalg::ldl_factor(a);
    // The rounding errors of 5 steps, multiplied by the condition number, are below 1e-13.
    CHECK(matmul(a, linalg_ldl_solve(LD, pivots, b)).allclose(b.expand({3, 5, 2}), 0, 1e-12));
    const Tensor wide = wave(d, {2, 1, 5, 3}, 1.1);
    const Tensor x = linalg_ldl_solve(LD[1], pivots[1], wide);
    CHECK(x.sizes() == IntArrayRef{2, 1, 5, 3});
    CHECK(matmul(a[1], x).allclose(wide, 0, 1e-12));
    const Tensor thin = a.to(kFloat32);
    const auto [f, p] = linalg::ldl_factor(thin);
    CHECK(f.dtype() == kFloat32);
    // The bound is float32's rounding, 1e-7, times the condition number, 30.
    CHECK(linalg_ldl_solve(f, p, b.to(kFloat32))
              .allclose(linalg_ldl_solve(LD, pivots, b).to(kFloat32), 1e-4, 1e-4));
  });
}

TEST_CASE("linalg_ldl_factor of singular, empty and other matrices") {
  for_each_device([](Device d) {
    const TensorOptions options = TensorOptions(kFloat64).device(d);
    const auto [LD, pivots, info] = linalg_ldl_factor_ex(zeros({2, 3, 3}, options));
    CHECK(info.cpu().equal(tensor({1, 1}).to(kInt32)));
    CHECK(pivots[0].cpu().equal(tensor({1, 2, 3}).to(kInt32)));
    CHECK_THROWS_AS(linalg_ldl_factor(zeros({3, 3}, options)), LinAlgError);
    CHECK_THROWS_AS(linalg_ldl_factor_ex(zeros({3, 3}, options), false, true), LinAlgError);
    const Tensor nan = full({2, 2}, std::numeric_limits<double>::quiet_NaN(), options);
    CHECK(std::get<2>(linalg_ldl_factor_ex(nan)).item<int>() == 1);
    for (const Dims& sizes : {Dims{0, 0}, Dims{2, 0, 0}, Dims{0, 3, 3}}) {
      const auto [f, p] = linalg_ldl_factor(zeros(sizes, options));
      CHECK(f.sizes() == sizes);
      CHECK(p.sizes() == IntArrayRef(sizes).drop_back());
      Dims sides(sizes);
      sides[sides.size() - 1] = 2;
      CHECK(linalg_ldl_solve(f, p, zeros(sides, options)).sizes() == sides);
    }
    // [[0, 1], [1, 0]] is its own inverse.
    const auto [f, p] = linalg_ldl_factor(eye(2, options).flip({0}));
    CHECK(p.cpu().equal(tensor({-2, -2}).to(kInt32)));
    CHECK(linalg_ldl_solve(f, p, eye(2, options)).equal(eye(2, options).flip({0})));
    CHECK(linalg_ldl_solve(f, p, zeros({2, 0}, options)).sizes() == IntArrayRef{2, 0});
    Tensor out = empty({0}, options);
    CHECK(linalg_ldl_solve_out(out, f, p, eye(2, options)).sizes() == IntArrayRef{2, 2});
  });
}

TEST_CASE("linalg_ldl_solve has only the gradient of B") {
  for_each_device([](Device d) {
    const Tensor a = symmetric(d, 1.3, 0, 0);
    const auto [LD, pivots] = linalg_ldl_factor(a);
    const auto solve = [&, LD = LD, pivots = pivots](const std::vector<Tensor>& in) {
      return linalg_ldl_solve(LD.expand({2, 5, 5}), pivots.expand({2, 5}), in[0]);
    };
    gradcheck(solve, {wave(d, {5, 2}, 0.4)});
    gradgradcheck(solve, {wave(d, {5, 2}, 0.4)});
    const auto [recorded, p] = linalg_ldl_factor(a.clone().requires_grad_());
    CHECK(recorded.requires_grad());
    CHECK_THROWS_AS(recorded.sum().backward(), NotImplementedError);
    const Tensor x = linalg_ldl_solve(LD.clone().requires_grad_(), p, wave(d, {5, 2}));
    CHECK_THROWS_AS(x.sum().backward(), NotImplementedError);
  });
}

namespace {

Tensor m33() { return ones({3, 3}); }
Tensor swaps(int value = 1) { return full({3}, value, kInt32); }

std::vector<bad_input::BadCall> bad_calls() {
  using namespace bad_input;
  return {
      SHAPE(linalg_ldl_factor, m23()),
      SHAPE(linalg_ldl_factor, ones({3})),
      DTYPE(linalg_ldl_factor, ones({3, 3}, kInt64)),
      VALUE(linalg_ldl_factor, none()),
      SHAPE(linalg_ldl_factor_ex, m23()),
      DTYPE(linalg_ldl_factor_ex, ones({3, 3}, kInt64)),
      VALUE(linalg_ldl_factor_ex, none()),
      SHAPE(linalg_ldl_solve, m23(), swaps(), m33()),
      SHAPE(linalg_ldl_solve, m33(), swaps(), m23()),
      SHAPE(linalg_ldl_solve, m33(), swaps(), ones({3})),
      SHAPE(linalg_ldl_solve, m33(), ones({2}, kInt32), m33()),
      DTYPE(linalg_ldl_solve, m33(), swaps().to(kInt64), m33()),
      DTYPE(linalg_ldl_solve, m33(), swaps(), ones({3, 3}, kFloat64)),
      INDEX(linalg_ldl_solve, m33(), swaps(4), m33()),
      INDEX(linalg_ldl_solve, m33(), swaps(0), m33()),
      INDEX(linalg_ldl_solve, m33(), swaps(-3),
            m33()),  // a block of two rows begins in the last row
      INDEX(linalg_ldl_solve, m33(), swaps(std::numeric_limits<int>::min()), m33()),
      VALUE(linalg_ldl_solve, m33(), none(), m33()),
      DEVICE(linalg_ldl_solve, m33(), swaps(), there()),
  };
}
const CallTable<bad_input::BadCall> kBad(bad_calls);

std::vector<mismatch::Call> mixed_calls() {
  using namespace mismatch;
  return {CALL(linalg_ldl_solve, strict, given(f(), ones({2}, kInt32), f()), t[0], t[1], t[2]),
          reported_as(Call{"ldl_solve", Rule::strict, given(f(), ones({2}, kInt32), f()),
                           [](const Tensors& t) {
                             static_cast<void>(linalg::ldl_solve(t[0], t[1], t[2]));
                           }},
                      "linalg_ldl_solve")};
}
const CallTable<mismatch::Call> kMixed(mixed_calls);

std::vector<agreement::Call> agreeing_calls() {
  using namespace agreement;
#define SQUARE MADE(matmul(o.a.t(), o.a) + eye(o.a.size(1), o.a.options()))
  return {
      full_only(RESULT(linalg_ldl_factor, std::get<0>(linalg_ldl_factor(SQUARE)))),
      full_only(RESULT(linalg_ldl_factor_ex, std::get<0>(linalg_ldl_factor_ex(SQUARE)))),
      full_only(RESULT(
          linalg_ldl_solve,
          linalg_ldl_solve(SQUARE, MADE(arange(1, o.a.size(1) + 1, o.n.options()).to(kInt32)),
                           MADE(o.a.t().clone())))),
  };
#undef SQUARE
}
const CallTable<agreement::Call> kAgreeing(agreeing_calls);

}  // namespace
