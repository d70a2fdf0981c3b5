// Scaled special functions, functions of the normal distribution, and composites of functions:
// values, gradients, precision, bad calls.
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
      CASE("torch.special.i0e(a * 4)", special_i0e(in.a * 4), kFloat64, (Dims{2, 3}),
           (Numbers{0.127833337163, 0.308508322554, 1, 0.465759607594, 0.207001921224,
                    0.107615251671})),
      CASE("torch.special.i0e(s)", special_i0e(in.s), kFloat64, (Dims{2, 3}),
           (Numbers{NAN, 0, 0, 1, 1, 0.465759607594})),
      CASE("torch.special.i0e(n)", special_i0e(in.n), kFloat32, (Dims{2, 3}),
           (Numbers{0.116426214576, 0.15373775363, 0.999999940395, 0.183540821075, 0.0499660521746,
                    0.243000358343})),
      CASE("torch.special.i1e(a * 4)", special_i1e(in.a * 4), kFloat64, (Dims{2, 3}),
           (Numbers{-0.121262681384, -0.215269289249, 0, 0.20791041535, 0.178750839502,
                    0.103697667463})),
      CASE("torch.special.i1e(s)", special_i1e(in.s), kFloat64, (Dims{2, 3}),
           (Numbers{NAN, 0, -0, 0, 0, 0.20791041535})),
      CASE("torch.special.i1e(n)", special_i1e(in.n), kFloat32, (Dims{2, 3}),
           (Numbers{-0.111464299262, 0.142289280891, 0, 0.163972258568, 0.0495741479099,
                    -0.196826726198})),
      CASE("torch.special.erfcx(a * 4)", special_erfcx(in.a * 4), kFloat64, (Dims{2, 3}),
           (Numbers{5.37623428363e+43, 108.94090439, 1, 0.427583576156, 0.136999457625,
                    0.0401972286502})),
      CASE("torch.special.erfcx(s)", special_erfcx(in.s), kFloat64, (Dims{2, 3}),
           (Numbers{NAN, 0, INFINITY, 1, 1, 0.427583576156})),
      CASE("torch.special.erfcx(n)", special_erfcx(in.n), kFloat32, (Dims{2, 3}),
           (Numbers{INFINITY, 0.079800054431, 1, 0.110704630613, 0.00881438702345, 16205.9892578})),
      CASE("torch.special.ndtr(a * 4)", special_ndtr(in.a * 4), kFloat64, (Dims{2, 3}),
           (Numbers{0, 0.0227501319482, 0.5, 0.841344746069, 0.999968328758, 1})),
      CASE("torch.special.ndtr(s)", special_ndtr(in.s), kFloat64, (Dims{2, 3}),
           (Numbers{NAN, 1, 0, 0.5, 0.5, 0.841344746069})),
      CASE("torch.special.ndtr(n)", special_ndtr(in.n), kFloat32, (Dims{2, 3}),
           (Numbers{0, 1, 0.5, 0.999999701977, 1, 0.00134989619255})),
      CASE("torch.special.log_ndtr(a * 4)", special_log_ndtr(in.a * 4), kFloat64, (Dims{2, 3}),
           (Numbers{-53.2312851505, -3.78318433368, -0.69314718056, -0.172753779023,
                    -3.16717433775e-05, -7.79353681919e-45})),
      CASE("torch.special.log_ndtr(s)", special_log_ndtr(in.s), kFloat64, (Dims{2, 3}),
           (Numbers{NAN, -0, -INFINITY, -0.69314718056, -0.69314718056, -0.172753779023})),
      CASE("torch.special.log_ndtr(n)", special_log_ndtr(in.n), kFloat32, (Dims{2, 3}),
           (Numbers{-75.4106674194, -1.27981121794e-12, -0.693147182465, -2.86651612669e-07, -0,
                    -6.60772562027})),
      CASE("torch.special.ndtri(u)", special_ndtri(in.u), kFloat64, (Dims{2, 3}),
           (Numbers{-1.28155156554, 1.28155156554, 0, -0.524400512708, 0.524400512708,
                    -0.841621233573})),
      CASE("torch.special.ndtri(s)", special_ndtri(in.s), kFloat64, (Dims{2, 3}),
           (Numbers{NAN, NAN, NAN, -INFINITY, -INFINITY, INFINITY})),
      CASE("torch.special.ndtri(n)", special_ndtri(in.n), kFloat32, (Dims{2, 3}),
           (Numbers{NAN, NAN, -INFINITY, NAN, NAN, NAN})),
      CASE("torch.special.entr(a)", special_entr(in.a), kFloat64, (Dims{2, 3}),
           (Numbers{-INFINITY, -INFINITY, 0, 0.34657359028, -0, -4.38467038973})),
      CASE("torch.special.entr(s)", special_entr(in.s), kFloat64, (Dims{2, 3}),
           (Numbers{NAN, -INFINITY, -INFINITY, 0, 0, -0})),
      CASE("torch.special.entr(n)", special_entr(in.n), kFloat32, (Dims{2, 3}),
           (Numbers{-INFINITY, -13.6213703156, 0, -8.04718971252, -266.168518066, -INFINITY})),
      CASE("torch.special.xlog1py(a, u)", special_xlog1py(in.a, in.u), kFloat64, (Dims{2, 3}),
           (Numbers{-0.238275449511, -0.320926943086, 0, 0.0655910661169, 0.530628251062,
                    0.638125448779})),
      CASE("torch.special.xlog1py(s, t)", special_xlog1py(in.s, in.t), kFloat64, (Dims{2, 3}),
           (Numbers{NAN, NAN, -INFINITY, 0, 0, NAN})),
      CASE("torch.special.xlog1py(n, m)", special_xlog1py(in.n, in.m), kFloat32, (Dims{2, 3}),
           (Numbers{-35.3332672119, 0, 0, NAN, 88.7228393555, -12.7880401611})),
      CASE("torch.special.xlog1py(2, u)", special_xlog1py(2, in.u), kFloat64, (Dims{2, 3}),
           (Numbers{0.190620359609, 1.28370777234, 0.810930216216, 0.524728528935, 1.06125650212,
                    0.364643113588})),
      CASE("torch.special.xlog1py(u, 3)", special_xlog1py(in.u, 3), kFloat64, (Dims{2, 3}),
           (Numbers{0.138629436112, 1.24766492501, 0.69314718056, 0.415888308336, 0.970406052784,
                    0.277258872224})),
      CASE("torch.angle(a)", angle(in.a), kFloat64, (Dims{2, 3}),
           (Numbers{3.14159265359, 3.14159265359, 0, 0, 0, 0})),
      CASE("torch.angle(s)", angle(in.s), kFloat64, (Dims{2, 3}),
           (Numbers{NAN, 0, 3.14159265359, 0, 0, 0})),
      CASE("torch.angle(n)", angle(in.n), kFloat32, (Dims{2, 3}),
           (Numbers{3.14159274101, 0, 0, 0, 0, 3.14159274101})),
      CASE("torch.rsub(a, b)", rsub(in.a, in.b), kFloat64, (Dims{2, 3}),
           (Numbers{4, 0, 0, -2.25, 2, -4.75})),
      CASE("torch.rsub(a, b, alpha=2)", rsub(in.a, in.b, 2), kFloat64, (Dims{2, 3}),
           (Numbers{6.5, 0.5, 0, -2.5, 1, -8.25})),
      CASE("torch.rsub(n, 3, alpha=2)", rsub(in.n, 3, 2), kInt64, (Dims{2, 3}),
           (Numbers{27, -11, 3, -7, -125, 9})),
      CASE("torch.norm_except_dim(a)", norm_except_dim(in.a), kFloat64, (Dims{2, 1}),
           (Numbers{2.5495097568, 3.64862987983})),
      CASE("torch.norm_except_dim(a, 3, 1)", norm_except_dim(in.a, 3, 1), kFloat64, (Dims{1, 3}),
           (Numbers{2.50083305571, 1.04004191153, 3.5})),
      CASE("torch.norm_except_dim(a, 1, -1)", norm_except_dim(in.a, 1, -1), kFloat64, (Dims{}),
           (Numbers{7.75})),

  };
  return all;
}

}  // namespace

