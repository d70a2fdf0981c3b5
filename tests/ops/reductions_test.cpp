// Reductions other than sums and extremes: values, gradients, bad calls.
#include <doctest/doctest.h>

#include "tests/autograd/gradcheck.h"
#include "tests/mismatch/mismatch_calls.h"
#include "tests/tables/agreement_calls.h"
#include "tests/tables/bad_calls.h"
#include "value_cases.h"

using namespace ambit;

namespace {

using Correction = std::optional<int64_t>;

const std::vector<value_cases::Case>& cases() {
  using namespace value_cases;
  static const std::vector<Case> all{
      CASE("torch.amax(a, 0)", amax(in.a, 0), kFloat64, (Dims{3}), (Numbers{0.25, 1, 3.5})),
      CASE("torch.amax(s, 1, True)", amax(in.s, 1, true), kFloat64, (Dims{2, 1}),
           (Numbers{NAN, 1})),
      CASE("torch.amin(n, (0, 1))", amin(in.n, {0, 1}), kInt64, (Dims{}), (Numbers{-12})),
      CASE("torch.amin(s)", amin(in.s), kFloat64, (Dims{}), (Numbers{NAN})),
      CASE("torch.amax(y, 0)", amax(in.y, 0), kBool, (Dims{3}), (Numbers{1, 0, 1})),
      CASE("torch.amax(z, 0)", amax(in.z, 0), kFloat64, (Dims{}), (Numbers{2.5})),
      CASE("torch.aminmax(a)[0]", std::get<0>(aminmax(in.a)), kFloat64, (Dims{}), (Numbers{-2.5})),
      CASE("torch.aminmax(a)[1]", std::get<1>(aminmax(in.a)), kFloat64, (Dims{}), (Numbers{3.5})),
      CASE("torch.aminmax(n, dim=-1)[0]", std::get<0>(aminmax(in.n, -1)), kInt64, (Dims{2}),
           (Numbers{-12, -3})),
      CASE("torch.aminmax(n, dim=-1)[1]", std::get<1>(aminmax(in.n, -1)), kInt64, (Dims{2}),
           (Numbers{7, 64})),
      CASE("torch.aminmax(s, dim=0, keepdim=True)[0]", std::get<0>(aminmax(in.s, 0, true)),
           kFloat64, (Dims{1, 3}), (Numbers{NAN, -0, -INFINITY})),
      CASE("torch.aminmax(s, dim=0, keepdim=True)[1]", std::get<1>(aminmax(in.s, 0, true)),
           kFloat64, (Dims{1, 3}), (Numbers{NAN, INFINITY, 1})),
      CASE("torch.aminmax(a, keepdim=True)[0]", std::get<0>(aminmax(in.a, {}, true)), kFloat64,
           (Dims{1, 1}), (Numbers{-2.5})),
      CASE("torch.aminmax(a, keepdim=True)[1]", std::get<1>(aminmax(in.a, {}, true)), kFloat64,
           (Dims{1, 1}), (Numbers{3.5})),
      CASE("torch.nansum(s)", nansum(in.s), kFloat64, (Dims{}), (Numbers{NAN})),
      CASE("torch.nansum(t, 1)", nansum(in.t, 1), kFloat64, (Dims{2}), (Numbers{INFINITY, 2})),
      CASE("torch.nansum(n, 0)", nansum(in.n, 0), kInt64, (Dims{3}), (Numbers{-7, 71, -3})),
      CASE("torch.nansum(y)", nansum(in.y), kInt64, (Dims{}), (Numbers{3})),
      CASE("torch.nansum(t, (0, 1), True, dtype=torch.float32)",
           nansum(in.t, {0, 1}, true, kFloat32), kFloat32, (Dims{1, 1}), (Numbers{INFINITY})),
      CASE("torch.nanmean(t)", nanmean(in.t), kFloat64, (Dims{}), (Numbers{INFINITY})),
      CASE("torch.nanmean(t, 0)", nanmean(in.t, 0), kFloat64, (Dims{3}),
           (Numbers{0.5, 2, INFINITY})),
      CASE("torch.nanmean(t * nan, 1)", nanmean(in.t * NAN, 1), kFloat64, (Dims{2}),
           (Numbers{NAN, NAN})),
      CASE("torch.nanmean(t, 1, True, dtype=torch.float32)", nanmean(in.t, 1, true, kFloat32),
           kFloat32, (Dims{2, 1}), (Numbers{INFINITY, 1})),
      CASE("torch.count_nonzero(a)", count_nonzero(in.a), kInt64, (Dims{}), (Numbers{5})),
      CASE("torch.count_nonzero(n, 0)", count_nonzero(in.n, IntArrayRef{0}), kInt64, (Dims{3}),
           (Numbers{2, 2, 1})),
      CASE("torch.count_nonzero(y, (0, 1))", count_nonzero(in.y, {0, 1}), kInt64, (Dims{}),
           (Numbers{3})),
      CASE("torch.count_nonzero(s)", count_nonzero(in.s), kInt64, (Dims{}), (Numbers{4})),
      CASE("torch.count_nonzero(e)", count_nonzero(in.e), kInt64, (Dims{}), (Numbers{0})),
      CASE("torch.var(a, (0, 1), correction=2)", var(in.a, {0, 1}, Correction(2)), kFloat64,
           (Dims{}), (Numbers{4.82552083333})),
      CASE("torch.var(a, 0, correction=0, keepdim=True)", var(in.a, {0}, Correction(0), true),
           kFloat64, (Dims{1, 3}), (Numbers{1.890625, 0.5625, 3.0625})),
      CASE("torch.std(a, 1, correction=3)", ambit::std(in.a, {1}, Correction(3)), kFloat64,
           (Dims{2}), (Numbers{INFINITY, INFINITY})),
      CASE("torch.var(a, 0, correction=1)", var(in.a, {0}, Correction()), kFloat64, (Dims{3}),
           (Numbers{3.78125, 1.125, 6.125})),
      CASE("torch.var_mean(a)[0]", std::get<0>(var_mean(in.a)), kFloat64, (Dims{}),
           (Numbers{3.86041666667})),
      CASE("torch.var_mean(a)[1]", std::get<1>(var_mean(in.a)), kFloat64, (Dims{}),
           (Numbers{0.291666666667})),
      CASE("torch.std_mean(a, 1)[0]", std::get<0>(std_mean(in.a, IntArrayRef{1})), kFloat64,
           (Dims{2}), (Numbers{1.32287565553, 1.70171482139})),
      CASE("torch.std_mean(a, 1)[1]", std::get<1>(std_mean(in.a, IntArrayRef{1})), kFloat64,
           (Dims{2}), (Numbers{-1, 1.58333333333})),
      CASE("torch.std_mean(a, 0, unbiased=False, keepdim=True)[0]",
           std::get<0>(std_mean(in.a, {0}, false, true)), kFloat64, (Dims{1, 3}),
           (Numbers{1.375, 0.75, 1.75})),
      CASE("torch.std_mean(a, 0, unbiased=False, keepdim=True)[1]",
           std::get<1>(std_mean(in.a, {0}, false, true)), kFloat64, (Dims{1, 3}),
           (Numbers{-1.125, 0.25, 1.75})),
      CASE("torch.var_mean(a, 1, correction=0)[0]", std::get<0>(var_mean(in.a, {1}, Correction(0))),
           kFloat64, (Dims{2}), (Numbers{1.16666666667, 1.93055555556})),
      CASE("torch.var_mean(a, 1, correction=0)[1]", std::get<1>(var_mean(in.a, {1}, Correction(0))),
           kFloat64, (Dims{2}), (Numbers{-1, 1.58333333333})),
      CASE("torch.var(a, 1)", var(in.a, 1), kFloat64, (Dims{2}), (Numbers{1.75, 2.89583333333})),
      CASE("torch.std(a, -1)", ambit::std(in.a, -1), kFloat64, (Dims{2}),
           (Numbers{1.32287565553, 1.70171482139})),
      CASE("torch.norm(n, 3, (0, 1), dtype=torch.float64)", norm(in.n, 3, kFloat64), kFloat64,
           (Dims{}), (Numbers{64.1803992272})),
      CASE("torch.norm(a, 3, 1, True, dtype=torch.float32)", norm(in.a, 3, {1}, true, kFloat32),
           kFloat32, (Dims{2, 1}), (Numbers{2.50664901733, 3.5274207592})),
      CASE("torch.norm(a, inf, 0)", norm(in.a, std::optional<Scalar>(INFINITY), {0}), kFloat64,
           (Dims{3}), (Numbers{2.5, 1, 3.5})),
      CASE("torch.norm(a, 2, 0)", norm(in.a, std::nullopt, {0}), kFloat64, (Dims{3}),
           (Numbers{2.51246890528, 1.11803398875, 3.5})),
      CASE("torch.dist(a, b)", dist(in.a, in.b), kFloat64, (Dims{}), (Numbers{6.90108687092})),
      CASE("torch.dist(a, b, 1)", dist(in.a, in.b, 1), kFloat64, (Dims{}), (Numbers{13})),
      CASE("torch.dist(a, b[1], inf)", dist(in.a, in.b[1], INFINITY), kFloat64, (Dims{}),
           (Numbers{4.75})),
      CASE("torch.dist(a, b, 0)", dist(in.a, in.b, 0), kFloat64, (Dims{}), (Numbers{4})),
      CASE("torch.renorm(a, 2, 0, 1.5)", renorm(in.a, 2, 0, 1.5), kFloat64, (Dims{2, 3}),
           (Numbers{-1.47087095584, -0.294174191169, 0, 0.102778303657, 0.411113214629,
                    1.4388962512})),
      CASE("torch.renorm(a, 1, -1, 2)", renorm(in.a, 1, -1, 2), kFloat64, (Dims{2, 3}),
           (Numbers{-1.81818175207, -0.5, 0, 0.181818175207, 1, 1.99999994286})),
      CASE("torch.renorm(a, 2, 1, 0)", renorm(in.a, 2, 1, 0), kFloat64, (Dims{2, 3}),
           (Numbers{-0, -0, 0, 0, 0, 0})),
      CASE("torch.sum(y, dtype=torch.bool)", sum(in.y, kBool), kBool, (Dims{}), (Numbers{1})),
      CASE("torch.mean(n, dtype=torch.float32)", mean(in.n, kFloat32), kFloat32, (Dims{}),
           (Numbers{10.1666669846})),
      CASE("torch.mean(n, 0, True, dtype=torch.float64)", mean(in.n, {0}, true, kFloat64), kFloat64,
           (Dims{1, 3}), (Numbers{-3.5, 35.5, -1.5})),
      CASE("torch.prod(n, dtype=torch.float32)", prod(in.n, kFloat32), kFloat32, (Dims{}),
           (Numbers{0})),
      CASE("torch.prod(m, 0, dtype=torch.int8)", prod(in.m, 0, false, kInt8), kInt8, (Dims{3}),
           (Numbers{-36, 0, 24})),
      CASE("torch.prod(y, 1, True, dtype=torch.bool)", prod(in.y, 1, true, kBool), kBool,
           (Dims{2, 1}), (Numbers{0, 0})),
      CASE("a.sum_to_size(1, 3)", in.a.sum_to_size({1, 3}), kFloat64, (Dims{1, 3}),
           (Numbers{-2.25, 0.5, 3.5})),
      CASE("a.sum_to_size(3)", in.a.sum_to_size({3}), kFloat64, (Dims{3}),
           (Numbers{-2.25, 0.5, 3.5})),
      CASE("n.sum_to_size(2, 1)", in.n.sum_to_size({2, 1}), kInt64, (Dims{2, 1}),
           (Numbers{-5, 66})),
      CASE("torch.softmax(n, 0, dtype=torch.float64)", softmax(in.n, 0, kFloat64), kFloat64,
           (Dims{2, 3}),
           (Numbers{4.13993754739e-08, 1.75879220242e-25, 0.952574126822, 0.999999958601, 1,
                    0.0474258731776})),
      CASE("torch.log_softmax(a, 1, dtype=torch.float32)", log_softmax(in.a, 1, kFloat32), kFloat32,
           (Dims{2, 3}),
           (Numbers{-3.02390909195, -1.02390909195, -0.523909091949, -3.36409544945, -2.61409544945,
                    -0.114095486701})),
      CASE("torch.logsumexp(a, 0, True)", logsumexp(in.a, {0}, true), kFloat64, (Dims{1, 3}),
           (Numbers{0.311967589003, 1.20141327798, 3.52975041827})),
      CASE("torch.max(a, b)", in.a.max(in.b), kFloat64, (Dims{2, 3}),
           (Numbers{1.5, -0.5, 0, 0.25, 3, 3.5})),
      CASE("torch.min(n, m)", in.n.min(in.m), kInt64, (Dims{2, 3}),
           (Numbers{-12, 0, 0, -2, 3, -3})),
  };
  return all;
}

}  // namespace

