// Kernels of the CUDA backend compared with the reference: pooling.
#include <ambit/settings.h>

#include "gpu_kernels.h"

using namespace ambit;
using namespace gpu_kernels;

TEST_CASE("gpu: average pooling and its gradient") {
  if (!has_gpu()) return;
  manual_seed(3);
  for (const DType dtype : dtypes::kFloating) {
    for (const bool odd : {false, true}) {
      for (const bool include_pad : {false, true}) {
        PoolParams p{.kernel = {3, 2}, .stride = {odd ? 2 : 1, 2}, .padding = {1, odd}};
        p.ceil_mode = odd;
        p.count_include_pad = include_pad;
        const Tensor x = normal({2, 3, 9, 8}, dtype);
        const Dims out = p.out_sizes("avg_pool2d", x.sizes());
        const Tensor dy = normal(out, dtype);
        Tensor y = empty(out, x.options()), dx = empty_like(x);
        Tensor y_expected = y.to(kReference), dx_expected = dx.to(kReference);
        kernels::avg_pool(y, x, p);
        kernels::avg_pool(y_expected, x.to(kReference), p);
        check_close(y, y_expected, 2);  // both round once, from float64
        kernels::avg_pool_grad(dx, dy, p);
        kernels::avg_pool_grad(dx_expected, dy.to(kReference), p);
        check_close(dx, dx_expected, 8);  // sums over at most 6 windows, in another order
      }
    }
  }
}

TEST_CASE("gpu: pooling in one and three dims, and adaptive windows") {
  if (!has_gpu()) return;
  manual_seed(4);
  struct Case {
    Dims x;
    PoolParams p;
    Dims y = {};
  };
  const Case cases[] = {
      {{2, 3, 40}, {.kernel = {5}, .stride = {3}, .padding = {2}}},
      {{1, 2, 5, 6, 7}, {.kernel = {2, 3, 2}, .stride = {1, 2, 2}, .padding = {1, 0, 1}}},
      {{1, 2, 6, 5}, {.kernel = {2, 2}, .divisor = -3}},
      {{2, 3, 7}, {.adaptive = true}, {2, 3, 3}},
      {{2, 3, 5, 6}, {.adaptive = true}, {2, 3, 7, 4}},
      {{1, 2, 5, 4, 7}, {.adaptive = true}, {1, 2, 3, 3, 2}},
  };
  for (const Case& c : cases) {
    for (const DType dtype : dtypes::kFloating) {
      const Tensor x = normal(c.x, dtype);
      const Dims out = c.p.adaptive ? c.y : c.p.out_sizes("pool", c.x);
      const Tensor dy = normal(out, dtype);
      Tensor y = empty(out, x.options()), dx = empty_like(x);
      Tensor index = empty(out, TensorOptions(kInt32).device(gpu()));
      Tensor y_expected = y.to(kReference), dx_expected = dx.to(kReference);
      Tensor index_expected = index.to(kReference);
      kernels::avg_pool(y, x, c.p);
      kernels::avg_pool(y_expected, x.to(kReference), c.p);
      check_close(y, y_expected, 2);  // both round once, from float64
      kernels::avg_pool_grad(dx, dy, c.p);
      kernels::avg_pool_grad(dx_expected, dy.to(kReference), c.p);
      check_close(dx, dx_expected, 8);  // sums over at most 6 windows, in another order
      kernels::max_pool(y, index, x, c.p);
      kernels::max_pool(y_expected, index_expected, x.to(kReference), c.p);
      CHECK(y.cpu().equal(y_expected.cpu()));
      CHECK(index.cpu().equal(index_expected.cpu()));
      kernels::max_pool_grad(dx, dy, index, c.p);
      kernels::max_pool_grad(dx_expected, dy.to(kReference), index_expected, c.p);
      check_close(dx, dx_expected, 8);  // sums over at most 6 windows, in another order
    }
  }
}

// Overlapping windows, separate ones, and with a dilation so large that most of a window is
// padding.
const PoolParams kMaxPools[] = {
    {.kernel = {3, 2}, .stride = {2, 1}, .padding = {1, 1}},
    {.kernel = {2, 2}, .stride = {2, 2}},
    {.kernel = {3, 3}, .stride = {1, 2}, .dilation = {2, 3}},
    {.kernel = {2, 2}, .stride = {3, 4}, .padding = {1, 1}, .dilation = {8, 2}},
    {.kernel = {2, 3}, .stride = {1, 1}, .padding = {1, 1}, .dilation = {8, 7}},
};

TEST_CASE("gpu: maximum pooling and its gradient, also in deterministic mode") {
  if (!has_gpu()) return;
  manual_seed(5);
  for (const DType dtype : dtypes::kFloating) {
    for (const PoolParams& p : kMaxPools) {
      for (const bool deterministic : {false, true}) {
        CAPTURE(p.dilation[0]);
        CAPTURE(deterministic);
        const Tensor x = normal({2, 3, 8, 13}, dtype);
        const Dims out = p.out_sizes("max_pool2d", x.sizes());
        const Tensor dy = normal(out, dtype);
        Tensor y = empty(out, x.options()), dx = empty_like(x);
        Tensor index = empty(out, TensorOptions(kInt32).device(gpu())),
               index_expected = index.to(kReference);
        Tensor y_expected = y.to(kReference), dx_expected = dx.to(kReference);
        kernels::max_pool(y, index, x, p);
        kernels::max_pool(y_expected, index_expected, x.to(kReference), p);
        CHECK(y.cpu().equal(y_expected.cpu()));
        CHECK(index.cpu().equal(index_expected.cpu()));
        set_deterministic(deterministic);
        kernels::max_pool_grad(dx, dy, index, p);
        set_deterministic(false);
        kernels::max_pool_grad(dx_expected, dy.to(kReference), index_expected, p);
        // Each window's gradient is added with one rounding; the reference rounds once.
        check_close(dx, dx_expected, static_cast<double>(out[2] * out[3]));
      }
    }
  }
}

TEST_CASE("gpu: a position outside of the image is reported, in deterministic mode too") {
  if (!has_gpu()) return;
  PoolParams p{.kernel = {3, 3}, .stride = {1, 1}};
  for (const bool deterministic : {false, true}) {
    Tensor dx = empty({1, 1, 4, 4}, gpu());
    const Tensor dy = ones({1, 1, 2, 2}, gpu());
    const Tensor index = tensor({5, 16, -1, 5}, kInt32).view({1, 1, 2, 2}).to(gpu());
    set_deterministic(deterministic);
    kernels::max_pool_grad(dx, dy, index, p);
    set_deterministic(false);
    CHECK(reported().starts_with("max_pool_grad: expected an index in [0, 16), got "));
    CHECK(dx.view({16})[5].item<float>() == 2);
    CHECK(dx.sum().item<float>() == 2);
  }
}