TEST_CASE("scaled functions have PyTorch's values and dtypes") {
  value_cases::check_cases(cases());
}

TEST_CASE("scaled functions have correct first and second gradients") {
  for_each_device([](Device d) {
    using Tensors = std::vector<Tensor>;
    const Tensor x = wave(d, {2, 3}, 0.7) * 0.3 + 0.5;  // in [0.2, 0.8]
    Tensor (*const functions[])(const Tensors&) = {
        [](const Tensors& in) { return special_i0e(in[0] * 9); },
        [](const Tensors& in) { return special_i1e(in[0] * -9); },
        [](const Tensors& in) { return special_erfcx(in[0] * 3 - 1.5); },
        [](const Tensors& in) { return special_ndtr(in[0] * 3 - 1.5); },
        [](const Tensors& in) { return special_log_ndtr(in[0] * 9 - 6); },
        [](const Tensors& in) { return special_ndtri(in[0]); },
        [](const Tensors& in) { return special_entr(in[0]); },
        [](const Tensors& in) { return special_xlog1py(in[0], in[0] * 2); },
        [](const Tensors& in) { return special_xlog1py(3, in[0]); },
        [](const Tensors& in) { return rsub(in[0], in[0] * in[0], 3); },
        [](const Tensors& in) { return norm_except_dim(in[0], 2, 1); },
        [](const Tensors& in) { return angle(in[0] - 0.49) + in[0]; },
        [](const Tensors& in) { return fill(in[0], in[0][0][0]) * in[0]; },
    };
    for (size_t i = 0; i < std::size(functions); ++i) {
      INFO("function ", i);
      gradcheck(functions[i], {x});
      gradgradcheck(functions[i], {x});
    }
    // I1e'(0) is 1/2, also in the branch of the formula that is not selected.
    const Tensor zero = zeros({2}, x.options()).requires_grad_();
    check_values(autograd::grad({special_i1e(zero).sum()}, {zero})[0], {2}, {0.5, 0.5});
    const Tensor far = tensor({-1e4, 1e4}, x.options()).requires_grad_();
    check_values(autograd::grad({special_log_ndtr(far).sum()}, {far})[0], {2}, {10000.0001, 0});
    check_values(autograd::grad({special_xlog1py(zero, zero - 2).sum()}, {zero})[0], {2}, {0, 0});
    CHECK(special_xlog1py(zero[0].to(kBFloat16), 0.5).dtype() == kBFloat16);
    // x, y: x.grad and y.grad after torch.special.xlog1py(x, y).sum().backward()
    const Tensor x0 = zeros({4}, x.options()).requires_grad_();
    const Tensor y0 = tensor({0.5, -1., -2., INFINITY}, x.options()).requires_grad_();
    special_xlog1py(x0, y0).sum().backward();
    check_values(x0.grad(), {4}, {0.405465108108, 0, 0, INFINITY});
    check_values(y0.grad(), {4}, {0, NAN, 0, 0});
  });
}

