// Differences, integrals and covariances of samples: PyTorch's values, gradients, errors.
#include <ambit/ambit.h>

#include "oracle_cases.h"
#include "tests/mismatch/mismatch_calls.h"
#include "tests/tables/agreement_calls.h"
#include "tests/tables/bad_calls.h"

using namespace ambit;
using namespace oracle;

namespace {

// a = wave(2, 4); v = wave(4, k=0.3) + 1; s = torch.tensor(7.); c = wave(2, 3, 2, k=1.1)
std::vector<Tensor> inputs(Device d) {
  return {wave(d, {2, 4}), wave(d, {4}, 0.3) + 1, tensor(7, TensorOptions(kFloat64).device(d)),
          wave(d, {2, 3, 2}, 1.1)};
}

#define CASE(python, call, ...)             \
  Case {                                    \
    python,                                 \
        [](const std::vector<Tensor>& in) { \
          const Tensor& a = in[0];          \
          const Tensor& v = in[1];          \
          const Tensor& s = in[2];          \
          const Tensor& c = in[3];          \
          static_cast<void>(a);             \
          static_cast<void>(v);             \
          static_cast<void>(s);             \
          static_cast<void>(c);             \
          return listed(call);              \
        },                                  \
        __VA_ARGS__                         \
  }

const std::vector<Case> kSamples{
    CASE("torch.diff(a)", diff(a),
         {{{2, 3},
           {0.644217687238, 0.341232042751, -0.12224036334, -0.685771377846, -0.520792544724,
            -0.110876840211}}}),
    CASE("torch.diff(a, 2)", diff(a, 2),
         {{{2, 2}, {-0.302985644487, -0.46347240609, 0.164978833122, 0.409915704513}}}),
    CASE("torch.diff(a, 9)", diff(a, 9), {{{2, 0}, {}}}),
    CASE("torch.diff(a, 0)", diff(a, 0),
         {{{2, 4},
           {0, 0.644217687238, 0.985449729988, 0.863209366649, 0.334988150156, -0.35078322769,
            -0.871575772414, -0.982452612624}}}),
    CASE("torch.diff(c, 1, 1)", diff(c, 1, 1),
         {{{2, 2, 2},
           {0.80849640382, -1.0489530542, -1.76009847771, -0.547794631427, 0.273375829378,
            -1.44570412765, -1.58490739944, 0.00788842924072}}}),
    CASE("torch.diff(a, 1, 0, v.view(1, 4))", diff(a, 1, 0, v.view({1, 4})),
         {{{2, 4},
           {-1, -0.651302519424, -0.579192743407, -0.920117542979, 0.334988150156, -0.995000914927,
            -1.8570255024, -1.84566197927}}}),
    CASE("torch.diff(v, 1, 0, v, a[0])", diff(v, 1, 0, v, a[0]),
         {{{11},
           {0.295520206661, 0.269122266734, 0.218684436232, -0.783326909627, 0.295520206661,
            0.269122266734, 0.218684436232, -1.78332690963, 0.644217687238, 0.341232042751,
            -0.12224036334}}}),
    CASE("torch.diff(v, 2, -1, None, s.view(1))", diff(v, 2, -1, Tensor(), s.view(1)),
         {{{3}, {-0.0263979399276, -0.0504378305012, 4.99798865414}}}),
    CASE("torch.trapezoid(a)", trapezoid(a), {{{2}, {2.06127210055, -1.54609123134}}}),
    CASE("torch.trapezoid(a, dx=2)", trapezoid(a, 2), {{{2}, {4.1225442011, -3.09218246267}}}),
    CASE("torch.trapezoid(a, dx=0.5, dim=0)", trapezoid(a, 0.5, 0),
         {{{4}, {0.083747037539, 0.073358614887, 0.0284684893937, -0.0298108114939}}}),
    CASE("torch.trapezoid(a, v)", trapezoid(a, v), {{{2}, {0.516616052874, -0.369539470794}}}),
    CASE("torch.trapezoid(c, c * c, dim=1)", trapezoid(c, c* c, 1),
         {{{2, 2}, {0.24622074775, -0.486276014669, -0.0266807717708, -0.200287931174}}}),
    CASE("torch.trapezoid(c, a[:, :2].unsqueeze(1), dim=0)",
         trapezoid(c, a.narrow(1, 0, 2).unsqueeze(1), 0),
         {{{3, 2},
           {0.0521813325302, -0.93499021773, 0.233388521582, 0.306102871458, -0.326880143942,
            0.574706454034}}}),
    CASE("torch.trapezoid(a[:, :0])", trapezoid(a.narrow(1, 0, 0)), {{{2}, {0, 0}}}),
    CASE("torch.trapezoid(v[:1])", trapezoid(v.narrow(0, 0, 1)), {{{}, {0}}}),
    CASE("torch.trapz(a, v)", trapz(a, v), {{{2}, {0.516616052874, -0.369539470794}}}),
    CASE("torch.trapz(a, dx=0.5)", trapz(a, 0.5), {{{2}, {1.03063605028, -0.773045615669}}}),
    CASE("torch.cumulative_trapezoid(a)", cumulative_trapezoid(a),
         {{{2, 3},
           {0.322108843619, 1.13694255223, 2.06127210055, -0.00789753876686, -0.619077038818,
            -1.54609123134}}}),
    CASE("torch.cumulative_trapezoid(a, dx=2, dim=0)", cumulative_trapezoid(a, 2, 0),
         {{{1, 4}, {0.334988150156, 0.293434459548, 0.113873957575, -0.119243245975}}}),
    CASE("torch.cumulative_trapezoid(a, v)", cumulative_trapezoid(a, v),
         {{{2, 3},
           {0.0951896720337, 0.314479566707, 0.516616052874, -0.0023338822885, -0.166815894724,
            -0.369539470794}}}),
    CASE("torch.cumulative_trapezoid(c, c * c, dim=1)", cumulative_trapezoid(c, c* c, 1),
         {{{2, 2, 2},
           {0.264243480993, -0.282150547441, 0.24622074775, -0.486276014669, 0.109847594642,
            -0.203533947412, -0.0266807717708, -0.200287931174}}}),
    CASE("torch.cov(a)", cov(a),
         {{{2, 2}, {0.192549781553, -0.255875763937, -0.255875763937, 0.362021150463}}}),
    CASE("torch.cov(v)", cov(v), {{{}, {0.114829951601}}}),
    CASE("torch.cov(s, correction=0)", cov(s, 0), {{{}, {0}}}),
    CASE("torch.cov(a, correction=0)", cov(a, 0),
         {{{2, 2}, {0.144412336165, -0.191906822953, -0.191906822953, 0.271515862847}}}),
    CASE("torch.cov(a, fweights=torch.tensor([1, 2, 0, 3]))",
         cov(a, 1, tensor({1, 2, 0, 3}, a.device())),
         {{{2, 2}, {0.111772274101, -0.170841191932, -0.170841191932, 0.284718417561}}}),
    CASE("torch.cov(a, aweights=torch.tensor([.5, 1., .25, 2.]))",
         cov(a, 1, Tensor(), tensor({.5, 1., .25, 2.}, TensorOptions(kFloat64).device(a.device()))),
         {{{2, 2}, {0.137888390001, -0.208120901216, -0.208120901216, 0.345683588161}}}),
    CASE("torch.cov(a, correction=0, fweights=torch.tensor([1, 2, 0, 3]), "
         "aweights=torch.tensor([.5, 1., .25, 2.]))",
         cov(a, 0, tensor({1, 2, 0, 3}, a.device()),
             tensor({.5, 1., .25, 2.}, TensorOptions(kFloat64).device(a.device()))),
         {{{2, 2}, {0.0446490785935, -0.0763104739598, -0.0763104739598, 0.144848545541}}}),
    CASE("torch.cov(a, correction=2, fweights=torch.tensor([1, 2, 0, 3]), "
         "aweights=torch.tensor([.5, 1., .25, 2.]))",
         cov(a, 2, tensor({1, 2, 0, 3}, a.device()),
             tensor({.5, 1., .25, 2.}, TensorOptions(kFloat64).device(a.device()))),
         {{{2, 2}, {0.0737347640772, -0.126021296996, -0.126021296996, 0.239207026636}}}),
    CASE("torch.corrcoef(a)", corrcoef(a), {{{2, 2}, {1, -0.969149252385, -0.969149252385, 1}}}),
    CASE("torch.corrcoef(v)", corrcoef(v), {{{}, {1}}}),
    CASE("torch.vander(v)", vander(v),
         {{{4, 4},
           {1, 1, 1, 1, 2.17436562521, 1.67837260587, 1.29552020666, 1, 3.8304107358, 2.44810606955,
            1.5646424734, 1, 5.67143408308, 3.1802548666, 1.78332690963, 1}}}),
    CASE("torch.vander(v, 2)", vander(v, 2),
         {{{4, 2}, {1, 1, 1.29552020666, 1, 1.5646424734, 1, 1.78332690963, 1}}}),
    CASE("torch.vander(v, 3, True)", vander(v, 3, true),
         {{{4, 3},
           {1, 1, 1, 1, 1.29552020666, 1.67837260587, 1, 1.5646424734, 2.44810606955, 1,
            1.78332690963, 3.1802548666}}}),
    CASE("torch.vander(v, 0)", vander(v, 0), {{{4, 0}, {}}}),
    CASE("torch.vander(v, 1)", vander(v, 1), {{{4, 1}, {1, 1, 1, 1}}}),
    CASE("torch.linalg.vander(a)", linalg_vander(a),
         {{{2, 4, 4},
           {1,
            0,
            0,
            0,
            1,
            0.644217687238,
            0.41501642855,
            0.267360923766,
            1,
            0.985449729988,
            0.971111170334,
            0.956981240595,
            1,
            0.863209366649,
            0.74513041067,
            0.643203549866,
            1,
            0.334988150156,
            0.112217060745,
            0.0375913855949,
            1,
            -0.35078322769,
            0.123048872828,
            -0.0431634807743,
            1,
            -0.871575772414,
            0.759644327058,
            -0.662087591115,
            1,
            -0.982452612624,
            0.965213136052,
            -0.948276167254}}}),
    CASE("torch.linalg.vander(s, N=3)", linalg_vander(s, 3), {{{1, 3}, {1, 7, 49}}}),
    CASE("torch.linalg.vander(c, N=2)", linalg_vander(c, 2),
         {{{2, 3, 2, 2}, {1, 0,
                          1, 0.891207360061,
                          1, 0.80849640382,
                          1, -0.157745694143,
                          1, -0.95160207389,
                          1, -0.70554032557,
                          1, 0.311541363513,
                          1, 0.988168233877,
                          1, 0.584917192892,
                          1, -0.457535893775,
                          1, -0.999990206551,
                          1, -0.449647464535}}}),
};

}  // namespace

