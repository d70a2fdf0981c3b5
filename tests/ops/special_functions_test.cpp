// Special functions: values, gradients, precision, bad calls.
#include <ambit/backend/kernels.h>
#include <doctest/doctest.h>

#include "tests/autograd/gradcheck.h"
#include "tests/mismatch/mismatch_calls.h"
#include "tests/tables/agreement_calls.h"
#include "tests/tables/bad_calls.h"
#include "value_cases.h"

using namespace ambit;

namespace {

const std::vector<value_cases::Case>& cases() {
  using namespace value_cases;
  static const std::vector<Case> all{
      CASE("torch.logit(u)", logit(in.u), kFloat64, (Dims{2, 3}),
           (Numbers{-2.19722457734, 2.19722457734, 0, -0.847297860387, 0.847297860387,
                    -1.38629436112})),
      CASE("torch.logit(s)", logit(in.s), kFloat64, (Dims{2, 3}),
           (Numbers{NAN, NAN, NAN, -INFINITY, -INFINITY, INFINITY})),
      CASE("torch.logit(a, 0.125)", logit(in.a, 0.125), kFloat64, (Dims{2, 3}),
           (Numbers{-1.94591014906, -1.94591014906, -1.94591014906, -1.09861228867, 1.94591014906,
                    1.94591014906})),
      CASE("torch.logit(n)", logit(in.n), kFloat32, (Dims{2, 3}),
           (Numbers{NAN, NAN, -INFINITY, NAN, NAN, NAN})),
      CASE("torch.logit(s, 0.25)", logit(in.s, 0.25), kFloat64, (Dims{2, 3}),
           (Numbers{NAN, 1.09861228867, -1.09861228867, -1.09861228867, -1.09861228867,
                    1.09861228867})),
      CASE("torch.mvlgamma(u + 2, 3)", mvlgamma(in.u + 2, 3), kFloat64, (Dims{2, 3}),
           (Numbers{1.60006836036, 2.49783948555, 1.88099546161, 1.69202560131, 2.15305515181,
                    1.63286050815})),
      CASE("torch.mvlgamma(u, 1)", mvlgamma(in.u, 1), kFloat64, (Dims{2, 3}),
           (Numbers{2.25271265173, 0.0663762397347, 0.572364942925, 1.09579799482, 0.260867246532,
                    1.52406382243})),
      CASE("torch.mvlgamma(a, 2)", mvlgamma(in.a, 2), kFloat64, (Dims{2, 3}),
           (Numbers{INFINITY, INFINITY, INFINITY, 3.44996278017, 1.14472988585, 2.46648572583})),
      CASE("torch.mvlgamma(n, 2)", mvlgamma(in.n, 2), kFloat32, (Dims{2, 3}),
           (Numbers{INFINITY, 12.8141784668, INFINITY, 6.20415496826, 400.517425537, INFINITY})),
      CASE("torch.polygamma(0, u)", polygamma(0, in.u), kFloat64, (Dims{2, 3}),
           (Numbers{-10.4237549404, -0.754926949947, -1.96351002602, -3.5025242222, -1.2200235537,
                    -5.28903989659})),
      CASE("torch.polygamma(2, a)", polygamma(2, in.a), kFloat64, (Dims{2, 3}),
           (Numbers{-0.108204051642, -0.828796644234, -INFINITY, -129.327739938, -2.40411380632,
                    -0.108204051642})),
      CASE("torch.polygamma(5, u)", polygamma(5, in.u), kFloat64, (Dims{2, 3}),
           (Numbers{120000069.308, 228.601400117, 7691.1135486, 164634.846099, 1025.32835414,
                    1875041.38968})),
      CASE("torch.polygamma(3, n.abs() + 1)", polygamma(3, in.n.abs() + 1), kFloat32, (Dims{2, 3}),
           (Numbers{0.00102074141614, 0.00469923950732, 6.49393939972, 0.0118278283626,
                    7.45244324207e-06, 0.0448653250933})),
      CASE("torch.lgamma(s)", lgamma(in.s), kFloat64, (Dims{2, 3}),
           (Numbers{NAN, INFINITY, INFINITY, INFINITY, INFINITY, 0})),
      CASE("torch.lgamma(a)", lgamma(in.a), kFloat64, (Dims{2, 3}),
           (Numbers{-0.0562437164977, 1.26551212348, INFINITY, 1.2880225247, 0, 1.20097360235})),
      CASE("torch.lgamma(n)", lgamma(in.n), kFloat32, (Dims{2, 3}),
           (Numbers{INFINITY, 6.57925128937, INFINITY, 3.1780538559, 201.00932312, INFINITY})),
      CASE("torch.digamma(s)", digamma(in.s), kFloat64, (Dims{2, 3}),
           (Numbers{NAN, INFINITY, NAN, -INFINITY, INFINITY, -0.577215664902})),
      CASE(
          "torch.digamma(a - 1)", digamma(in.a - 1), kFloat64, (Dims{2, 3}),
          (Numbers{1.38887092636, 0.703156640645, NAN, -2.89412020004, -INFINITY, 0.703156640645})),
      CASE("torch.erfinv(s)", erfinv(in.s), kFloat64, (Dims{2, 3}),
           (Numbers{NAN, NAN, NAN, 0, -0, INFINITY})),
      CASE("torch.erfinv(u * 2 - 1)", erfinv(in.u * 2 - 1), kFloat64, (Dims{2, 3}),
           (Numbers{-0.906193802437, 0.906193802437, 0, -0.370807158594, 0.370807158594,
                    -0.59511608145})),
      CASE("torch.erfc(s)", erfc(in.s), kFloat64, (Dims{2, 3}),
           (Numbers{NAN, 0, 2, 1, 1, 0.15729920705})),
      CASE("torch.erfc(a * 6)", erfc(in.a * 6), kFloat64, (Dims{2, 3}),
           (Numbers{2, 1.9999779095, 1, 0.0338948535247, 2.15197367125e-17, 8.03245387102e-194})),
      CASE("torch.i0(a * 10)", i0(in.a * 10), kFloat64, (Dims{2, 3}),
           (Numbers{5774560606.47, 27.2398718236, 1, 3.28983914405, 2815.71662847,
                    1.07338818495e+14})),
      CASE("torch.sinc(s)", sinc(in.s), kFloat64, (Dims{2, 3}),
           (Numbers{NAN, NAN, NAN, 1, 1, 3.89817183252e-17})),
      CASE("torch.sinc(n * 0.5)", sinc(in.n * 0.5), kFloat32, (Dims{2, 3}),
           (Numbers{2.53053822341e-09, -0.0909456759691, 1, 0.127323955297, 2.78275340548e-08,
                    -0.212206587195})),
      CASE("torch.acosh(s)", acosh(in.s), kFloat64, (Dims{2, 3}),
           (Numbers{NAN, INFINITY, NAN, NAN, NAN, 0})),
      CASE("torch.asinh(s)", asinh(in.s), kFloat64, (Dims{2, 3}),
           (Numbers{NAN, INFINITY, -INFINITY, 0, -0, 0.88137358702})),
      CASE("torch.atanh(s)", atanh(in.s), kFloat64, (Dims{2, 3}),
           (Numbers{NAN, NAN, NAN, 0, -0, INFINITY})),
      CASE("torch.special.i1(a * 10)", special_i1(in.a * 10), kFloat64, (Dims{2, 3}),
           (Numbers{-5657865129.88, -24.3356421425, 0, 2.51671624529, 2670.9883037,
                    1.05794126052e+14})),
      CASE("torch.special.zeta(u + 2, a)", special_zeta(in.u + 2, in.a), kFloat64, (Dims{2, 3}),
           (Numbers{NAN, NAN, INFINITY, 25.208166687, 1.27426464444, 0.22036741909})),
      CASE("torch.special.zeta(2, a)", special_zeta(2, in.a), kFloat64, (Dims{2, 3}),
           (Numbers{9.53924664499, 8.93480220054, INFINITY, 17.1973291545, 1.64493406685,
                    0.3303577561})),
      CASE("torch.special.zeta(u * 30, 1.5)", special_zeta(in.u * 30, 1.5), kFloat64, (Dims{2, 3}),
           (Numbers{0.414398322117, 1.76009638131e-05, 0.00228473907214, 0.026288734128,
                    0.000200490175035, 0.0926129050203})),
      CASE("torch.special.zeta(3, n)", special_zeta(3, in.n), kFloat32, (Dims{2, 3}),
           (Numbers{INFINITY, 0.011765236035, INFINITY, 0.0243948660791, 0.000123992562294,
                    INFINITY})),
      CASE("torch.deg2rad(n)", deg2rad(in.n), kFloat32, (Dims{2, 3}),
           (Numbers{-0.209439516068, 0.122173048556, 0, 0.0872664600611, 1.11701071262,
                    -0.0523598790169})),
      CASE("torch.rad2deg(a)", rad2deg(in.a), kFloat64, (Dims{2, 3}),
           (Numbers{-143.239448783, -28.6478897565, 0, 14.3239448783, 57.2957795131,
                    200.535228296})),
      CASE("torch.i0(n)", i0(in.n), kFloat32, (Dims{2, 3}),
           (Numbers{18948.9257812, 168.593917847, 0.999999940395, 27.2398738861, 3.11545769389e+26,
                    4.8807926178})),
      CASE("torch.asinh(y)", asinh(in.y), kFloat32, (Dims{2, 3}),
           (Numbers{0.88137358427, 0, 0.88137358427, 0, 0, 0.88137358427})),
  };
  return all;
}

}  // namespace

