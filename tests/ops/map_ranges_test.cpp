// Results of maps stay in the range of their function, keep the sign of zero, and are accurate in
// its tails. Exact values are from mpmath 1.3 with 40 digits, for the given float32 or float64: the
// lines of Python are quoted, after `from mpmath import *`.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/devices.h"

using namespace ambit;

namespace {

/// The devices that use our own formulas. On other devices the vendor's library determines the
/// errors.
constexpr const char* kOwn[] = {"cpu", "reference"};

// Check that each value, of float32 or float64, is within `units` half units in the last place, or
// within two times the smallest positive number.
void check_digits(const Tensor& got, const std::vector<double>& exact, double units) {
  const double eps = finfo(got.dtype()).eps;
  const double least = got.dtype() == kFloat64 ? 5e-324 : 1.5e-45;
  const Tensor host = got.cpu().to(kFloat64).contiguous();
  REQUIRE(host.numel() == static_cast<int64_t>(exact.size()));
  for (size_t i = 0; i < exact.size(); ++i) {
    const double value = host.data_ptr<double>()[i], bound = units * eps / 2 * std::abs(exact[i]);
    INFO("element ", i, ": ", value, " exact ", exact[i]);
    CHECK(std::abs(value - exact[i]) <= std::max(bound, 2 * least));
  }
}

/// Return the gradient of sum(f(x)).
template <class F>
Tensor slope(const Tensor& x, const F& f) {
  const Tensor leaf = x.detach().clone().requires_grad_();
  f(leaf).sum().backward();
  return leaf.grad();
}

}  // namespace

TEST_CASE("sine and cosine are in [-1, 1], so that acos and asin of them are not NaN") {
  for_each_device([](Device d) {
    for (const DType dtype : {kFloat32, kFloat64}) {
      // Around the first input for which cos was 1.00000012, and around extremes of both.
      const Tensor steps = arange(20000, TensorOptions(dtype)) * 0x1p-26;
      for (const double at : {1e-6, 0.000201523304, 3939.557, 6353.871, M_PI / 2, 1e4 * M_PI}) {
        INFO(name(dtype), " ", at);
        const Tensor x = (steps + at).to(d);
        for (const Tensor& y : {sin(x), cos(x), sin(-x), cos(-x)}) {
          CHECK(y.abs().max().item<double>() <= 1);
          CHECK_FALSE(isnan(acos(y)).any().item<bool>());
          CHECK_FALSE(isnan(asin(y)).any().item<bool>());
        }
      }
      CHECK(cos(zeros({1}, TensorOptions(dtype).device(d))).item<double>() == 1);
    }
  });
}

TEST_CASE("odd functions keep the sign of zero") {
  for_each_device([](Device d) {
    for (const DType dtype : {kFloat32, kFloat64, kFloat16, kBFloat16}) {
      const Tensor x = tensor({-0., 0.}, TensorOptions(kFloat64)).to(dtype).to(d);
      for (Tensor y : {sin(x), tan(x), asin(x), atan(x), sinh(x), asinh(x), atanh(x), tanh(x),
                       erf(x), expm1(x), log1p(x)}) {
        y = y.cpu().to(kFloat64);
        CHECK(y.abs().max().item<double>() == 0);
        CHECK(std::signbit(y[0].item<double>()));
        CHECK_FALSE(std::signbit(y[1].item<double>()));
      }
      for (Tensor y : {gelu(x), gelu(x, "tanh"), silu(x), mish(x)}) {
        y = y.cpu().to(kFloat64);
        CHECK(std::signbit(y[0].item<double>()));
        CHECK_FALSE(std::signbit(y[1].item<double>()));
      }
    }
  });
}

// The bounds are in half units in the last place. They are the largest errors measured at every
// 610th float32 and at 10^6 float64, with AVX-512, with AVX2 and without vectors, plus a fifth: 5.3
// ulp for gelu, 2.9 for gelu_tanh, 2.8 for silu, 3.9 for mish, 2.1 for logit in float32; 11.3 for
// gelu in float64.