TEST_CASE("functions of samples have PyTorch's values") { check_cases(kSamples, inputs); }

TEST_CASE("functions of samples have correct first and second gradients") {
  check_gradients(kSamples, inputs(kCPU));
}

TEST_CASE("functions of samples accept integers and bool as in PyTorch") {
  for_each_device([](Device d) {
    const Tensor n = tensor({{1, 4, 9}, {2, 2, 7}}, d);
    check_values(diff(n), {2, 2}, {3, 5, 0, 5});
    CHECK(diff(n).dtype() == kInt64);
    check_values(diff(n > 3), {2, 2}, {1, 0, 0, 1});
    CHECK(diff(n > 3).dtype() == kBool);
    check_values(trapezoid(n), {2}, {9, 6.5});
    check_values(cumulative_trapezoid(n), {2, 2}, {2.5, 9, 2, 6.5});
    // Sums of three float32 numbers of up to 9 have an error of 1e-6.
    check_values(cov(n), {2, 2}, {49 / 3., 32.5 / 3, 32.5 / 3, 25 / 3.}, 1e-6);
    check_values(vander(n[0]), {3, 3}, {1, 1, 1, 16, 4, 1, 81, 9, 1});
    CHECK(vander(n[0].to(kInt32)).dtype() == kInt64);
    CHECK(vander(n[0] > 3, 2).dtype() == kInt64);
    // With fewer observations than the correction the divisor is 0, not negative.
    CHECK(cov(tensor({1., 2.}, d), 3).isinf().item<bool>());
    CHECK(cov(tensor({1., 2.}, d), 1, tensor({1, 0}, d)).isnan().item<bool>());
    CHECK(corrcoef(tensor({1., 1.}, d)).isnan().item<bool>());
    CHECK(cov(zeros({0, 3}, d)).sizes() == IntArrayRef{0, 0});
  });
}

