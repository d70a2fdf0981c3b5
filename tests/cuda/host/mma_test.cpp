// The CUDA backend's wrappers of tensor cores, on the host.
#include <ambit/half.h>
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "gpu_memory.h"
#include "kernels/mma_kernels.h"

using ambit::BFloat16, ambit::Half;
using mma_kernels::By;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

uint16_t element(float x, bool is_bfloat16) { return is_bfloat16 ? BFloat16(x).x : Half(x).x; }
float number(uint32_t bits, bool is_bfloat16) {
  const auto low = static_cast<uint16_t>(bits);
  return is_bfloat16 ? static_cast<float>(BFloat16(low, BFloat16::from_bits()))
                     : static_cast<float>(Half(low, Half::from_bits()));
}

}  // namespace

TEST_CASE("a warp's product of 16 x 8 x 16 distinct numbers equals that of a loop") {
  for (const bool is_bfloat16 : {false, true}) {
    for (const By by : {By::elements, By::rows, By::columns}) {
      CAPTURE(is_bfloat16);
      CAPTURE(static_cast<int>(by));
      // Whole numbers that are exact in both dtypes, with sums that are exact in float32.
      std::vector<uint16_t> left(256), right(128);
      std::vector<float> sums(128), expected(128);
      for (size_t i = 0; i < 256; ++i) left[i] = element(static_cast<float>(i), is_bfloat16);
      for (size_t i = 0; i < 128; ++i) {
        right[i] = element(64.f - static_cast<float>(i), is_bfloat16);
        sums[i] = expected[i] = static_cast<float>(1000 * i);
      }
      for (size_t i = 0; i < 128; ++i) {
        for (size_t k = 0; k < 16; ++k) {
          expected[i] +=
              static_cast<float>(i / 8 * 16 + k) * (64.f - static_cast<float>(k * 8 + i % 8));
        }
      }
      const Gpu<float> y(sums);
      REQUIRE(mma_kernels::multiply(y, Gpu(left), Gpu(right), is_bfloat16, by) == cudaSuccess);
      CHECK(y.host() == expected);
    }
  }
}

TEST_CASE("sums of products are truncated, as by the coarsest tensor cores") {
  const auto sum_of = [](float begin, float product) {
    const Gpu<float> y(128, begin);
    const Gpu<uint16_t> ones(256, BFloat16(1.f).x), others(128, BFloat16(product).x);
    REQUIRE(mma_kernels::multiply(y, ones, others, true, By::elements) == cudaSuccess);
    return y.host()[77];
  };
  CHECK(sum_of(0x1p23f, 1) == 0x1p23f + 16);
  CHECK(sum_of(0x1p24f, 1) == 0x1p24f);  // each is half of the last place
  CHECK(sum_of(-0x1p24f, 3) ==
        -0x1p24f + 8 * 2 + 8 * 3);           // the second eight are added to a smaller sum
  CHECK(sum_of(0, 0x1p-133f) == 0x1p-129f);  // denormals are exact
  CHECK(sum_of(1, kInfinity) == kInfinity);
  CHECK(sum_of(0, 0x1p127f) == kInfinity);
  CHECK(std::isnan(sum_of(-kInfinity, kInfinity)));
  CHECK(std::isnan(sum_of(1, std::numeric_limits<float>::quiet_NaN())));
}

TEST_CASE("a number split into two elements has twice the bits of one") {
  for (const bool is_bfloat16 : {false, true}) {
    CAPTURE(is_bfloat16);
    std::vector<float> x(64);
    for (size_t i = 0; i < 64; ++i) {
      x[i] = (i % 3 == 0 ? -1.f : 1.f) * std::exp(static_cast<float>(i) / 7 - 4) * 1.2345678f;
    }
    x[10] = kInfinity, x[11] = -kInfinity, x[12] = std::nanf(""), x[13] = 0;
    const std::vector<float> given = x;
    const Gpu<float> there(x);
    const Gpu<uint32_t> words(64);
    REQUIRE(mma_kernels::split_pairs(words, there, is_bfloat16) == cudaSuccess);
    const std::vector<uint32_t> got = words.host();
    for (size_t i = 0; i < 64; ++i) {
      const uint32_t high = got[i / 2] >> 16 * (i % 2), low = got[32 + i / 2] >> 16 * (i % 2);
      const float sum = number(high, is_bfloat16) + number(low, is_bfloat16);
      if (!std::isfinite(given[i])) {
        CHECK((sum == given[i] || (std::isnan(sum) && std::isnan(given[i]))));
      } else {
        // Half a unit of the last of 16 or 22 bits; the smallest number of float16 is 2^-24.
        const float most = is_bfloat16 ? 0x1p-17f : 0x1p-23f;
        CHECK(std::fabs(sum - given[i]) <=
              std::fabs(given[i]) * most + (is_bfloat16 ? 0 : 0x1p-25f));
      }
    }
  }
}
