// Properties in which processors and their compilers differ, and which must not change results:
// docs/arm.md lists them all, and names the tests of those that are not tested here.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace ambit;

// 0.1 * 3 is rounded to 0.30000000000000004; with a fused multiply-add, which compilers for AArch64
// generate by default, the result is 2.8e-17. (In Python: 0.1 * 3 - 0.3, and with
// fractions.Fraction.)
TEST_CASE("a product and a sum outside of kernels are rounded separately") {
  const Tensor x = arange(-0.3, 0.05, 0.1, TensorOptions(kFloat64));
  REQUIRE(x.numel() == 4);
  CHECK(x[3].item<double>() == 5.551115123125783e-17);
}

// -10 times the normal distribution function at -10, by its continued fraction in 60 digits of
// decimal arithmetic. `reference` computes it in long double: rounding the argument of erfc to 64
// bits changes the result by a factor of 1 + 100 * 2^-64 at most, rounding it to double by 1 +
// 2^-53.
TEST_CASE("reference computes the tails of functions with more digits than double") {
  REQUIRE(std::numeric_limits<long double>::digits >= 64);
  const Tensor x = tensor({-10.}, kFloat64).to("reference");
  const double got = gelu(x).item<double>();
  CHECK(std::abs(got / -7.6198530241605261e-23 - 1) <= 0x1p-52);
}
