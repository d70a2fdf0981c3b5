// quantize_rows and linear_int8: results on every device, exact and approximate cases, the
// composite, bad calls.
#include <ambit/ambit.h>
#include <ambit/backend/kernels.h>
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "tests/devices.h"
#include "tests/mismatch/mismatch_calls.h"
#include "tests/tables/agreement_calls.h"
#include "tests/tables/bad_calls.h"

using namespace ambit;

namespace {

struct Layer {
  Tensor x, w, scale, bias;
};

// x is normal, w has all numbers of int8; a layer [N,K] for rows [M,K].
Layer layer(int64_t M, int64_t N, int64_t K, Device device) {
  manual_seed(static_cast<uint64_t>(1000 * M + 10 * N + K));
  const Tensor w = randint(-128, 128, {N, K}).to(kInt8);
  return {randn({M, K}).to(device), w.to(device), (rand({N}) * 0.01 + 0.001).to(device),
          randn({N}).to(device)};
}

// Return the product in float64, with the same integers.
Tensor exact_product(const Layer& l) {
  const auto [q, s] = quantize_rows(l.x.cpu());
  return matmul(q.to(kFloat64), l.w.cpu().to(kFloat64).t()) *
         (s.to(kFloat64).unsqueeze(1) * l.scale.cpu().to(kFloat64));
}

// Four roundings of float32: the sum, the product of both factors, the product with the sum, and
// the addition of the bias.
void check_near_exact(const Tensor& got, const Layer& l) {
  const Tensor product = exact_product(l), bias = l.bias.cpu().to(kFloat64);
  const Tensor bound = (product.abs() + bias.abs()) * (4 * std::ldexp(1, -24));
  CHECK(((got.cpu().to(kFloat64) - (product + bias)).abs() <= bound).all().item<bool>());
}

}  // namespace

TEST_CASE("quantize_rows has a factor for each row, and rounds to even") {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  for_each_device([](Device d) {
    const Tensor x = tensor({{127.f, 0.5f, 1.5f, 2.5f, -126.5f},
                             {0.f, 0.f, -0.f, 0.f, 0.f},
                             {1e-37f, -1e-38f, 0.f, 0.f, 0.f},
                             {1e-36f, -0.25e-36f, 0.f, 0.f, 0.f},
                             {3e38f, -3e38f, 1.f, 1e38f, 0.f},
                             {1.f, kInf, 2.f, 3.f, 4.f},
                             {1.f, std::nanf(""), 2.f, 3.f, 4.f}},
                            d);
    const auto [q, scale] = quantize_rows(x);
    CHECK(q.dtype() == kInt8);
    CHECK(scale.dtype() == kFloat32);
    CHECK(q.cpu().equal(tensor({{127, 0, 2, 2, -126},
                                {0, 0, 0, 0, 0},
                                {0, 0, 0, 0, 0},
                                {127, -32, 0, 0, 0},
                                {127, -127, 0, 42, 0},
                                {0, 0, 0, 0, 0},
                                {0, 0, 0, 0, 0}})
                            .to(kInt8)));
    CHECK(scale[0].item<float>() == 1);
    CHECK(scale[1].item<float>() == 0);
    CHECK_FALSE(std::isfinite(scale[5].item<float>()));
    CHECK_FALSE(std::isfinite(scale[6].item<float>()));
    const auto [none, zero] = quantize_rows(ones({3, 0}, d));
    CHECK(none.sizes() == IntArrayRef{3, 0});
    CHECK(zero.cpu().equal(zeros({3})));
  });
}