namespace {

std::vector<bad_input::BadCall> bad_calls() {
  using namespace bad_input;
  return {
      VALUE(diff, m23(), -1),
      INDEX(diff, m23(), 1, 2),
      SHAPE(diff, ones({})),
      SHAPE(diff, m23(), 1, 0, m45()),
      SHAPE(diff, m23(), 1, 0, Tensor(), ones(3)),
      DEVICE(diff, m23(), 1, 0, there()),
      VALUE(diff, none()),
      SHAPE(trapezoid, m23(), ones(2)),
      SHAPE(trapezoid, ones({})),
      INDEX(trapezoid, m23(), 1, 2),
      DTYPE(trapezoid, b23()),
      DTYPE(trapezoid, m23(), b23()),
      DEVICE(trapezoid, m23(), there()),
      VALUE(trapezoid, m23(), none()),
      VALUE(trapezoid, none()),
      SHAPE(trapz, m23(), ones(2)),
      DTYPE(trapz, b23()),
      VALUE(trapz, none()),
      SHAPE(cumulative_trapezoid, m23(), ones(2)),
      DTYPE(cumulative_trapezoid, b23()),
      INDEX(cumulative_trapezoid, m23(), 1, -3),
      VALUE(cumulative_trapezoid, none()),
      SHAPE(cov, ones({1, 2, 3})),
      DTYPE(cov, b23()),
      DTYPE(cov, m23(), 1, ones(3)),
      DTYPE(cov, m23(), 1, Tensor(), ones(3, kInt64)),
      SHAPE(cov, m23(), 1, ones(2, kInt64)),
      SHAPE(cov, m23(), 1, Tensor(), ones({1, 3})),
      VALUE(cov, m23(), 1, tensor({1, -1, 1})),
      VALUE(cov, m23(), 1, zeros(3, kInt64)),
      DEVICE(cov, m23(), 1, Tensor(), there()[0]),
      VALUE(cov, none()),
      SHAPE(corrcoef, ones({1, 2, 3})),
      VALUE(corrcoef, none()),
      SHAPE(vander, m23()),
      VALUE(vander, ones(3), -1),
      VALUE(vander, none()),
      VALUE(linalg_vander, m23(), 1),
      DTYPE(linalg_vander, b23()),
      VALUE(linalg_vander, none()),
  };
}
const CallTable<bad_input::BadCall> kBad(bad_calls);

std::vector<mismatch::Call> mixed_calls() {
  using namespace mismatch;
  const Tensor twice = ones(2, kInt64);
  return {
      BOTH(diff, strict, given(f(), f(), f()), 1, 0, t[1], t[2]),
      CALL(trapezoid, strict, given(f(), f()), t[0], t[1]),
      CALL(trapz, strict, given(f(), f()), t[0], t[1]),
      CALL(cumulative_trapezoid, strict, given(f(), f()), t[0], t[1]),
      BOTH(cov, strict, given(f(), twice, f({2})), 1, t[1], t[2]),
  };
}
const CallTable<mismatch::Call> kMixed(mixed_calls);

std::vector<agreement::Call> agreeing_calls() {
  using namespace agreement;
  return {
      with_dims(RESULT(diff, diff(o.a), diff(o.n, 2, 1), diff(o.a, 1, 0, o.a))),
      with_dims(RESULT(trapezoid, trapezoid(o.a, o.unit), trapezoid(o.a, 0.5))),
      with_dims(RESULT(trapz, trapz(o.a, 0.5), trapz(o.a, o.unit, 0))),
      with_dims(RESULT(cumulative_trapezoid, cumulative_trapezoid(o.a, o.unit),
                       cumulative_trapezoid(o.a, 2))),
      with_dims(RESULT(cov, cov(o.a),
                       cov(o.a, 1, MADE(ones(5, TensorOptions(kInt64).device(o.a.device())))))),
      full_only(Call{"corrcoef",
                     [](const Operands& o) -> std::vector<Tensor> {
                       const Tensor r = corrcoef(o.unit.t());
                       return {MADE(r.isnan())};
                     }}),
      with_dims(RESULT(vander, vander(o.unit.select(1, 0), 4))),
      RESULT(linalg_vander, linalg_vander(o.unit, 4)),
  };
}
const CallTable<agreement::Call> kAgreeing(agreeing_calls);

}  // namespace
