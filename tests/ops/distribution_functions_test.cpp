// Quantiles, histograms, membership; windows; incomplete gamma functions and frexp; Householder
// reflections: values, gradients.
#include <ambit/ambit.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "tests/autograd/gradcheck.h"
#include "tests/devices.h"
#include "tests/expected.h"

using namespace ambit;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(),
                 kInfinity = std::numeric_limits<double>::infinity();

Tensor f64(Device d, const std::vector<double>& values) {
  return tensor(values, TensorOptions(kFloat64)).to(d);
}

}  // namespace

TEST_CASE("quantile and nanquantile have PyTorch's values and gradients") {
  for_each_device([](Device d) {
    const Tensor x = wave(d, {3, 4});
    // torch.quantile(x, torch.tensor([.3, .9]), dim=1)
    check_values(quantile(x, f64(d, {0.3, 0.9}), 1), {2, 3},
                 {0.579795918514, -0.882663456435, -0.0479941533513, 0.948777620987, 0.129256736802,
                  0.88881374333});
    check_values(quantile(x, 0.37), {}, {0.0011769730339});
    // torch.quantile(x, .6, dim=0, interpolation=i)
    const std::pair<const char*, std::vector<double>> rows[] = {
        {"linear", {0.0669976300312, 0.142294657835, 0.722679224973, 0.888201140094}},
        {"lower", {0.0, 0.0168139004843, 0.656986598719, 0.863209366649}},
        {"higher", {0.334988150156, 0.644217687238, 0.985449729988, 0.988168233877}},
        {"midpoint", {0.167494075078, 0.330515793861, 0.821218164354, 0.925688800263}},
        {"nearest", {0.0, 0.0168139004843, 0.656986598719, 0.863209366649}}};
    for (const auto& [name, want] : rows) check_values(quantile(x, 0.6, 0, false, name), {4}, want);
    const Tensor holes = x.clone();
    holes[1][2] = kNaN;
    check_values(quantile(holes, 0.4, 1), {3}, {0.68801602312, kNaN, 0.144848440131});
    check_values(nanquantile(holes, 0.4, 1), {3}, {0.68801602312, -0.477117104677, 0.144848440131});
    CHECK(nanquantile(full({2}, kNaN, x.options()), 0.5).isnan().item<bool>());
    CHECK(quantile(x, f64(d, {0.5, 0.1}), {}, true).sizes() == IntArrayRef{2, 1, 1});
    CHECK(quantile(x, f64(d, {0.5, 0.1}), -1, true).sizes() == IntArrayRef{2, 3, 1});
    CHECK(quantile(x[0][1], 0.5, 0).dim() == 0);
    CHECK(nanquantile(holes, f64(d, {0.4})[0], 1).equal(nanquantile(holes, 0.4, 1)));
    const Tensor leaf = x.clone().requires_grad_();
    quantile(leaf, f64(d, {0.3, 0.9}), 1).sum().backward();
    check_values(leaf.grad(), {3, 4}, {0.1, 0.9, 0.7, 0.3, 0.7, 0.3, 0.9, 0.1, 0.1, 0.9, 0.3, 0.7});
    const auto f = [](const std::vector<Tensor>& in) { return quantile(in[0], in[1], 1); };
    gradcheck(f, {x, f64(d, {0.3, 0.81})});
    gradgradcheck(f, {x, f64(d, {0.3, 0.81})});
    gradcheck([](const std::vector<Tensor>& in) { return nanquantile(in[0], in[1]); },
              {x, f64(d, {0.41})});
  });
}

