// 2-D pooling: values, positions, shapes and errors; gradcheck_nn_test tests gradients.
#include <ambit/error.h>
#include <ambit/ops/pool.h>

#include <limits>

#include "tests/devices.h"
#include "tests/expected.h"

using namespace ambit;

TEST_CASE("max_pool2d agrees with PyTorch, in values and positions") {
  for_each_device([](Device d) {
    // F.max_pool2d(wave(1, 1, 5, 6), (2, 3), (2, 2), (1, 1), return_indices=True)
    const Tensor x = wave(d, {1, 1, 5, 6});
    const PoolParams p{.kernel = {2, 3}, .stride = {2, 2}, .padding = {1, 1}};
    const auto [y, index] = max_pool2d_with_indices(x, p);
    check_values(y, {1, 1, 3, 3},
                 {0.644217687238, 0.985449729988, 0.863209366649, 0.854598908088, 0.319098362349,
                  0.988168233877, 0.669569762197, 0.990607355695, 0.992766405836});
    check_values(index, {1, 1, 3, 3}, {1, 2, 3, 12, 13, 11, 19, 20, 29});
    CHECK(index.dtype() == kInt64);
    CHECK(max_pool2d(x.squeeze(0), p).equal(y.squeeze(0)));
    // F.max_pool2d(wave(1, 1, 5, 5), 3, 2, 0, ceil_mode=True)
    check_values(
        max_pool2d(wave(d, {1, 1, 5, 5}), {.kernel = {3, 3}, .stride = {2, 2}, .ceil_mode = true}),
        {1, 1, 2, 2}, {0.988168233877, 0.985449729988, 0.990607355695, 0.854598908088});
    // F.max_pool2d(wave(1, 1, 6, 6), 2, 1, 0, dilation=3, return_indices=True)
    const PoolParams dilated{.kernel = {2, 2}, .stride = {1, 1}, .dilation = {3, 3}};
    check_values(std::get<1>(max_pool2d_with_indices(wave(d, {1, 1, 6, 6}), dilated)), {1, 1, 3, 3},
                 {3, 19, 20, 27, 28, 29, 12, 13, 14});
  });
}

TEST_CASE("pooling accepts libtorch's arguments, and one size for both dims") {
  const Tensor x = wave(kCPU, {1, 1, 9, 8});
  const Tensor by_two = max_pool2d(x, {.kernel = {2, 2}, .stride = {2, 2}});
  CHECK(max_pool2d(x, 2).equal(by_two));
  CHECK(max_pool2d(x, {2}).equal(by_two));
  CHECK(max_pool2d(x, {2, 2}).equal(by_two));
  CHECK(max_pool2d(x, 3, {2, 1}, 1, 2, true)
            .equal(max_pool2d(x, {.kernel = {3, 3},
                                  .stride = {2, 1},
                                  .padding = {1, 1},
                                  .dilation = {2, 2},
                                  .ceil_mode = true})));
  CHECK(max_pool2d(x, {3, 2}, 1).equal(max_pool2d(x, {.kernel = {3, 2}, .stride = {1, 1}})));
  CHECK(max_pool2d(x, {3, 2}).equal(max_pool2d(x, {.kernel = {3, 2}, .stride = {3, 2}})));
  CHECK(avg_pool2d(x, 3, 1, 1, false, false)
            .equal(avg_pool2d(x, {.kernel = {3, 3},
                                  .stride = {1, 1},
                                  .padding = {1, 1},
                                  .count_include_pad = false})));
  CHECK(adaptive_avg_pool2d(x, 2).equal(adaptive_avg_pool2d(x, {2, 2})));
  CHECK_THROWS_AS(adaptive_avg_pool2d(x, {1, 2, 3}), Error);
}

TEST_CASE("max_pool2d selects the first of equal elements and propagates NaN") {
  for_each_device([](Device d) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const Tensor x = tensor({{{{1., 3., 3.}, {3., nan, 2.}}}}, d);
    const auto [y, index] = max_pool2d_with_indices(x, {.kernel = {1, 3}, .stride = {1, 3}});
    check_values(y, {1, 1, 2, 1}, {3, nan});
    check_values(index, {1, 1, 2, 1}, {1, 4});
  });
}