TEST_CASE("special functions have PyTorch's values and dtypes") {
  value_cases::check_cases(cases());
}

TEST_CASE("special functions have correct first and second gradients") {
  for_each_device([](Device d) {
    using Tensors = std::vector<Tensor>;
    // Operands are in [0.2, 0.8], and shifted for functions that are not smooth there.
    const Tensor x = wave(d, {2, 3}, 0.7) * 0.3 + 0.5;
    Tensor (*const functions[])(const Tensors&) = {
        [](const Tensors& in) { return logit(in[0]); },
        [](const Tensors& in) { return logit(in[0], 0.3); },
        [](const Tensors& in) { return (in[0] * 1).logit_(0.3); },
        [](const Tensors& in) { return mvlgamma(in[0] + 2, 3); },
        [](const Tensors& in) { return (in[0] + 2).mvlgamma_(3); },
        [](const Tensors& in) { return polygamma(1, in[0] + 1); },
        [](const Tensors& in) { return (in[0] + 1).polygamma_(2); },
        [](const Tensors& in) { return digamma(in[0] - 2); },
        [](const Tensors& in) { return lgamma(in[0] - 1); },
        [](const Tensors& in) { return special_i1(in[0] * 4 - 2); },
        [](const Tensors& in) { return i0(in[0] * 30 - 15); },
        [](const Tensors& in) { return special_zeta(3, in[0] + 1); },
        [](const Tensors& in) {
          return special_zeta(full({2, 3}, 2.5, in[0].options()), in[0] + 1);
        },
        [](const Tensors& in) { return deg2rad(rad2deg(in[0])); },
        [](const Tensors& in) { return sinc(in[0] * 4 - 2); },
    };
    for (size_t i = 0; i < std::size(functions); ++i) {
      INFO("function ", i);
      const auto f = functions[i];
      gradcheck(f, {x});
      gradgradcheck(f, {x});
    }
    // sinc has the derivative 0 at 0, and the second derivative -pi^2 / 3; I1'(0) is 1/2.
    const Tensor zero = zeros({2}, x.options()).requires_grad_();
    const Tensor slope = autograd::grad({sinc(zero).sum()}, {zero}, {}, true, true)[0];
    check_values(slope.detach(), {2}, {0, 0});
    check_values(autograd::grad({slope.sum()}, {zero})[0], {2}, {-3.28986813370, -3.28986813370});
    check_values(autograd::grad({special_i1(zero).sum()}, {zero})[0], {2}, {0.5, 0.5});
    // mpmath, 50 digits: cos(pi x) / x - sin(pi x) / (pi x^2). The numbers are exact in float32;
    // the difference is up to 150 times smaller than its two terms, so its error is 150 times their
    // roundings of 2^-24.
    for (const DType dtype : {kFloat32, kFloat64}) {
      const Tensor near = tensor({-0.00048828125, 0.0439453125, 0.0625}, x.options()).to(dtype);
      const Tensor leaf = near.detach().requires_grad_();
      sinc(leaf).sum().backward();
      const Tensor want =
          tensor({0.00160638054665948, -0.144298910901686, -0.204825131855605}, x.options());
      check_values(leaf.grad().to(kFloat64) / want, {3}, {1, 1, 1},
                   300 * (dtype == kFloat32 ? 0x1p-24 : 0x1p-53));
    }
    const Tensor s = x.detach().requires_grad_();
    CHECK_THROWS_AS(special_zeta(s + 2, s).sum().backward(), NotImplementedError);
    // The derivative is NaN for inputs outside of [0, 1]; with eps it is 0 where clamping acts.
    const Tensor wide = tensor({-1., 0.5, 2.}, x.options()).requires_grad_();
    logit(wide).sum().backward();
    check_values(wide.grad(), {3}, {NAN, 4, NAN});
    wide.mutable_grad() = Tensor();
    logit(wide, 0.1).sum().backward();
    check_values(wide.grad(), {3}, {0, 4, 0});
    // The second derivative is 0 there, too, not 0 times the logarithm's infinite derivative at 0.
    const Tensor ends = tensor({0., 0.5, 1.}, x.options()).requires_grad_();
    const Tensor twice = autograd::grad({logit(ends, 0.1).sum()}, {ends}, {}, true, true)[0];
    check_values(autograd::grad({twice.sum()}, {ends})[0], {3}, {0, 0, 0});
  });
}