TEST_CASE("histogram counts between edges as PyTorch does, and isin finds members") {
  for_each_device([](Device d) {
    const Tensor x = wave(d, {10}, 0.9);
    const auto [hist, edges] = histogram(x, 4);  // torch.histogram(x, 4)
    check_values(hist, {4}, {2, 1, 3, 4});
    check_values(
        edges, {5},
        {-0.977530117665, -0.489685680529, -0.00184124339345, 0.486003193742, 0.973847630878});
    // torch.histogram(x, torch.tensor([-1., -.2, .5, .9]), weight=x.abs(), density=True)[0]
    check_values(std::get<0>(histogram(x, f64(d, {-1, -0.2, 0.5, 0.9}), x.abs(), true)), {3},
                 {0.650454785772, 0.150584243325, 0.935568002637});
    const auto counts = [&](const Tensor& t, const std::optional<std::vector<double>>& range) {
      return std::get<0>(histogram(t, 2, range));
    };
    check_values(counts(f64(d, {1, kNaN, 2, 0, 3}), {{0, 2}}), {2}, {1, 2});  // NaN is not counted
    check_values(counts(f64(d, {1, 1}), {}), {2}, {0, 2});
    check_values(std::get<1>(histogram(f64(d, {}), 2)), {3}, {0, 0.5, 1});
    check_values(std::get<0>(histogram(x.view({2, 5}).t(), 4)), {4}, {2, 1, 3, 4});

    // y = [[-1, .5], [.2, .7], [.9, -.3], [.4, .4], [-.2, 0], [3, 0]]; torch.histogramdd(y, [2,
    // 3]), (y, [2, 3], weight=torch.arange(6.), density=True) and (y, 2, range=[-1, 1, 0, .5])
    const Tensor points =
        f64(d, {-1, 0.5, 0.2, 0.7, 0.9, -0.3, 0.4, 0.4, -0.2, 0, 3, 0}).view({2, 3, 2});
    const auto [grid, sides] = histogramdd(points, {2, 3});
    check_values(grid, {2, 3}, {2, 0, 3, 1, 0, 0});
    check_values(sides[0], {3}, {-1, 1, 3});
    check_values(sides[1], {4}, {-0.3, 0.1 / 3, 1.1 / 3, 0.7});
    const Tensor weights = arange(6, points.options()).view({2, 3});
    check_values(std::get<0>(histogramdd(points, {2, 3}, {}, weights, true)), {2, 3},
                 {0.6, 0, 0.4, 0.5, 0, 0});
    check_values(std::get<0>(histogramdd(points, 2, std::vector<double>{-1, 1, 0, 0.5})), {2, 2},
                 {1, 1, 0, 1});
    check_values(
        std::get<0>(histogramdd(points, TensorList({f64(d, {-1, 0, 1}), f64(d, {-0.5, 0.5})}))),
        {2, 1}, {2, 2});

    const Tensor n = arange(6, TensorOptions(kInt64).device(d)).view({2, 3});
    const auto same = [](const Tensor& got, const Tensor& want) {
      CHECK(got.equal(want));
      CHECK(got.dtype() == kBool);
    };
    const Tensor some = (n == 1).logical_or(n == 4);
    same(isin(n, f64(d, {4, 1, 7})), some);
    same(isin(n, f64(d, {4, 1, 7}), true, true), some.logical_not());
    same(isin(n, f64(d, {})), n < 0);
    same(isin(n, 3), n == 3);
    same(isin(n, 3, false, true), n != 3);
    CHECK(isin(3, n).item<bool>());
    CHECK(isin(9, n, false, true).item<bool>());
    CHECK(!isin(f64(d, {kNaN}), f64(d, {kNaN})).item<bool>());
    // PyTorch 2.15: NaN does not hide other elements.
    const double inf = INFINITY;
    check_values(isin(f64(d, {1, 2}), f64(d, {kNaN, 2})), {2}, {0, 1});
    check_values(isin(f64(d, {1, 2, kNaN, 5, 7}), f64(d, {3, kNaN, 5, 1, kNaN})), {5},
                 {1, 0, 0, 1, 0});
    check_values(isin(f64(d, {inf, -inf, kNaN}), f64(d, {kNaN, inf})), {3}, {1, 0, 0});
    check_values(isin(f64(d, {inf, 3}), f64(d, {kNaN, 2}), false, true), {2}, {1, 1});
    check_values(isin(f64(d, {inf, 3}), f64(d, {kNaN, kNaN})), {2}, {0, 0});
    CHECK(isin(n > 2, n.narrow(0, 0, 1) > 0).all().item<bool>());
  });
}