TEST_CASE("reductions have PyTorch's values, sizes and dtypes") {
  value_cases::check_cases(cases());
}

TEST_CASE("reductions have correct first and second gradients") {
  for_each_device([](Device d) {
    using Tensors = std::vector<Tensor>;
    const Tensor x = wave(d, {3, 4}, 0.7) * 0.8 + 2, w = wave(d, {3, 4}, 1.1) * 0.7 + 1;
    Tensor (*const functions[])(const Tensors&) = {
        [](const Tensors& in) { return amax(in[0], 0) + amax(in[1]); },
        [](const Tensors& in) {
          return amin(in[0], {0, 1}, true) * in[1];
        },
        [](const Tensors& in) {
          const auto [least, most] = aminmax(in[0], 1);
          return least * most + std::get<1>(aminmax(in[1]));
        },
        [](const Tensors& in) { return nansum(in[0] * in[1], 1); },
        [](const Tensors& in) { return nanmean(in[0] * in[1], 0, true); },
        [](const Tensors& in) { return var(in[0] * in[1], {0}, Correction(2)); },
        [](const Tensors& in) { return ambit::std(in[0] * in[1], {1}, Correction(0), true); },
        [](const Tensors& in) {
          const auto [spread, center] = std_mean(in[0] * in[1], IntArrayRef{1});
          return spread * center + std::get<0>(var_mean(in[0]));
        },
        [](const Tensors& in) { return dist(in[0], in[1][0], 3); },
        [](const Tensors& in) { return renorm(in[0], 2, 0, 4) * in[1]; },
        [](const Tensors& in) { return (in[0] * 1).renorm_(2, 1, 3) * in[1]; },
        [](const Tensors& in) { return sum_to_size(in[0] * in[1], {4}); },
        [](const Tensors& in) { return prod(in[0] * in[1], 1, true, kFloat64); },
        [](const Tensors& in) { return norm(in[0] * in[1], 3, {0}, false, kFloat64); },
        [](const Tensors& in) { return softmax(in[0] * in[1], 1, kFloat64); },
    };
    for (const auto f : functions) {
      const auto of_both = [f](const Tensors& in) { return f(in) + in[1].mean(); };
      gradcheck(of_both, {x, w});
      gradgradcheck(of_both, {x, w});
    }
  });
}

