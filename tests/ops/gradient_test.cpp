// gradient() of samples: PyTorch's values, gradients, bad calls.
#include <doctest/doctest.h>

#include "oracle_cases.h"
#include "tests/mismatch/mismatch_calls.h"
#include "tests/tables/agreement_calls.h"
#include "tests/tables/bad_calls.h"

using namespace ambit;

namespace {

// A plain 1 could also be a list of dims.
const std::optional<Scalar> kTwo(2.);
const std::optional<int64_t> kDim0 = 0, kDim1 = 1;

// x = tensor([[1., 2, 4, 7], [2, 3, 5, 11], [0, 1, 8, -2]]), r = tensor([0., 1, 3]),
// c = tensor([0., 1, 4, 4.5]), all float64
std::vector<Tensor> inputs(Device d) {
  const auto made = [&](const TensorData& data) { return tensor(data, kFloat64).to(d); };
  return {made({{1, 2, 4, 7}, {2, 3, 5, 11}, {0, 1, 8, -2}}), made({0, 1, 3}),
          made({0, 1, 4, 4.5})};
}

const std::vector<oracle::Case>& cases() {
  using oracle::Case;
  using Tensors = std::vector<Tensor>;
  using Scalars = std::vector<Scalar>;
  static const std::vector<Case> all{
      {"torch.gradient(x)",
       [](const Tensors& in) { return gradient(in[0]); },
       {{{3, 4}, {1, 1, 1, 4, -0.5, -0.5, 2, -4.5, -2, -2, 3, -13}},
        {{3, 4}, {1, 1.5, 2.5, 3, 1, 1.5, 4, 6, 1, 4, -1.5, -10}}}},
      {"torch.gradient(x, spacing=2., dim=1)",
       [](const Tensors& in) { return gradient(in[0], kTwo, kDim1); },
       {{{3, 4}, {0.5, 0.75, 1.25, 1.5, 0.5, 0.75, 2, 3, 0.5, 2, -0.75, -5}}}},
      {"torch.gradient(x, spacing=[.5, 2.], edge_order=2)",
       [](const Tensors& in) {
         return gradient(in[0], Scalars{.5, 2.}, std::nullopt, 2);
       },
       {{{3, 4}, {5, 5, 0, 25, -1, -1, 4, -9, -7, -7, 8, -43}},
        {{3, 4}, {0.25, 0.75, 1.25, 1.75, 0.25, 0.75, 2, 4, -1, 2, -0.75, -9.25}}}},
      {"torch.gradient(x, spacing=(r, c), edge_order=2)",
       [](const Tensors& in) {
         return gradient(in[0], TensorList(in.data() + 1, 2), std::nullopt, 2);
       },
       {{{3, 4},
         {1.66666666667, 1.66666666667, 0.833333333333, 7.5, 0.333333333333, 0.333333333333,
          1.16666666667, 0.5, -2.33333333333, -2.33333333333, 1.83333333333, -13.5}},
        {{3, 4},
         {1.08333333333, 0.916666666667, 5.2380952381, 6.7619047619, 1.08333333333, 0.916666666667,
          10.380952381, 13.619047619, 0.666666666667, 1.33333333333, -16.8095238095,
          -23.1904761905}}}},
      {"torch.gradient(x, spacing=(c,), dim=1)",
       [](const Tensors& in) { return gradient(in[0], TensorList(in.data() + 2, 1), kDim1); },
       {{{3, 4},
         {1, 0.916666666667, 5.2380952381, 6, 1, 0.916666666667, 10.380952381, 12, 1, 1.33333333333,
          -16.8095238095, -20}}}},
      {"torch.gradient(x, dim=(1, 0))",
       [](const Tensors& in) {
         return gradient(in[0], IntArrayRef{1, 0});
       },
       {{{3, 4}, {1, 1.5, 2.5, 3, 1, 1.5, 4, 6, 1, 4, -1.5, -10}},
        {{3, 4}, {1, 1, 1, 4, -0.5, -0.5, 2, -4.5, -2, -2, 3, -13}}}},
      {"torch.gradient(x, spacing=2., dim=(0, 1))",
       [](const Tensors& in) {
         return gradient(in[0], Scalar(2.), IntArrayRef{0, 1});
       },
       {{{3, 4}, {0.5, 0.5, 0.5, 2, -0.25, -0.25, 1, -2.25, -1, -1, 1.5, -6.5}},
        {{3, 4}, {0.5, 0.75, 1.25, 1.5, 0.5, 0.75, 2, 3, 0.5, 2, -0.75, -5}}}},
  };
  return all;
}

}  // namespace

