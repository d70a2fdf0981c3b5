// The pooling kernels of every device compared with the reference's, for hundreds of geometries:
// vectors of windows, borders and remainders in all combinations.
#include <ambit/backend/kernels.h>
#include <ambit/ops/conv.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/pool.h>
#include <ambit/ops/random.h>
#include <ambit/ops/reduce.h>

#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "tests/devices.h"

using namespace ambit;

namespace {

struct Geometry {
  Dims x, y;
  PoolParams p;
};

Geometry random_geometry(std::mt19937& random) {
  const auto from = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  Geometry g;
  const auto dims = static_cast<size_t>(from(1, 3));
  g.x = {from(1, 2), from(1, 3)};
  g.y = g.x;
  g.p.adaptive = from(0, 4) == 0;
  g.p.ceil_mode = from(0, 1) == 1;
  g.p.count_include_pad = from(0, 1) == 1;
  g.p.divisor = from(0, 3) == 0 ? from(-3, 3) : 0;
  const PerAxis ones{1, 1, 1};
  g.p.kernel = g.p.stride = g.p.padding = g.p.dilation = PerAxis(ones.of(dims));
  for (size_t i = 0; i < dims; ++i) {
    g.p.kernel[i] = from(1, 4);
    g.p.stride[i] = from(1, 3);
    g.p.padding[i] = from(0, g.p.kernel[i] / 2);
    g.x.push_back(from(g.p.kernel[i], i + 1 == dims ? 45 : 6));
    g.y.push_back(from(1, 8));
  }
  return g;
}

// Whole numbers, whose sums are exact in any order; a few NaNs among them if requested.
Tensor whole_numbers(IntArrayRef sizes, DType dtype, bool with_nans) {
  const Tensor t = floor(rand(sizes, TensorOptions(dtype).device("reference")) * 9) - 4;
  return with_nans ? where(t == 3, full({}, NAN, t.options()), t) : t;
}

}  // namespace

TEST_CASE("every device's pooling kernels agree with the reference's, whatever the windows") {
  manual_seed(1);
  std::mt19937 random(1);
  const Device reference("reference");
  for (int i = 0; i < 150; ++i) {
    Geometry g = random_geometry(random);
    if (!g.p.adaptive) g.y = g.p.out_sizes("pool", g.x);
    PoolParams dilated = g.p;
    for (size_t d = 0; !g.p.adaptive && d + 2 < g.x.size(); ++d) {
      if (g.x[2 + d] > 2 * g.p.kernel[d]) dilated.dilation[d] = 2;
    }
    const Dims most = g.p.adaptive ? g.y : dilated.out_sizes("pool", g.x);
    const DType dtype = i % 2 == 0 ? kFloat32 : kFloat64;
    const Tensor x = whole_numbers(g.x, dtype, false), dy = whole_numbers(g.y, dtype, false);
    const Tensor odd = whole_numbers(g.x, dtype, true), slope = whole_numbers(most, dtype, false);
    const auto results = [&](Device d) {
      const TensorOptions here = TensorOptions(dtype).device(d);
      Tensor mean = empty(g.y, here), spread = empty(g.x, here), back = empty(g.x, here);
      Tensor top = empty(most, here), at = empty(most, here.dtype(kInt32));
      kernels::avg_pool(mean, x.to(d), g.p);
      kernels::avg_pool_grad(spread, dy.to(d), g.p);
      kernels::max_pool(top, at, odd.to(d), dilated);
      kernels::max_pool_grad(back, slope.to(d), at, dilated);
      return std::vector<Tensor>{mean, top, at, back, spread};
    };
    const std::vector<Tensor> expected = results(reference);
    for_each_device([&](Device d) {
      INFO("case ", i, ": ", str(g.x), " -> ", str(g.y), " by ", str(g.p.kernel), " each ",
           str(g.p.stride), " padded ", str(g.p.padding), " adaptive ", g.p.adaptive);
      const std::vector<Tensor> got = results(d);
      for (size_t k = 0; k < got.size(); ++k) {
        INFO("result ", k);
        // Sums are exact and divided once; only the gradient's terms are rounded and added: at most
        // 64 windows of at most 4, 64 * 4 roundings of half a unit.
        const double unit = dtype == kFloat32 ? 0x1p-24 : 0x1p-53;
        const double tolerance = k == 4 ? 256 * unit : unit;
        CHECK(got[k].to(reference).allclose(expected[k], tolerance, 4 * tolerance, true));
        if (k == 2 || k == 3) CHECK(got[k].to(reference).equal(expected[k]));
      }
    });
  }
}

// These have separate loops, with and without positions: of equal elements the first is selected,
// of NaNs the last.
TEST_CASE("maxima of adjacent 2x2 windows equal the reference's, for rows of any length") {
  manual_seed(1);
  const Device reference("reference");
  for (int64_t columns = 1; columns <= 40; ++columns) {
    INFO(columns, " columns");
    const Tensor odd = whole_numbers({2, 3, 6, 2 * columns}, kFloat32, true), x = odd.cpu();
    const PoolParams p{.kernel = {2, 2}, .stride = {2, 2}};
    const auto [top, at] = max_pool2d_with_indices(x, p);
    const auto [expected, expected_at] = max_pool2d_with_indices(odd, p);
    CHECK(top.allclose(expected.cpu(), 0, 0, true));
    CHECK(at.equal(expected_at.cpu()));
    CHECK(max_pool2d(x, p).allclose(top, 0, 0, true));
  }
}

TEST_CASE("average pooling accepts the layout of a convolution's result") {
  for_each_device([](Device d) {
    manual_seed(2);
    const Tensor x = randn({3, 8, 13, 11}).to(d), w = randn({19, 8, 3, 3}).to(d);
    const auto check = [&](const std::function<Tensor(const Tensor&)>& pool) {
      const Tensor y = conv2d(x, w).requires_grad_(), row_major = y.detach().clone();
      row_major.requires_grad_();
      const auto result = [&](const Tensor& in) { return pool(relu(in)); };
      const Tensor a = result(y), b = result(row_major);
      // Sums of up to 100 terms of magnitude 10, in float32: 100 * 10 * 2^-24.
      CHECK(a.allclose(b, 1e-5, 1e-4));
      (a * a).sum().backward();
      (b * b).sum().backward();
      CHECK(y.grad().allclose(row_major.grad(), 1e-4, 1e-3));
    };
    check([](const Tensor& t) { return avg_pool2d(t, 2); });
    check([](const Tensor& t) { return avg_pool2d(t, 3, 1, 1, false, false); });
    check([](const Tensor& t) { return avg_pool2d(t, {3, 2}, {2, 3}, 1, true, true, 5); });
    check([](const Tensor& t) { return adaptive_avg_pool2d(t, 1); });
    check([](const Tensor& t) { return adaptive_avg_pool2d(t, {3, 4}); });
    check([](const Tensor& t) { return std::get<0>(adaptive_max_pool2d(t, {3, 4})); });
    check([](const Tensor& t) { return max_pool2d(t, 3, 2, 1); });
  });
}