// Expected values are from mpmath 1.2.1 with 40 digits. Each function calls two functions of libm,
// with errors of 4 ulp each; the argument of the logarithm in ndtri's tail is rounded, too.
TEST_CASE("scaled functions are precise in float64, to the ends of their domains") {
  struct Precise {
    const char* name;
    Tensor (*f)(const Tensor&);
    double x, y;
  };
  const std::vector<Precise> all{
      {"erfcx", [](const Tensor& x) { return special_erfcx(x); }, -26.0, 7.6577249314905684e+293},
      {"erfcx", [](const Tensor& x) { return special_erfcx(x); }, -5.0, 144009798674.66104},
      {"erfcx", [](const Tensor& x) { return special_erfcx(x); }, 0.3, 0.73459933456765515},
      {"erfcx", [](const Tensor& x) { return special_erfcx(x); }, 2.0, 0.25539567631050574},
      {"erfcx", [](const Tensor& x) { return special_erfcx(x); }, 5.0, 0.11070463773306863},
      {"erfcx", [](const Tensor& x) { return special_erfcx(x); }, 9.999, 0.05614655260396594},
      {"erfcx", [](const Tensor& x) { return special_erfcx(x); }, 10.001, 0.056135433979420349},
      {"erfcx", [](const Tensor& x) { return special_erfcx(x); }, 30.0, 0.018795888861416751},
      {"erfcx", [](const Tensor& x) { return special_erfcx(x); }, 100000.0, 5.6418958351954681e-6},
      {"i0e", [](const Tensor& x) { return special_i0e(x); }, 0.01, 0.9900745851497075},
      {"i0e", [](const Tensor& x) { return special_i0e(x); }, 7.9, 0.14436986414104192},
      {"i0e", [](const Tensor& x) { return special_i0e(x); }, 8.1, 0.14251180948829528},
      {"i0e", [](const Tensor& x) { return special_i0e(x); }, 1000.0, 0.012617240455891257},
      {"i0e", [](const Tensor& x) { return special_i0e(x); }, 1000000.0, 0.00039894233026924578},
      {"i1e", [](const Tensor& x) { return special_i1e(x); }, 1e-05, 4.999950000312499e-6},
      {"i1e", [](const Tensor& x) { return special_i1e(x); }, 2.0, 0.21526928924893766},
      {"i1e", [](const Tensor& x) { return special_i1e(x); }, 8.1, 0.13340068832583663},
      {"i1e", [](const Tensor& x) { return special_i1e(x); }, -1000.0, -0.012610930256928629},
      {"ndtri", [](const Tensor& x) { return special_ndtri(x); }, 5e-324, -38.467405617144346},
      {"ndtri", [](const Tensor& x) { return special_ndtri(x); }, 1e-300, -37.047096299361199},
      {"ndtri", [](const Tensor& x) { return special_ndtri(x); }, 1e-50, -14.933337534788489},
      {"ndtri", [](const Tensor& x) { return special_ndtri(x); }, 1e-08, -5.6120012441747887},
      {"ndtri", [](const Tensor& x) { return special_ndtri(x); }, 0.0009, -3.1213891493598656},
      {"ndtri", [](const Tensor& x) { return special_ndtri(x); }, 0.0011, -3.0618141517617584},
      {"ndtri", [](const Tensor& x) { return special_ndtri(x); }, 0.3, -0.52440051270804082},
      {"ndtri", [](const Tensor& x) { return special_ndtri(x); }, 0.99, 2.3263478740408408},
      {"ndtri", [](const Tensor& x) { return special_ndtri(x); }, 0.9999999, 5.1993375822906611},
      {"log_ndtr", [](const Tensor& x) { return special_log_ndtr(x); }, -10000.0,
       -50000010.129278915},
      {"log_ndtr", [](const Tensor& x) { return special_log_ndtr(x); }, -38.0, -726.55721601882013},
      {"log_ndtr", [](const Tensor& x) { return special_log_ndtr(x); }, -5.0, -15.064998393988726},
      {"log_ndtr", [](const Tensor& x) { return special_log_ndtr(x); }, -1.001,
       -1.8425471807560768},
      {"log_ndtr", [](const Tensor& x) { return special_log_ndtr(x); }, -0.999,
       -1.8394969101647779},
      {"log_ndtr", [](const Tensor& x) { return special_log_ndtr(x); }, 0.5, -0.36894641528865639},
      {"log_ndtr", [](const Tensor& x) { return special_log_ndtr(x); }, 5.0,
       -2.8665161296376359e-7},

  };
  for_each_device([&](Device d) {
    for (const Precise& c : all) {
      INFO(std::string(c.name), " of ", c.x);
      const auto y = c.f(tensor(c.x, kFloat64).to(d)).item<double>();
      CHECK(std::fabs(y - c.y) <= 12 * std::numeric_limits<double>::epsilon() * std::fabs(c.y));
    }
  });
}