TEST_CASE("windows have PyTorch's values") {
  for_each_device([](Device d) {
    const TensorOptions o = TensorOptions(kFloat64).device(d);
    check_values(hann_window(5, o), {5},
                 {0, 0.345491502813, 0.904508497187, 0.904508497187, 0.345491502813});
    check_values(hamming_window(5, false, o), {5}, {0.08, 0.54, 1, 0.54, 0.08});
    check_values(hamming_window(4, true, 0.4, 0.5, o), {4}, {-0.1, 0.4, 0.9, 0.4});
    check_values(hamming_window(4, true, 0.4, o), {4}, {-0.06, 0.4, 0.86, 0.4});
    check_values(hamming_window(4, o), {4}, {0.08, 0.54, 1, 0.54});
    check_values(blackman_window(4, o), {4}, {0, 0.34, 1, 0.34});
    check_values(bartlett_window(5, o), {5}, {0, 0.4, 0.8, 0.8, 0.4});
    check_values(kaiser_window(5, true, 6, o), {5},
                 {0.0148733371048, 0.339018056649, 0.895400184193, 0.895400184193, 0.339018056649});
    CHECK(kaiser_window(5, o).equal(kaiser_window(5, true, 12, o)));
    check_values(hann_window(5, false, o).narrow(0, 0, 4), {4}, {0, 0.5, 1, 0.5});
    CHECK(hann_window(1, o).equal(ones({1}, o)));
    CHECK(hann_window(0).sizes() == IntArrayRef{0});
    CHECK(hann_window(3).dtype() == kFloat32);
    CHECK(hann_window(3, TensorOptions(kFloat64).requires_grad(true)).requires_grad());
  });
}

TEST_CASE("igamma and igammac have PyTorch's values, also at the limits") {
  for_each_device([](Device d) {
    const Tensor a = f64(d, {0.5, 1, 2, 5, 30, 200, 0, 1e-3, 3, 1e5}),
                 x = f64(d, {0.2, 1, 7, 4, 31, 150, 1, 0.01, 0, 1.001e5});
    // torch.igamma(a, x), except for (30, 31), where PyTorch has an error of 3e-10; that value is
    // 1 - e^-x * (the sum of x^k / k! for k < a).
    const std::vector<double> lower{0.472910743134,
                                    0.632120558829,
                                    0.992704944276,
                                    0.37116306482,
                                    0.595347820966,
                                    5.70968857421e-05,
                                    1,
                                    0.995969403034,
                                    0,
                                    0.624445130699};
    const std::vector<double> upper{0.527089256866,
                                    0.367879441171,
                                    0.00729505572444,
                                    0.62883693518,
                                    0.404652179034,
                                    0.999942903114,
                                    0,
                                    0.00403059696649,
                                    1,
                                    0.375554869301};
    check_values(igamma(a, x), {10}, lower);
    check_values(igammac(a, x), {10}, upper);
    check_values(igammac(f64(d, {1e-8, 4}), f64(d, {0.3, 60})) * f64(d, {1e8, 1e21}), {2},
                 {0.905676656804, 0.331530253986},
                 1e-8);  // 1e-8: PyTorch, too, uses lgamma(1 + a)
    check_values(igamma(f64(d, {-1, 1, kNaN, kInfinity, 2, kInfinity}),
                        f64(d, {1, -1, 1, 3, kInfinity, kInfinity})),
                 {6}, {kNaN, kNaN, kNaN, 0, 1, kNaN});
    // a is so large that no series converges; the expected values are integrals of the density,
    // computed with 36 digits.
    const Tensor large = f64(d, {1e12, 1e12, 1e12, 1e12, 1e300, 1e300, 1e300, 1e20}),
                 near =
                     f64(d, {1e12 - 2e6, 1e12 + 1e6, 1e12, 1e12 + 3e6, 1e300, 1e299, 1.5e300, 1});
    check_values(igamma(large, near), {8},
                 {0.0227500779572, 0.841344746068, 0.500000132981, 0.99865009015, 0.5, 0, 1, 0});
    check_values(igammac(large, near), {8},
                 {0.977249922043, 0.158655253932, 0.499999867019, 0.00134990984992, 0.5, 1, 0, 1});
    CHECK(igamma(a.view({10, 1}), x).sizes() == IntArrayRef{10, 10});
    CHECK(igamma(a.to(kFloat32), x.to(kFloat32)).dtype() == kFloat32);
    const Tensor written = a.clone();
    igamma_(written, x);
    CHECK(written.equal(igamma(a, x)));
    CHECK(igammac_(written.copy_(a), x).equal(igammac(a, x)));
    CHECK(special::gammainc(a, x).equal(igamma(a, x)));
    CHECK(special::gammaincc(a, x).equal(igammac(a, x)));
    const Tensor b = f64(d, {0.6, 2, 9}), y = f64(d, {0.4, 2.5, 7});
    gradcheck([&](const std::vector<Tensor>& in) { return igamma(b, in[0]); }, {y});
    gradcheck([&](const std::vector<Tensor>& in) { return igammac(b, in[0]); }, {y});
    gradgradcheck([&](const std::vector<Tensor>& in) { return igamma(b, in[0]); }, {y});
    CHECK_THROWS_AS(igamma(b.clone().requires_grad_(), y).sum().backward(), NotImplementedError);
  });
}