TEST_CASE("sums of linear_int8 are exact, for any sizes") {
  for_each_device([](Device d) {
    for (const int64_t K : {1, 3, 31, 63, 64, 65, 200}) {
      for (const auto& [M, N] :
           {std::pair<int64_t, int64_t>(1, 1), {1, 67}, {2, 4}, {3, 5}, {4, 8}, {7, 3}, {70, 66}}) {
        INFO(M, " rows of ", K, " to ", N);
        const Layer l = layer(M, N, K, d);
        check_near_exact(linear_int8(l.x, l.w, l.scale, l.bias), l);
      }
    }
    const Layer l = layer(6, 5, 20, d);
    const Tensor y = linear_int8(l.x, l.w, l.scale);
    CHECK(linear_int8(l.x.view({2, 3, 20}), l.w, l.scale).equal(y.view({2, 3, 5})));
    CHECK(linear_int8(l.x[0], l.w, l.scale).equal(y[0]));
    CHECK(linear_int8(l.x.t().contiguous().t(), l.w, l.scale).equal(y));
    CHECK(linear_int8(zeros({2, 0}, d), ones({3, 0}, TensorOptions(kInt8).device(d)), ones({3}, d),
                      full({3}, 2., d))
              .cpu()
              .equal(full({2, 3}, 2.)));
    CHECK(linear_int8(zeros({0, 20}, d), l.w, l.scale).sizes() == IntArrayRef{0, 5});
  });
}

TEST_CASE("linear_int8 does not saturate: the longest rows of the largest numbers") {
  constexpr int64_t kLongest = 131072;
  for_each_device([](Device d) {
    const Tensor w = full({5, kLongest}, -128, TensorOptions(kInt8).device(d));
    for (const float sign : {1.f, -1.f}) {
      const Tensor x = full({2, kLongest}, sign * 127, TensorOptions(kFloat32).device(d));
      // The sum 127 * 2^24 is exact in float32 and just within int32.
      CHECK((linear_int8(x, w, ones({5}, d)) == -sign * 2130706432.f).all().item<bool>());
    }
  });
}

TEST_CASE("linear_int8 approximates linear within the rounding to int8") {
  for_each_device([](Device d) {
    manual_seed(4);
    const Tensor x = randn({9, 300}), w = randn({40, 300}) * 0.05, b = randn({40});
    const auto [q, scale] = quantize_rows(w);
    const Tensor y = linear_int8(x.to(d), q.to(d), scale.to(d), b.to(d)).cpu();
    // Each number has an error of at most half a step, and a step is 1/127 of the row's largest
    // number.
    const Tensor dx = x.abs().amax({1}, true) / 254, dw = w.abs().amax({1}) / 254;
    const Tensor bound = dx * w.abs().sum(1) + dw * x.abs().sum(1, true) + 300 * dx * dw;
    const Tensor error = (y - linear(x, w, b)).abs();
    // float32 sums of 300 terms have a relative error of 300 * 2^-24, below 1 % of a step.
    CHECK((error <= bound * 1.01).all().item<bool>());
    CHECK(error.max().item<double>() > 0);
  });
}

TEST_CASE(
    "linear_int8 of float16 and bfloat16 is float32's, rounded; autocast does not change it") {
  for_each_device([](Device d) {
    const Layer l = layer(3, 7, 40, d);
    for (const DType dtype : dtypes::kReducedFloating) {
      const Tensor x = l.x.to(dtype), expected = linear_int8(x.to(kFloat32), l.w, l.scale, l.bias);
      const Tensor y = linear_int8(x, l.w, l.scale, l.bias);
      CHECK(y.dtype() == dtype);
      CHECK(y.equal(expected.to(dtype)));
      CHECK(linear_int8(x, l.w, l.scale, l.bias.to(dtype)).dtype() == dtype);
    }
    const Tensor y = linear_int8(l.x, l.w, l.scale, l.bias);
    const AutocastGuard region(d, kBFloat16);
    CHECK(linear_int8(l.x, l.w, l.scale, l.bias).equal(y));
  });
}

TEST_CASE("rows with NaN or Inf give NaN, and do not affect other rows") {
  for_each_device([](Device d) {
    const Layer l = layer(3, 6, 70, d);
    const Tensor y = linear_int8(l.x, l.w, l.scale, l.bias);
    l.x[0][69] = std::numeric_limits<float>::infinity();
    l.x[2][3] = std::nanf("");
    const Tensor z = linear_int8(l.x, l.w, l.scale, l.bias);
    CHECK(isnan(z[0]).all().item<bool>());
    CHECK(isnan(z[2]).all().item<bool>());
    CHECK(z[1].equal(y[1]));
  });
}