TEST_CASE("a quantile between equal infinities is infinite") {
  for_each_device([](Device d) {
    // This is the exact value; PyTorch 2.15 returns NaN.
    const Tensor x = tensor({1., INFINITY, INFINITY, INFINITY}, TensorOptions(kFloat32).device(d));
    CHECK(quantile(x, 0.5).item<double>() == INFINITY);
    CHECK(quantile(x, 0.75).item<double>() == INFINITY);
  });
}

TEST_CASE("gradients of reductions at NaN and of equal elements are PyTorch's") {
  for_each_device([](Device d) {
    const auto grad_of = [&](Tensor (*f)(const Tensor&)) {
      const Tensor x = tensor({{2., 2., NAN}, {-1., 1., 1.}}, kFloat64).to(d).requires_grad_();
      f(x).sum().backward();
      return x.grad();
    };
    check_values(grad_of([](const Tensor& x) { return nansum(x); }), {2, 3}, {1, 1, 0, 1, 1, 1});
    check_values(grad_of([](const Tensor& x) { return nanmean(x, 1); }), {2, 3},
                 {0.5, 0.5, 0, 1. / 3, 1. / 3, 1. / 3});
    check_values(grad_of([](const Tensor& x) { return amax(x.slice(1, 0, 2), 1); }), {2, 3},
                 {0.5, 0.5, 0, 0, 1, 0});
    check_values(grad_of([](const Tensor& x) { return amax(x[1], 0); }), {2, 3},
                 {0, 0, 0, 0, 0.5, 0.5});
  });
}