TEST_CASE("frexp splits numbers exactly") {
  for_each_device([](Device d) {
    const Tensor x = f64(d, {0, -0.0, 1, -3, kInfinity, kNaN, 5e-324});
    const auto [mantissa, exponent] = frexp(x);
    check_values(mantissa, {7}, {0, 0, 0.5, -0.75, kInfinity, kNaN, 0.5});
    check_values(exponent, {7}, {0, 0, 1, 2, 0, 0, -1073});
    CHECK(exponent.dtype() == kInt32);
    CHECK(std::get<0>(frexp(x.to(kFloat32))).dtype() == kFloat32);
    gradcheck([](const std::vector<Tensor>& in) { return std::get<0>(frexp(in[0])); },
              {f64(d, {0.3, -5, 100})});
  });
}

TEST_CASE("geqrf, orgqr and ormqr have LAPACK's values") {
  for_each_device([](Device d) {
    // A = wave(4, 3, k=.9) + torch.eye(4, 3); a, tau = torch.geqrf(A)
    const Tensor A = wave(d, {4, 3}, 0.9) + eye(4, 3, TensorOptions(kFloat64).device(d));
    const auto [a, tau] = geqrf(A);
    check_values(a, {4, 3},
                 {-1.64939527113, -0.853827348094, 0.77226564496, 0.161312237887, -0.604555800787,
                  -1.18908639812, -0.29167580088, 0.550516617294, -1.82214355923, 0.366079694266,
                  -0.208488269753, -0.138142448175});
    check_values(tau, {3}, {1.60628281013, 1.48529273765, 1.96254803643});
    check_values(orgqr(a, tau), {4, 3},
                 {-0.606282810131, -0.43944010679, -0.504640129942, -0.259113074782,
                  -0.556179804693, 0.789603994282, 0.468513825085, -0.689504288536, -0.335852001619,
                  -0.588027520037, 0.148796013007, -0.0952223948124});
    // torch.ormqr(a, tau, wave(4, 2, k=.4)); (a, tau, wave(2, 4, k=.4), False, True)
    check_values(ormqr(a, tau, wave(d, {4, 2}, 0.4)), {4, 2},
                 {-1.10991421802, -1.24848920045, 0.395063225543, 0.101068229098, -0.534138434396,
                  -0.618694197507, 0.544710259403, 0.0875202472135});
    check_values(ormqr(a, tau, wave(d, {2, 4}, 0.4), false, true), {2, 4},
                 {-0.933640527874, 0.356429252911, -0.100732153682, 0.725306728111, -1.490420105,
                  -0.229018979923, -0.238613851241, -0.252385448883});
    check_values(std::get<0>(geqrf(A.t())), {3, 4},
                 {-1.60061871022, 0.0549142466415, -0.616739943521, -0.529259753547, 0.301207903546,
                  -1.20249181895, 1.69679918386, -0.931879968519, 0.374467670732, -0.677884940481,
                  0.745115050186, -0.413945434448});
    CHECK(linalg::householder_product(a, tau).equal(orgqr(a, tau)));
    CHECK(linalg_householder_product(a, tau.narrow(0, 0, 2)).sizes() == IntArrayRef{4, 3});
    const auto [zero, none] = geqrf(zeros({2, 0, 3}, A.options()));
    CHECK(none.sizes() == IntArrayRef{2, 0});
    CHECK(std::get<1>(geqrf(zeros({2, 3}, A.options()))).equal(zeros({2}, A.options())));
    // Q R = A, for batches, and for numbers whose squares underflow or overflow.
    for (const double scale : {1.0, 1e200, 1e-200}) {
      const Tensor many = stack({A, A * 2 - 1}, 0) * scale;
      const auto [b, t] = geqrf(many);
      const Tensor r = b.narrow(-2, 0, 3).triu();
      CHECK((matmul(orgqr(b, t), r) / scale).allclose(many / scale, 1e-12, 1e-12));
    }
    const auto q = [](const std::vector<Tensor>& in) { return orgqr(in[0], in[1]); };
    gradcheck(q, {a, tau});
    gradgradcheck(q, {a, tau});
    gradcheck([](const std::vector<Tensor>& in) { return ormqr(in[0], in[1], in[2], true, true); },
              {a, tau, wave(d, {4, 2})});
    gradcheck([](const std::vector<Tensor>& in) { return ormqr(in[0], in[1], in[2], false); },
              {a, tau, wave(d, {2, 4})});
    CHECK_THROWS_AS(std::get<0>(geqrf(A.clone().requires_grad_())).sum().backward(),
                    NotImplementedError);
  });
}