TEST_CASE("avg_pool2d agrees with PyTorch, with every divisor") {
  for_each_device([](Device d) {
    // F.avg_pool2d(wave(1, 1, 5, 6), (2, 3), (2, 2), (1, 1)); the same, count_include_pad=False
    const Tensor x = wave(d, {1, 1, 5, 6});
    PoolParams p{.kernel = {2, 3}, .stride = {2, 2}, .padding = {1, 1}};
    check_values(avg_pool2d(x, p), {1, 1, 3, 3},
                 {0.10736961454, 0.415479463979, 0.141235714853, -0.1133885191, -0.420663646148,
                  -0.13584031138, -0.193333371605, 0.162647968161, 0.415324414069});
    p.count_include_pad = false;
    check_values(avg_pool2d(x, p), {1, 1, 3, 3},
                 {0.322108843619, 0.830958927958, 0.282471429705, -0.17008277865, -0.420663646148,
                  -0.13584031138, -0.290000057408, 0.162647968161, 0.415324414069});
    // F.avg_pool2d(wave(1, 1, 5, 5), 2, 2, 1, ceil_mode=True); the same, count_include_pad=False
    p = {.kernel = {2, 2}, .stride = {2, 2}, .padding = {1, 1}, .ceil_mode = true};
    check_values(avg_pool2d(wave(d, {1, 1, 5, 5}), p), {1, 1, 3, 3},
                 {0, 0.407416854307, 0.299549379201, 0.0765508427573, -0.00281531076816,
                  -0.165458376073, 0.0277278989308, -0.112112413375, -0.141611410337});
    p.count_include_pad = false;
    check_values(avg_pool2d(wave(d, {1, 1, 5, 5}), p), {1, 1, 3, 3},
                 {0, 0.814833708613, 0.599098758402, 0.153101685515, -0.00281531076816,
                  -0.165458376073, 0.0554557978616, -0.112112413375, -0.141611410337});
  });
}

TEST_CASE("adaptive_avg_pool2d has any output size") {
  for_each_device([](Device d) {
    // F.adaptive_avg_pool2d(wave(1, 1, 5, 7), (2, 3))
    const Tensor x = wave(d, {1, 1, 5, 7});
    check_values(adaptive_avg_pool2d(x, {2, 3}), {1, 1, 2, 3},
                 {-0.243621172351, 0.253547131745, 0.329810535498, 0.116980757419, -0.342533738184,
                  -0.233419719071});
    CHECK(adaptive_avg_pool2d(x, {-1, -1}).allclose(x));
    CHECK(adaptive_avg_pool2d(x, {1, 1}).allclose(x.mean({2, 3}, true)));
    CHECK(adaptive_avg_pool2d(x.squeeze(0), {1, 14}).sizes() == IntArrayRef{1, 1, 14});
  });
}

TEST_CASE("pooling of an empty batch is empty") {
  for_each_device([](Device d) {
    const Tensor x = zeros({0, 2, 4, 4}, d).requires_grad_();
    const PoolParams p{.kernel = {2, 2}, .stride = {2, 2}};
    CHECK(max_pool2d(x, p).sizes() == IntArrayRef{0, 2, 2, 2});
    avg_pool2d(x, p).sum().backward();
    CHECK(x.grad().sizes() == x.sizes());
  });
}

TEST_CASE("pooling refuses invalid arguments, and says why") {
  const Tensor x = ones({1, 1, 4, 4});
  CHECK_THROWS_WITH_AS(max_pool2d(x, {.kernel = {2, 2}, .padding = {2, 0}}),
                       "max_pool2d: expected padding of at most half the kernel (1), got 2",
                       ShapeError);
  CHECK_THROWS_WITH_AS(max_pool2d(x, {.kernel = {5, 2}}),
                       "max_pool2d: expected padded input height of at least 5 (kernel 5), got 4",
                       ShapeError);
  CHECK_THROWS_AS(max_pool2d(x, {.kernel = {2, 2}, .padding = {1, 1}, .dilation = {5, 1}}),
                  ShapeError);
  CHECK_THROWS_AS(max_pool2d(ones({1, 1, 0, 4}), {.kernel = {2, 2}, .padding = {1, 1}}),
                  ShapeError);
  CHECK_THROWS_AS(avg_pool2d(x, {.kernel = {2, 2}, .stride = {0, 1}}), ShapeError);
  CHECK_THROWS_AS(avg_pool2d(x, {.kernel = {2, 2}, .dilation = {2, 2}}), ShapeError);
  CHECK_THROWS_AS(avg_pool2d(x, {.kernel = {1L << 62, 2}}), ShapeError);
  CHECK_THROWS_AS(avg_pool2d(x.to(kInt32), 1), DTypeError);
  CHECK_THROWS_AS(max_pool2d(ones({4, 4}), 1), ShapeError);
  CHECK_THROWS_WITH_AS(max_pool2d(empty({1, 1, 65536, 32768}, TensorOptions(kMeta)), 2),
                       "max_pool2d: expected planes of less than 2^31 elements, got "
                       "[1, 1, 65536, 32768]",
                       ShapeError);
  CHECK_THROWS_AS(adaptive_avg_pool2d(x, {-2, 1}), ShapeError);
  CHECK_THROWS_AS(adaptive_avg_pool2d(ones({4}), {-1, 1}), ShapeError);
}

TEST_CASE("windows are adjacent if no stride is given, as in libtorch") {
  // torch.nn.functional.max_pool2d(torch.ones(1, 1, 4, 6), 2).shape
  CHECK(max_pool2d(ones({1, 1, 4, 6}), {.kernel = {2, 2}}).sizes() == IntArrayRef{1, 1, 2, 3});
  CHECK(avg_pool2d(ones({1, 1, 4, 6}), {.kernel = {2, 3}}).sizes() == IntArrayRef{1, 1, 2, 2});
}