// Expected values are from mpmath 1.2.1 with 40 digits: erfinv(1 - 2**-53 k), psi(0, x), besseli(0,
// x), besseli(1, x), zeta(s, q). The loops are accurate to 4 ulp, except for digamma near its
// roots, and 16 ulp for I1 between 5 and 8, where terms cancel.
TEST_CASE("special_entr has PyTorch's gradient at 0 and below") {
  for_each_device([](Device d) {
    // x = torch.tensor([-1., 0., 1.], requires_grad=True); torch.special.entr(x).sum().backward()
    const Tensor x = tensor({-1., 0., 1.}, kFloat64).to(d).set_requires_grad(true);
    special_entr(x).sum().backward();
    check_values(x.grad(), {3}, {NAN, INFINITY, -1});
  });
}

TEST_CASE("special functions are precise in float64, to the ends of their domains") {
  struct Precise {
    const char* name;
    Tensor (*f)(const Tensor&);
    double x, y;
    int ulps = 4;
  };
  const std::vector<Precise> all{
      {"erfinv", [](const Tensor& x) { return erfinv(x); }, 0.9999999999999999, 5.8635847487551676},
      {"erfinv", [](const Tensor& x) { return erfinv(x); }, 0.999999999999999, 5.675915739744713},
      {"erfinv", [](const Tensor& x) { return erfinv(x); }, 0.999999999, 4.320005388105362},
      {"erfinv", [](const Tensor& x) { return erfinv(x); }, 0.999, 2.3267537655135246},
      {"erfinv", [](const Tensor& x) { return erfinv(x); }, 0.9, 1.1630871536766743},
      {"erfinv", [](const Tensor& x) { return erfinv(x); }, 0.3, 0.2724627147267543},
      {"erfinv", [](const Tensor& x) { return erfinv(x); }, -0.7, -0.7328690779592167},
      {"digamma", [](const Tensor& x) { return digamma(x); }, 1.5, 0.03648997397857652},
      {"digamma", [](const Tensor& x) { return digamma(x); }, 1.6, 0.12604745277347632},
      {"digamma", [](const Tensor& x) { return digamma(x); }, 0.001, -1000.5755719318103},
      {"digamma", [](const Tensor& x) { return digamma(x); }, 5.5, 1.6110931485817512},
      {"digamma", [](const Tensor& x) { return digamma(x); }, 9.999, 2.2516474172057355},
      {"digamma", [](const Tensor& x) { return digamma(x); }, 12.0, 2.442661679975812},
      {"digamma", [](const Tensor& x) { return digamma(x); }, 10000000000.0, 23.025850929890456},
      {"digamma", [](const Tensor& x) { return digamma(x); }, -10.3, 4.662403493582087},
      {"i0", [](const Tensor& x) { return i0(x); }, 0.01, 1.0000250001562505},
      {"i0", [](const Tensor& x) { return i0(x); }, 7.9, 389.406283282158},
      {"i0", [](const Tensor& x) { return i0(x); }, 8.1, 469.5006067101215},
      {"i0", [](const Tensor& x) { return i0(x); }, 100.0, 1.0737517071310738e+42},
      {"i0", [](const Tensor& x) { return i0(x); }, 713.0, 6.705128263670996e+307},
      {"i1", [](const Tensor& x) { return special_i1(x); }, 1e-05, 5.0000000000625004e-06},
      {"i1", [](const Tensor& x) { return special_i1(x); }, 2.0, 1.590636854637329},
      {"i1", [](const Tensor& x) { return special_i1(x); }, 8.1, 439.48430891035844},
      {"i1", [](const Tensor& x) { return special_i1(x); }, -100.0, -1.0683693903381625e+42},
      {"i1", [](const Tensor& x) { return special_i1(x); }, 712.0, 2.4666770135246153e+307},
      {"i1", [](const Tensor& x) { return special_i1(x); }, 6.5, 97.73501077403152, 16},
      {"zeta", [](const Tensor& x) { return special_zeta(1.1, x); }, 0.1, 23.01457794082749, 8},
      {"zeta", [](const Tensor& x) { return special_zeta(1.1, x); }, 1.5, 9.960266570611159, 8},
      {"zeta", [](const Tensor& x) { return special_zeta(1.1, x); }, 30.25, 7.122772191252194, 8},
      {"zeta", [](const Tensor& x) { return special_zeta(2, x); }, 0.1, 101.43329915079275, 8},
      {"zeta", [](const Tensor& x) { return special_zeta(2, x); }, 1.5, 0.9348022005446793, 8},
      {"zeta", [](const Tensor& x) { return special_zeta(2, x); }, 30.25, 0.0336102817442533, 8},
      {"zeta", [](const Tensor& x) { return special_zeta(5, x); }, 0.1, 100000.65030013313, 8},
      {"zeta", [](const Tensor& x) { return special_zeta(5, x); }, 1.5, 0.14476040944446772, 8},
      {"zeta", [](const Tensor& x) { return special_zeta(5, x); }, 30.25, 3.1884792113473033e-07,
       8},
      {"zeta", [](const Tensor& x) { return special_zeta(2, x); }, -1.5, 9.379246644989124, 8},
      {"lgamma", [](const Tensor& x) { return lgamma(x); }, 0.3, 1.0957979948180756},
      {"lgamma", [](const Tensor& x) { return lgamma(x); }, -2.6, -0.11801163280539748},
      {"lgamma", [](const Tensor& x) { return lgamma(x); }, 30.5, 72.9534711841694},
  };
  for_each_device([&](Device d) {
    for (const Precise& c : all) {
      INFO(std::string(c.name), " of ", c.x);
      const auto y = c.f(tensor(c.x, kFloat64).to(d)).item<double>();
      CHECK(std::fabs(y - c.y) <= c.ulps * std::numeric_limits<double>::epsilon() * std::fabs(c.y));
    }
  });
}