TEST_CASE("reductions without elements") {
  for_each_device([](Device d) {
    const Tensor none = zeros({0, 3}, TensorOptions(kFloat64).device(d));
    CHECK(nansum(none).item<double>() == 0);
    check_values(nanmean(none, 0), {3}, {NAN, NAN, NAN});
    check_values(count_nonzero(none, IntArrayRef{0}), {3}, {0, 0, 0});
    CHECK(amax(none, 1).sizes() == IntArrayRef{0});
    CHECK_THROWS_AS(amax(none, 0), ShapeError);
    CHECK_THROWS_AS(aminmax(none), ShapeError);
    check_values(var(none, {0}, Correction(0)), {3}, {NAN, NAN, NAN});
    check_values(sum_to_size(none, {1, 3}), {1, 3}, {0, 0, 0});
    CHECK(renorm(none, 2, 1, 1).sizes() == IntArrayRef{0, 3});
    CHECK(dist(none, none).item<double>() == 0);
    // PyTorch 2.15: without an identity they throw; along other dims they have no elements.
    const double inf = INFINITY;
    for (const double p : {inf, -inf, -1.}) {
      INFO(p);
      CHECK_THROWS_AS(norm(none, p), ShapeError);
      CHECK_THROWS_AS(norm(none, p, {0}), ShapeError);
      CHECK_THROWS_AS(linalg_vector_norm(none, p, 0), ShapeError);
      CHECK_THROWS_AS(dist(none, none, p), ShapeError);
      CHECK(norm(none, p, {1}).sizes() == IntArrayRef{0});
    }
    CHECK_THROWS_WITH_AS(norm(none, inf),
                         "norm: expected elements for the norm inf, got shape [0, 3]", ShapeError);
    for (const double p : {0., 0.5, 1., 2., 3.}) CHECK(norm(none, p).item<double>() == 0);
    for (const double p : {1., 2., inf}) {
      check_values(linalg_matrix_norm(none, p), {}, {0});
      check_values(linalg_matrix_norm(none.t(), p), {}, {0});
    }
    check_values(linalg_matrix_norm(none, -1.), {}, {0});
    check_values(linalg_matrix_norm(none.t(), -inf), {}, {0});
    CHECK_THROWS_AS(linalg_matrix_norm(none, -inf), ShapeError);
    CHECK_THROWS_AS(linalg_matrix_norm(none.t(), -1.), ShapeError);
    CHECK_THROWS_AS(linalg_matrix_norm(none, -2.), ShapeError);
    CHECK(prod(none, kInt32).item<int>() == 1);
  });
}