TEST_CASE("reductions of rows keep precision beyond float32, and skip only NaN") {
  for_each_device([](Device d) {
    // Squares of 1e30 exceed float32; 1 is lost next to 1e8 in a float32 sum.
    const Tensor huge = full({4}, 1e30, TensorOptions(kFloat32).device(d));
    CHECK(norm(huge).item<float>() == 2e30f);
    const Tensor many = cat({full({1}, 3e8, huge.options()), full({300}, -1, huge.options())});
    CHECK(norm(many, 1).item<float>() == 300000300.f);
    const Tensor x = tensor({{1., NAN, 4.}, {INFINITY, NAN, -2.}, {NAN, NAN, NAN}}, kFloat64).to(d);
    check_values(nansum(x, 1), {3}, {5, INFINITY, 0});
    check_values(nansum(x.t(), 1), {3}, {INFINITY, 0, 2});
    const Tensor leaf = x.clone().requires_grad_();
    nansum(leaf).backward();
    check_values(leaf.grad(), {3, 3}, {1, 0, 1, 1, 0, 1, 0, 0, 0});
    CHECK(std::isnan(norm(x).item<double>()));
    check_values(norm(x[0].index_select(0, tensor({0, 2}).to(d)), 1), {}, {5});
    // Long enough to be split among threads and blocks, whose partial results are then merged.
    const Tensor line = full({1 << 18}, -3., huge.options());
    CHECK(norm(line).item<float>() == 1536.f);
    CHECK(norm(line, 1).item<float>() == 786432.f);
    const Tensor holes =
        where(arange(1 << 18, TensorOptions(kInt64).device(d)) % 2 == 0, NAN, line);
    CHECK(nansum(holes).item<float>() == -393216.f);
    CHECK(nansum(cat({full({1}, -INFINITY, line.options()), line,
                      full({1}, INFINITY, line.options())}))
              .isnan()
              .item<bool>());
  });
}