TEST_CASE("masked_fill and fill_ accept a tensor without dims") {
  for_each_device([](Device d) {
    const Tensor x = wave(d, {2, 3}), mask = x > 0.5, value = f64(d, {7})[0];
    CHECK(x.masked_fill(mask, value).equal(x.masked_fill(mask, 7)));
    CHECK(x.masked_fill(mask, value.cpu()).equal(x.masked_fill(mask, 7)));
    CHECK(x.to(kInt64).masked_fill(mask, value).dtype() == kInt64);
    CHECK(x.clone().masked_fill_(mask[0], value).equal(x.masked_fill(mask[0], 7)));
    CHECK(x.clone().fill_(value).equal(full({2, 3}, 7, x.options())));
    CHECK(zeros({2}, TensorOptions(kInt32).device(d)).fill_(f64(kCPU, {2})[0]).sum().item<int>() ==
          4);
    const auto filled = [&](const std::vector<Tensor>& in) {
      return in[0].masked_fill(mask, in[1]);
    };
    gradcheck(filled, {x, value});
    gradgradcheck(filled, {x, value});
    gradcheck([&](const std::vector<Tensor>& in) { return (in[0] * 2).masked_fill_(mask, in[1]); },
              {x, value});
    gradcheck([&](const std::vector<Tensor>& in) { return (in[0] * 2).fill_(in[1]); }, {x, value});
  });
}

TEST_CASE("the short names of special:: equal the functions") {
  const Tensor x = f64(kCPU, {0.3, 1.2, 4});
  CHECK(special::expit(x).equal(sigmoid(x)));
  CHECK(special::gammaln(x).equal(lgamma(x)));
  CHECK(special::psi(x).equal(digamma(x)));
  CHECK(special::erf(x).equal(erf(x)));
  CHECK(special::i1(x).equal(special_i1(x)));
  CHECK(special::multigammaln(x + 2, 2).equal(mvlgamma(x + 2, 2)));
  CHECK(special::zeta(x + 1, x).equal(special_zeta(x + 1, x)));
  CHECK(special::zeta(2, x).equal(special_zeta(2, x)));
  CHECK(special::zeta(x + 1, 2).equal(special_zeta(x + 1, 2)));
  // torch.special.ndtr(x), torch.special.entr(torch.tensor([0., .3, -1.]))
  check_values(special::ndtr(x), {3}, {0.617911422189, 0.884930329778, 0.999968328758});
  check_values(special::entr(f64(kCPU, {0, 0.3, -1})), {3}, {0, 0.361191841298, -kInfinity});
}