TEST_CASE("backward through int8 weights is refused, forward is not") {
  for_each_device([](Device d) {
    const Layer l = layer(2, 3, 4, d);
    l.x.requires_grad_();
    const Tensor y = linear_int8(l.x, l.w, l.scale);
    CHECK(y.requires_grad());
    CHECK_THROWS_AS(y.sum().backward(), NotImplementedError);
    CHECK_FALSE(l.x.grad().defined());
    const NoGradGuard no_grad;
    CHECK_FALSE(linear_int8(l.x, l.w, l.scale).requires_grad());
  });
  const Tensor m =
      linear_int8(empty({2, 4}, "meta"), empty({3, 4}, TensorOptions(kInt8).device("meta")),
                  empty({3}, "meta"));
  CHECK(m.sizes() == IntArrayRef{2, 3});
  CHECK(std::get<0>(quantize_rows(empty({2, 4}, "meta"))).dtype() == kInt8);
}

TEST_CASE("the composite of linear_int8 agrees with the kernels") {
  for_each_device([](Device d) {
    const NoGradGuard no_grad;
    for (const int64_t K : {0, 5, 2000}) {
      const Layer l = layer(4, 6, K, d);
      Tensor y = full({4, 6}, 99., d);
      kernels::linear_int8.composite()(y, l.x, l.w, l.scale, l.bias);
      check_near_exact(y, l);
    }
  });
}

namespace {

Tensor w8() { return ones({4, 3}, kInt8); }

std::vector<bad_input::BadCall> bad_calls() {
  using namespace bad_input;
  return {
      SHAPE(quantize_rows, ones({3})),
      SHAPE(quantize_rows, ones({1, 131073})),
      DTYPE(quantize_rows, i23()),
      DTYPE(quantize_rows, ones({2, 3}, kFloat64)),
      VALUE(quantize_rows, none()),
      SHAPE(linear_int8, ones({2, 2}), w8(), ones({4})),
      SHAPE(linear_int8, ones({}), w8(), ones({4})),
      SHAPE(linear_int8, m23(), w8(), ones({3})),
      SHAPE(linear_int8, m23(), w8(), ones({4}), ones({3})),
      SHAPE(linear_int8, m23(), ones({3}, kInt8), ones({4})),
      SHAPE(linear_int8, ones({1, 131073}), ones({1, 131073}, kInt8), ones({1})),
      DTYPE(linear_int8, m23(), ones({4, 3}), ones({4})),
      DTYPE(linear_int8, i23(), w8(), ones({4})),
      DTYPE(linear_int8, ones({2, 3}, kFloat64), w8(), ones({4})),
      DTYPE(linear_int8, m23(), w8(), ones({4}, kFloat64)),
      DTYPE(linear_int8, m23(), w8(), ones({4}), ones({4}, kFloat64)),
      DEVICE(linear_int8, there(), w8(), ones({4})),
      VALUE(linear_int8, none(), w8(), ones({4})),
      VALUE(linear_int8, m23(), none(), ones({4})),
      VALUE(linear_int8, m23(), w8(), none()),
  };
}
const CallTable<bad_input::BadCall> kBad(bad_calls);

std::vector<mismatch::Call> mixed_calls() {
  using namespace mismatch;
  return {
      CALL(linear_int8, strict, given(f({2, 3}), w8(), f({4}), f({4})), t[0], t[1], t[2], t[3])};
}
const CallTable<mismatch::Call> kMixed(mixed_calls);

std::vector<agreement::Call> agreeing_calls() {
  using namespace agreement;
  const auto product = [](const Operands& o) {
    const auto [q, scale] = MADE(quantize_rows(o.unit));
    return linear_int8(o.a, q, scale);
  };
  return {with_dims(RESULT(quantize_rows, std::get<0>(quantize_rows(o.a)),
                           std::get<1>(quantize_rows(o.a)))),
          with_dims(Call{"linear_int8",
                         [=](const Operands& o) { return std::vector<Tensor>{product(o)}; }})};
}
const CallTable<agreement::Call> kAgreeing(agreeing_calls);

}  // namespace