// Near its root the reference has only the digits of long double.
TEST_CASE("digamma is precise near its root on the cpu") {
  const Tensor y = digamma(tensor({1.4616, 1.4616321449683622}, kFloat64));
  const double expected[] = {-3.110625123034165e-05, -9.241265521729427e-17};
  for (int64_t i = 0; i < 2; ++i) {
    const double error = std::fabs(y[i].item<double>() - expected[i]);
    CHECK(error <= 4 * std::numeric_limits<double>::epsilon() * std::fabs(expected[i]));
  }
}

// torch.i0(tensor(inf)) is NaN, because it multiplies inf by 0.
TEST_CASE("Bessel functions are infinite at infinity, and I1 is odd") {
  for_each_device([](Device d) {
    const value_cases::Inputs in(d);
    check_values(i0(in.s), {2, 3}, {NAN, INFINITY, INFINITY, 1, 1, 1.26606587775});
    check_values(special_i1(in.s), {2, 3}, {NAN, INFINITY, -INFINITY, 0, 0, 0.565159103992});
    CHECK(signbit(special_i1(in.s)).equal(signbit(in.s)));
  });
}

TEST_CASE("special functions in place, and their errors there") {
  for_each_device([](Device d) {
    const value_cases::Inputs in(d);
    const Tensor u = in.u.clone();
    CHECK(u.logit_().equal(logit(in.u)));
    CHECK((in.u * 1).logit_(0.3).equal(logit(in.u, 0.3)));
    CHECK((in.u + 2).mvlgamma_(3).equal(mvlgamma(in.u + 2, 3)));
    CHECK((in.u * 1).polygamma_(1).equal(polygamma(1, in.u)));
    CHECK((in.a * 1).deg2rad_().rad2deg_().allclose(in.a, 1e-14));
    for (const Tensor& n : {in.n, in.y}) {
      const Tensor before = n.clone();
      CHECK_THROWS_AS(n.logit_(), DTypeError);
      CHECK_THROWS_AS(n.logit_(0.1), DTypeError);
      CHECK_THROWS_AS(n.mvlgamma_(2), DTypeError);
      CHECK_THROWS_AS(n.polygamma_(1), DTypeError);
      CHECK_THROWS_AS(n.deg2rad_(), DTypeError);
      CHECK(n.equal(before));
    }
    CHECK(logit(in.e).sizes() == IntArrayRef{0, 3});
    CHECK(polygamma(2, in.z).dim() == 0);
  });
}