TEST_CASE("gradient has PyTorch's values") { oracle::check_cases(cases(), inputs); }

TEST_CASE("gradient has correct gradients, also of the coordinates") {
  oracle::check_gradients(cases(), inputs(Device()));
}

TEST_CASE("gradient with equal spacing does not use the sample in the middle") {
  for_each_device([](Device d) {
    // torch.gradient(torch.tensor([1., nan, 3., inf]))
    const Tensor x = tensor({1., NAN, 3., INFINITY}, kFloat64).to(d);
    check_values(gradient(x)[0], {4}, {NAN, 1, NAN, INFINITY});
  });
}

TEST_CASE("gradient of integers is of the default dtype, and of float32 is float32") {
  for_each_device([](Device d) {
    const Tensor g = gradient(tensor({1, 5, 2}).to(d))[0];
    CHECK(g.dtype() == kFloat32);
    check_values(g, {3}, {4, 0.5, -3});
    CHECK(gradient(ones({3}, TensorOptions(kFloat32).device(d)), kTwo)[0].dtype() == kFloat32);
    CHECK(gradient(ones({0, 3}, TensorOptions(kFloat32).device(d)), IntArrayRef{1})[0].sizes() ==
          IntArrayRef{0, 3});
  });
}

namespace {

std::vector<bad_input::BadCall> bad_calls() {
  using namespace bad_input;
  static const std::vector<Scalar> three{1, 2, 3};
  return {
      VALUE(gradient, none()),
      DTYPE(gradient, b23()),
      DTYPE(gradient, ones({3}, kUInt8)),
      VALUE(gradient, m23(), kTwo, kDim1, 3),
      SHAPE(gradient, m23(), kTwo, kDim0, 2),
      SHAPE(gradient, ones({1, 3})),
      INDEX(gradient, m23(), kTwo, std::optional<int64_t>(2)),
      SHAPE(gradient, m23(), IntArrayRef{1, 1}),
      SHAPE(gradient, m23(), three),
      SHAPE(gradient, m23(), std::vector<Tensor>{ones({2}), ones({2})}),
      DTYPE(gradient, m23(), std::vector<Tensor>{ones({3}, kBool)}, kDim1),
      DEVICE(gradient, m23(), std::vector<Tensor>{there()[0]}, kDim1),
      VALUE(gradient, m23(), std::vector<Tensor>{none()}, kDim1),
  };
}
const CallTable<bad_input::BadCall> kBad(bad_calls);

std::vector<mismatch::Call> mixed_calls() {
  using namespace mismatch;
  return {
      CALL(gradient, strict, given(f(), f({2})), t[0], TensorList(t.data() + 1, 1), kDim1),
      CALL(gradient, strict, given(f(), f({2})), t[0], TensorList(t.data() + 1, 1), IntArrayRef{1}),
  };
}
const CallTable<mismatch::Call> kMixed(mixed_calls);

std::vector<agreement::Call> agreeing_calls() {
  using namespace agreement;
  return {
      full_only(RESULT(gradient, gradient(o.a)[0], gradient(o.n, kTwo, kDim1)[0],
                       gradient(o.a, kTwo, kDim1, 2)[0])),
  };
}
const CallTable<agreement::Call> kAgreeing(agreeing_calls);

}  // namespace