TEST_CASE("gelu and its gradient are accurate in the lower tail") {
  for (const char* device : kOwn) {
    INFO(device);
    const auto f32 = TensorOptions(kFloat32).device(Device(device));
    const auto f64 = TensorOptions(kFloat64).device(Device(device));
    const auto map = [](const Tensor& t) { return gelu(t); };
    const Tensor x = tensor({-5.5, -6., -8.25, -12.5, -13.5, 3.}, f32);
    // [x * erfc(-x / sqrt(2)) / 2 for x in ...]
    check_digits(gelu(x),
                 {-1.0444259356238246e-7, -5.9195258702261888e-9, -6.5337742095800438e-16,
                  -4.6657053735971417e-35, -1.0555389862638153e-40, 2.9959503059051097},
                 13);
    // [erfc(-x / sqrt(2)) / 2 + x * npdf(x) for x in ...]
    check_digits(slope(x, map),
                 {-5.7334723987399248e-7, -3.5468709453902015e-8, -5.3881911380277952e-15,
                  -5.8316685544801554e-34, -1.4248940914798838e-39, 1.0119456472041839},
                 13);
    const Tensor wide = tensor({-10., -20., -37., 0.0625, 2.}, f64);
    check_digits(gelu(wide),
                 {-7.6198530241605261e-23, -5.5072482372124674e-88, -2.1184613523340934e-298,
                  0.032807354314327951, 1.9544997361036416},
                 30);
    check_digits(slope(wide, map),
                 {-7.6184000964648141e-22, -1.1014360483133464e-86, -7.8382986694185162e-297,
                  0.54980291007217763, 1.0852318010781969},
                 30);
    CHECK(gelu(tensor({-1e30}, f32)).item<float>() == 0);
    CHECK(gelu(tensor({1e30}, f32)).item<float>() == 1e30f);
    CHECK(std::isnan(gelu(tensor({NAN}, f32)).item<float>()));
    CHECK(std::isnan(slope(tensor({NAN}, f32), map).item<float>()));
    // float16 and bfloat16 results are float32's, rounded once.
    for (const DType dtype : {kFloat16, kBFloat16}) {
      const Tensor narrow = tensor({-5.5, -4.5}, f32).to(dtype);
      CHECK(gelu(narrow).equal(
          tensor({-1.0444259356238246e-7, -1.5289529061285272e-5}, f32).to(dtype)));
      CHECK(slope(narrow, map)
                .equal(tensor({-5.7334723987399248e-7, -6.8529161856344575e-5}, f32).to(dtype)));
    }
  }
}

TEST_CASE("gelu_tanh, silu, mish and logit are accurate where results are small") {
  for (const char* device : kOwn) {
    INFO(device);
    const auto f32 = TensorOptions(kFloat32).device(Device(device));
    const auto f64 = TensorOptions(kFloat64).device(Device(device));
    const auto map = [](const Tensor& t) { return gelu(t, "tanh"); };
    // f = lambda x: x / (1 + exp(-2 * sqrt(2 / pi) * (x + mpf('0.044715') * x**3))); diff(f, x)
    const Tensor x = tensor({-5.5, -8.875, -10., 3.}, f32);
    check_digits(
        map(x),
        {-5.927640263880262e-9, -1.3639200253555384e-27, -1.204092348209806e-37, 2.996362607918227},
        7);
    check_digits(map(tensor({-10., -21.}, f64)), {-1.204092348209806e-37, -6.0166484876314847e-301},
                 7);
    check_digits(slope(x, map),
                 {-4.6765528108074153e-8, -2.5019766903423639e-26, -2.7576380638540316e-36,
                  1.0115841666309697},
                 13);
    // x / (1 + exp(-x)) and x * tanh(log1p(exp(x))): equal this far in the tail
    const Tensor far = tensor({-104., -103.5, -88.5}, f32);
    const std::vector<double> tails{-7.0860990944071105e-44, -1.162683402293389e-43,
                                    -3.2499869884948122e-37};
    check_digits(silu(far), tails, 7);
    check_digits(mish(far), tails, 10);
    // log(x / (1 - x)) of 0.5 + 2**-24, 0.5 - 2**-25, 0.5 + 2**-20, 0.5078125
    const Tensor p = tensor({0.5 + 0x1p-24, 0.5 - 0x1p-25, 0.5 + 0x1p-20, 0.5078125}, f32);
    check_digits(logit(p),
                 {2.3841857910156363e-7, -1.1920928955078139e-7, 3.8146972656296259e-6,
                  0.031252543504104423},
                 5);
  }
}