namespace {

std::vector<bad_input::BadCall> bad_calls() {
  using namespace bad_input;
  return {
      VALUE(logit, none()),
      VALUE(logit_, none()),
      DTYPE(logit_, i23()),
      VALUE(logit_, ones({1, 3}).expand({2, 3})),
      VALUE(mvlgamma, m23(), 0),
      VALUE(mvlgamma_, m23(), 0),
      VALUE(mvlgamma_, none(), 1),
      DTYPE(mvlgamma_, i23(), 1),
      VALUE(polygamma, -1, m23()),
      VALUE(polygamma_, m23(), -1),
      VALUE(polygamma_, none(), 1),
      VALUE(special_i1, none()),
      SHAPE(special_zeta, m23(), m45()),
      DEVICE(special_zeta, m23(), there()),
      VALUE(special_zeta, 2, none()),
      VALUE(special_zeta, none(), 2),
      VALUE(deg2rad, none()),
      DTYPE(deg2rad_, i23()),
      VALUE(rad2deg, none()),
      DTYPE(rad2deg_, i23()),
  };
}
const CallTable<bad_input::BadCall> kBad(bad_calls);

std::vector<agreement::Call> agreement_calls() {
  using namespace agreement;
  return {
      RESULT(logit, logit(o.unit), logit(o.a, 0.1)),
      IN_PLACE(logit_, o.unit),
      RESULT(mvlgamma, mvlgamma(MADE(o.unit + 1), 2)),
      IN_PLACE(mvlgamma_, o.unit, 1),
      RESULT(polygamma, polygamma(1, o.unit), polygamma(2, o.m)),
      IN_PLACE(polygamma_, o.unit, 1),
      RESULT(special_i1, special_i1(o.a)),
      RESULT(special_zeta, special_zeta(MADE(o.unit + 2), o.unit), special_zeta(2, o.unit)),
      RESULT(deg2rad, deg2rad(o.a)),
      IN_PLACE(deg2rad_, o.a),
      RESULT(rad2deg, rad2deg(o.a)),
      IN_PLACE(rad2deg_, o.a),
  };
}
const CallTable<agreement::Call> kAgreement(agreement_calls);

std::vector<mismatch::Call> mixed_calls() {
  using namespace mismatch;
  return {CALL(special_zeta, elementwise, given(f(), f()), t[0], t[1])};
}
const CallTable<mismatch::Call> kMixed(mixed_calls);

}  // namespace
