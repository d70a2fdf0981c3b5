// Statistics of numbers whose mean is large compared to their standard deviation: subtracting a
// mean rounded to float32, or sums of squares, would lose the differences.
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/norm.h>
#include <ambit/ops/random.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "tests/devices.h"

using namespace ambit;

namespace {

// Whole numbers up to 2^24 = 1.7e7 are exact in float32, so these inputs are equal in both dtypes.
const std::vector<double> kOffsets{0, 1e4, 1e7, -1e7};

/// Whole numbers with the standard deviation 58 about `offset`, float32 on the cpu.
Tensor spread_about(double offset, IntArrayRef sizes) {
  return randint(-100, 101, sizes, TensorOptions(kFloat32)) + offset;
}

/// Check that got equals expected (float64, cpu) within a relative error.
void check_close(const Tensor& got, const Tensor& expected, double tolerance) {
  REQUIRE(got.sizes() == expected.sizes());
  const Tensor error = abs(got.cpu().to(kFloat64) - expected) / (abs(expected) + 1);
  INFO("largest error ", error.max().item<double>());
  CHECK(error.max().item<double>() <= tolerance);
}

// Kernels may add 32 squares in float32 before they add to a double. The bound has 32 / 2 roundings
// of 2^-24 and those of the differences and the result; the measured error is 2e-7.
constexpr double kTolerance = 0x1p-19;

struct Moments {
  Tensor mean, var;  // biased
};
Moments moments_of(const Tensor& x, IntArrayRef dims) {
  const Tensor wide = x.to(kFloat64), mean = wide.mean(dims, true);
  return {mean, square(wide - mean).mean(dims, true)};
}

}  // namespace

TEST_CASE("var and std are accurate for numbers far from 0") {
  for_each_device([](Device device) {
    for (const double offset : kOffsets) {
      INFO("offset ", offset);
      const Tensor host = spread_about(offset, {37, 5, 101}), x = host.to(device);
      const double n = static_cast<double>(host.numel());
      const Tensor all = moments_of(host, {0, 1, 2}).var.reshape({});
      check_close(var(x), all * (n / (n - 1)), kTolerance);
      check_close(ambit::std(x, false), sqrt(all), kTolerance);
      const Moments of_dims = moments_of(host, {0, 2});
      check_close(var(x, {0, 2}, false, true), of_dims.var, kTolerance);
      check_close(var(x, {2}, false, true), moments_of(host, {2}).var, kTolerance);
    }
  });
}

TEST_CASE("equal numbers have no variance, and never a negative one") {
  for_each_device([](Device device) {
    for (const double value : {0.1, 1e7 + 3, 16777213.0, 1e30}) {
      const Tensor x = full({3, 1001}, value, TensorOptions(device));
      const Tensor s = ambit::std(x, {1}, false).cpu();
      INFO("of ", value, ": ", str(s));
      // Kernels correct for the error of the mean, an ulp, except for the rounding of its square.
      CHECK((s <= value * 0x1p-23 * 0x1p-11).all().item<bool>());
      CHECK(!isnan(s).any().item<bool>());
    }
  });
}

TEST_CASE("batch_norm is accurate for numbers far from 0") {
  for_each_device([](Device device) {
    for (const double offset : kOffsets) {
      for (const Dims& sizes : {Dims{16, 5, 9, 7}, Dims{300, 19}, Dims{4, 3, 2}}) {
        INFO("offset ", offset, " sizes ", str(sizes));
        const int64_t C = sizes[1];
        const Tensor host = spread_about(offset, sizes), x = host.to(device);
        Dims dims{0}, along{1, C};
        for (size_t d = 2; d < sizes.size(); ++d) {
          dims.push_back(static_cast<int64_t>(d));
          along.push_back(1);
        }
        const Moments m = moments_of(host, dims);
        const Tensor w = randn({C}), b = randn({C});
        const Tensor mean = zeros({C}, device), variance = zeros({C}, device);
        BatchNormParams p;
        p.training = true;
        p.momentum = 1;
        const Tensor y = batch_norm(x, w.to(device), b.to(device), mean, variance, p);
        const double n = static_cast<double>(host.numel() / C);
        check_close(mean, m.mean.reshape({C}), kTolerance);
        check_close(variance, m.var.reshape({C}) * (n / (n - 1)), kTolerance);
        const Tensor u = (host.to(kFloat64) - m.mean) * rsqrt(m.var + p.eps);
        check_close(y, u * w.view(along) + b.view(along), kTolerance);
      }
    }
  });
}

TEST_CASE("layer_norm is accurate for numbers far from 0") {
  for_each_device([](Device device) {
    for (const double offset : kOffsets) {
      for (const int64_t N : {3, 64, 1031}) {
        INFO("offset ", offset, " length ", N);
        // An arithmetic series in each row, so that no row has only equal numbers.
        const Tensor host = spread_about(offset, {11, 1}) + arange(N, TensorOptions(kFloat32)),
                     x = host.to(device);
        const Tensor w = randn({N}), b = randn({N});
        const Moments m = moments_of(host, {1});
        const Tensor u = (host.to(kFloat64) - m.mean) * rsqrt(m.var + 1e-5);
        check_close(layer_norm(x, {N}), u, kTolerance);
        check_close(layer_norm(x, {N}, w.to(device), b.to(device)), u * w + b, kTolerance);
      }
    }
  });
}