TEST_CASE("functions that fill, cast, or have other names") {
  for_each_device([](Device d) {
    const value_cases::Inputs in(d);
    check_values(fill(in.a, 2), {2, 3}, {2, 2, 2, 2, 2, 2});
    CHECK(fill(in.n, 2).dtype() == kInt64);
    check_values(zero(in.a), {2, 3}, {0, 0, 0, 0, 0, 0});
    const Tensor x = in.a.clone();
    CHECK(zero_(x).equal(zeros_like(in.a)));
    CHECK(real(in.a).is_same(in.a));
    CHECK(special::entr(in.u).equal(special_entr(in.u)));
    CHECK(special::ndtri(in.u).equal(special_ndtri(in.u)));
    CHECK(special::log_ndtr(in.u).equal(special_log_ndtr(in.u)));
    CHECK(special::i1e(in.u).equal(special_i1e(in.u)));
    CHECK(special::xlog1py(in.u, 2).equal(special_xlog1py(in.u, 2)));
  });
  CHECK(can_cast(kInt64, kFloat32));
  CHECK(!can_cast(kFloat32, kInt64));
  CHECK(!can_cast(kInt32, kBool));
  CHECK(result_type(2, ones({2}, kInt32)) == kInt32);
  CHECK(result_type(2.5, 2) == kFloat32);
  CHECK(result_type(true, 2) == kInt64);
}

TEST_CASE("a missing optional tensor or list is an undefined or an empty one") {
  std::optional<Tensor> bias;
  const Tensor x = ones({2, 3}), w = ones({4, 3});
  CHECK(linear(x, w, bias).equal(full({2, 4}, 3.)));
  bias = ones({4});
  CHECK(linear(x, w, bias).equal(full({2, 4}, 4.)));
  CHECK(!Tensor(std::optional<Tensor>()).defined());
  std::optional<IntArrayRef> dims;
  CHECK(sum(x, dims).item<float>() == 6);
  const int64_t first = 0;
  dims = IntArrayRef(first);
  CHECK(sum(x, dims).sizes() == IntArrayRef{3});
}