TEST_CASE("in-place renorm writes self, and a refused call changes nothing") {
  for_each_device([](Device d) {
    const value_cases::Inputs in(d);
    const Tensor x = in.a.clone();
    CHECK(x.renorm_(2, 0, 1.5).is_same(x));
    CHECK(x.equal(renorm(in.a, 2, 0, 1.5)));
    const Tensor before = x.clone();
    CHECK_THROWS_AS(x.renorm_(0, 0, 1), Error);
    CHECK_THROWS_AS(x.renorm_(2, 2, 1), IndexError);
    CHECK(x.equal(before));
  });
}

namespace {

std::vector<bad_input::BadCall> bad_calls() {
  using namespace bad_input;
  return {
      VALUE(amax, none()),
      INDEX(amax, m23(), 2),
      SHAPE(amax, m23(), {0, 0}),
      SHAPE(amin, ones({0})),
      VALUE(amin, none()),
      VALUE(aminmax, none()),
      INDEX(aminmax, m23(), 2),
      VALUE(nansum, none()),
      INDEX(nansum, m23(), 2),
      VALUE(nanmean, none()),
      DTYPE(nanmean, i23()),
      VALUE(count_nonzero, none()),
      INDEX(count_nonzero, m23(), std::optional<int64_t>(-3)),
      SHAPE(sum_to_size, m23(), {2}),
      SHAPE(sum_to_size, m23(), {1, 2, 3}),
      VALUE(sum_to_size, none(), {1}),
      DTYPE(var_mean, i23()),
      VALUE(var_mean, none()),
      DTYPE(std_mean, i23()),
      INDEX(std_mean, m23(), IntArrayRef{2}),
      DTYPE(norm, m23(), 2, kInt64),
      DTYPE(mean, i23(), kInt32),
      SHAPE(dist, m23(), m45()),
      DTYPE(dist, i23(), i23()),
      DEVICE(dist, m23(), there()),
      VALUE(dist, none(), m23()),
      SHAPE(renorm, ones({3}), 2, 0, 1),
      DTYPE(renorm, i23(), 2, 0, 1),
      VALUE(renorm, m23(), 0, 0, 1),
      VALUE(renorm, m23(), 2, 0, -1),
      INDEX(renorm, m23(), 2, 2, 1),
      VALUE(renorm_, none(), 2, 0, 1),
      VALUE(renorm_, ones({1, 3}).expand({2, 3}), 2, 0, 1),
  };
}
const CallTable<bad_input::BadCall> kBad(bad_calls);

std::vector<agreement::Call> agreement_calls() {
  using namespace agreement;
  return {
      not_empty(RESULT(amax, amax(o.a), amax(o.n, 0), amax(o.a, -1, true))),
      not_empty(RESULT(amin, amin(o.a), amin(o.yes, 0))),
      not_empty(Call{"aminmax",
                     [](const Operands& o) {
                       const auto [least, most] = aminmax(o.a, 0);
                       return std::vector<Tensor>{least, most};
                     }}),
      RESULT(nansum, nansum(MADE(log(o.a))), nansum(o.n, 0)),
      RESULT(nanmean, nanmean(MADE(log(o.a)), 0)),
      RESULT(count_nonzero, count_nonzero(o.n), count_nonzero(o.n, std::optional<int64_t>(0))),
      with_dims(RESULT(sum_to_size, sum_to_size(o.a, {1, 5}))),
      with_dims(RESULT(var_mean, std::get<0>(var_mean(o.a, IntArrayRef{1})),
                       std::get<1>(var_mean(o.a, IntArrayRef{1})))),
      with_dims(
          RESULT(std_mean, std::get<0>(std_mean(o.a, IntArrayRef{1})), std::get<1>(std_mean(o.a)))),
      RESULT(dist, dist(o.a, o.b), dist(o.a, o.unit, 3)),
      with_dims(RESULT(renorm, renorm(o.a, 2, 0, 0.5))),
      with_dims(IN_PLACE(renorm_, o.a, 1, 1, 0.5)),
  };
}
const CallTable<agreement::Call> kAgreement(agreement_calls);

std::vector<mismatch::Call> mixed_calls() {
  using namespace mismatch;
  return {
      BOTH(dist, elementwise, given(f(), f()), t[1]),
      Call{"Tensor::max", Rule::elementwise, given(f(), f()),
           [](const Tensors& t) { static_cast<void>(t[0].max(t[1])); }, "maximum"},
      Call{"Tensor::min", Rule::elementwise, given(f(), f()),
           [](const Tensors& t) { static_cast<void>(t[0].min(t[1])); }, "minimum"},
  };
}
const CallTable<mismatch::Call> kMixed(mixed_calls);

}  // namespace