namespace {

std::vector<bad_input::BadCall> bad_calls() {
  using namespace bad_input;
  return {
      VALUE(special_i0e, none()),
      VALUE(special_i1e, none()),
      VALUE(special_erfcx, none()),
      VALUE(special_ndtr, none()),
      VALUE(special_log_ndtr, none()),
      VALUE(special_ndtri, none()),
      VALUE(special_entr, none()),
      SHAPE(special_xlog1py, m23(), m45()),
      DEVICE(special_xlog1py, m23(), there()),
      VALUE(special_xlog1py, none(), m23()),
      VALUE(special_xlog1py, m23(), none()),
      VALUE(special_xlog1py, 1, none()),
      VALUE(special_xlog1py, none(), 1),
      SHAPE(rsub, m23(), m45()),
      DTYPE(rsub, i23(), 2, 0.5),
      DTYPE(rsub, b23(), b23()),
      DEVICE(rsub, m23(), there()),
      VALUE(rsub, none(), m23()),
      VALUE(angle, none()),
      VALUE(real, none()),
      VALUE(fill, none(), 1),
      DTYPE(fill, i23(), 1e30),
      SHAPE(fill, m23(), m23()),
      DEVICE(fill, m23(), there()[0][0]),
      VALUE(zero, none()),
      VALUE(zero_, none()),
      VALUE(result_type, 1, none()),
      SHAPE(symeig, m23()),
      DTYPE(symeig, ones({2, 2}, kInt64)),
      VALUE(symeig, none()),
      DTYPE(norm_except_dim, i23()),
      INDEX(norm_except_dim, m23(), 2, 2),
      INDEX(norm_except_dim, m23(), 2, -2),
      VALUE(norm_except_dim, none()),
  };
}
const CallTable<bad_input::BadCall> kBad(bad_calls);

std::vector<mismatch::Call> mixed_calls() {
  using namespace mismatch;
  return {
      CALL(special_xlog1py, elementwise, given(f(), f()), t[0], t[1]),
      CALL(rsub, elementwise, given(f(), f()), t[0], t[1]),
      CALL(fill, in_place_elementwise, given(f(), f({})), t[0], t[1]),
  };
}
const CallTable<mismatch::Call> kMixed(mixed_calls);

std::vector<agreement::Call> agreeing_calls() {
  using namespace agreement;
  return {
      RESULT(special_i0e, special_i0e(o.a)),
      RESULT(special_i1e, special_i1e(o.a)),
      RESULT(special_erfcx, special_erfcx(o.a)),
      RESULT(special_ndtr, special_ndtr(o.a)),
      RESULT(special_log_ndtr, special_log_ndtr(o.a)),
      RESULT(special_ndtri, special_ndtri(o.unit)),
      RESULT(special_entr, special_entr(o.unit)),
      RESULT(special_xlog1py, special_xlog1py(o.a, o.unit), special_xlog1py(2, o.unit)),
      RESULT(rsub, rsub(o.a, o.b, 2), rsub(o.n, 2, 3)),
      RESULT(angle, angle(o.a), angle(o.n)),
      RESULT(real, real(o.a)),
      RESULT(fill, fill(o.a, 2), fill(o.n, 3)),
      RESULT(zero, zero(o.a)),
      full_only(RESULT(symeig, std::get<0>(symeig(MADE(diag_embed(o.unit.reshape({-1}))))))),
      Call{"zero_",
           [](const Operands& o) -> std::vector<Tensor> { return {zero_(MADE(o.a.clone()))}; }},
      with_dims(RESULT(norm_except_dim, norm_except_dim(o.a), norm_except_dim(o.a, 1, -1))),
  };
}
const CallTable<agreement::Call> kAgreeing(agreeing_calls);

}  // namespace
