// 2-D convolution and its gradients: values, shapes and errors; gradients are in gradcheck_nn_test.
#include <ambit/error.h>
#include <ambit/ops/conv.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/index.h>
#include <ambit/ops/random.h>
#include <ambit/ops/reduce.h>

#include <cmath>
#include <limits>

#include "tests/devices.h"
#include "tests/expected.h"

using namespace ambit;

TEST_CASE("conv2d accepts libtorch's arguments") {
  const Tensor x = wave(kCPU, {2, 4, 7, 6}), w = wave(kCPU, {6, 2, 3, 2}), b = wave(kCPU, {6});
  const ConvParams p{.stride = {2, 2}, .padding = {1, 0}, .dilation = {1, 1}, .groups = 2};
  CHECK(conv2d(x, w, b, 2, {1, 0}, 1, 2).equal(conv2d(x, w, b, p)));
  CHECK(conv2d(x, w, b, {2, 2}, {1, 0}, {1}, 2).equal(conv2d(x, w, b, p)));
  CHECK(conv2d(x, w, {}, {.stride = {3}, .groups = 2})
            .equal(conv2d(x, w, {}, {.stride = {3, 3}, .groups = 2})));
}

TEST_CASE("conv2d agrees with PyTorch") {
  for_each_device([](Device d) {
    // F.conv2d(wave(1, 2, 4, 5), wave(2, 2, 3, 2, k=0.3), wave(2))
    const Tensor x = wave(d, {1, 2, 4, 5}), w = wave(d, {2, 2, 3, 2}, 0.3), b = wave(d, {2});
    const std::vector<double> plain{
        1.75766544639,   1.60449164552,  0.696700352899,   -0.538760001938,
        -1.787634642,    -1.2136836698,  -0.0689183033628, 1.10826041802,
        -0.752570969155, -1.16534966701, -0.727060562891,  0.356162129076,
        2.35586508105,   2.33185379652,  1.51412087976,    0.287258898937};
    check_values(conv2d(x, w, b), {1, 2, 2, 4}, plain);
    check_values(conv2d(x.squeeze(0), w, b), {2, 2, 4}, plain);
    // Operands with other strides give the same values.
    const Tensor last = x.permute({0, 2, 3, 1}).contiguous().permute({0, 3, 1, 2});
    check_values(conv2d(last, w.transpose(2, 3).contiguous().transpose(2, 3), b), {1, 2, 2, 4},
                 plain);

    // F.conv2d(wave(1, 4, 5, 5), wave(2, 2, 2, 3, k=0.3), None, stride=(2, 1), padding=(1, 2),
    //          dilation=(2, 1), groups=2)
    check_values(
        conv2d(wave(d, {1, 4, 5, 5}), wave(d, {2, 2, 2, 3}, 0.3), {},
               {.stride = {2, 1}, .padding = {1, 2}, .dilation = {2, 1}, .groups = 2}),
        {1, 2, 3, 7},
        {-0.481883335465, -1.12354861162,  -1.60632082738,   -2.02030887861,  -1.48411409604,
         -0.998542206698, -0.402156322648, -0.553163362609,  -1.37295768909,  -2.03670380272,
         -2.7758698412,   -2.20950091921,  -1.55037075282,   -0.668795387982, -0.313726704345,
         -0.857922149468, -1.34065764723,  -1.9985522211,    -1.71649645714,  -1.24320622881,
         -0.562606427356, -0.96639725829,  -1.71405604867,   -1.97033095724,  -1.18552537813,
         0.156851310658,  0.467537855009,  0.446423818632,   -1.30774472665,  -2.35811040978,
         -2.75576060841,  -1.82407040581,  -0.0344913894769, 0.433033991832,  0.500833282172,
         -0.917109387324, -1.68766421392,  -2.01319930103,   -1.46093574986,  -0.221571287784,
         0.15031159581,   0.275136595862});
  });
}

TEST_CASE("the gradients of conv2d agree with PyTorch") {
  for_each_device([](Device d) {
    // x = wave(1, 2, 5, 4); w = wave(2, 2, 3, 2, k=0.3)
    // F.conv2d(x, w, None, stride=2, padding=1).backward(wave(1, 2, 3, 3, k=1.1)); x.grad; w.grad
    const Tensor x = wave(d, {1, 2, 5, 4}), w = wave(d, {2, 2, 3, 2}, 0.3);
    const Tensor g = wave(d, {1, 2, 3, 3}, 1.1);
    const ConvParams p{.stride = {2, 2}, .padding = {1, 1}};
    check_values(
        convolution_input_grad(g, w, x.sizes(), p), x.sizes(),
        {0.447255116078,    1.37478076477,   1.67562725147,   0.848413245399,   -0.0302317191488,
         1.39012817917,     0.8548944837,    1.06733707025,   -0.702336139598,  -1.39736148565,
         -1.71001482608,    -0.662568650423, -0.123892252786, -1.45003454712,   -0.918179453894,
         -0.893611824482,   0.93983034298,   1.38495163188,   1.70158284253,    0.460133031539,
         -0.00769296298596, 0.881390519715,  0.364070358988,  0.671748022705,   -0.726870840032,
         -1.87502887912,    -2.08385110118,  -0.947316641343, -0.0574622707146, -0.918491543455,
         -0.390104094761,   -0.56126247898,  1.02825788893,   1.86868881656,    2.0964102947,
         0.679629428123,    0.121178622713,  0.932593116273,  0.406369444482,   0.436722664499});
    check_values(
        convolution_weight_grad(g, x, w.sizes(), p), w.sizes(),
        {0.827739673758,  0.680650249482,  0.339659940264,  0.0808006987868,  -0.789923829026,
         -0.562821741763, -0.337658416039, -0.368585347438, 0.467456429577,   0.370215709203,
         0.440370224909,  0.448446650632,  -0.815643390302, -0.9222681965,    -0.229477108728,
         -0.045839067694, 0.840762503217,  0.862652182934,  -0.0099310431232, 0.0827229110164,
         -0.389221497372, -0.518593826733, -0.109653103042, -0.183404976781});
  });
}

TEST_CASE("convolutions large enough for several threads agree with the reference") {
  manual_seed(1);
  const struct {
    int64_t images, channels, filters;
    ConvParams params;
  } cases[] = {
      {1, 16, 32, {}},                                                    // rows of one image
      {3, 16, 24, {.stride = {2, 1}, .padding = {3, 1}}},                 // rows of several images
      {2, 32, 32, {.padding = {2, 4}, .dilation = {2, 3}, .groups = 2}},  // wide windows
      {2, 32, 64, {.padding = {2, 4}, .dilation = {2, 3}, .groups = 2}},  // more filters
      {2, 16, 32, {.padding = {1, 3}}},  // columns whose windows contain only padding
      {2, 16, 32, {.stride = {5, 5}, .padding = {2, 2}}},     // rows that no window contains
      {9, 32, 64, {.stride = {43, 2}}},                       // a single row
      {4, 32, 48, {.stride = {100, 90}, .padding = {1, 0}}},  // a single element
      {11, 16, 16, {.padding = {1, 1}}},  // images, some of them in the last part
  };
  for (const auto& c : cases) {
    INFO(c.images, " images, stride ", c.params.stride[0], ", dilation ", c.params.dilation[0]);
    const Tensor x = randn({c.images, c.channels, 45, 38}, kFloat32),
                 w = randn({c.filters, c.channels / c.params.groups, 3, 3}), b = randn({c.filters});
    const Tensor y = conv2d(x, w, b, c.params), dy = randn(y.sizes());
    const Device reference("reference");
    const Tensor rx = x.to(reference), rw = w.to(reference), rdy = dy.to(reference);
    // Sums of at most 11 * 45 * 38 products of normally distributed numbers, each rounded to 2^-24
    // of the sum.
    const auto close = [](const Tensor& got, const Tensor& expected, double size) {
      CHECK(got.cpu().allclose(expected.cpu(), 1e-4, size * 1e-6));
    };
    close(y, conv2d(rx, rw, b.to(reference), c.params), 300);
    close(convolution_input_grad(dy, w, x.sizes(), c.params),
          convolution_input_grad(rdy, rw, x.sizes(), c.params), 300);
    close(convolution_weight_grad(dy, x, w.sizes(), c.params),
          convolution_weight_grad(rdy, rx, w.sizes(), c.params), 1000);
  }
}

TEST_CASE("convolutions of many channels agree with the reference") {
  manual_seed(1);
  const struct {
    Dims x;
    int64_t filters;
    Dims window, padding;
    int64_t stride = 1;
  } cases[] = {
      {{5, 32, 9, 10}, 48, {3, 3}, {1, 1}},   // tiles that extend beyond the image
      {{2, 48, 14, 15}, 32, {3, 3}, {0, 0}},  //
      {{3, 64, 7, 12}, 96, {3, 3}, {2, 1}},   // a gradient of x without padding
      {{40, 32, 4, 4}, 32, {3, 3}, {1, 1}},   // one tile per image
      {{7, 32, 31, 33}, 64, {3, 3}, {1, 1}},  // more tiles than are multiplied at once
      {{5, 32, 10, 11}, 48, {5, 5}, {2, 2}},  // more tiles than are multiplied at once, 5 x 5
      {{6, 48, 16, 15}, 32, {5, 5}, {0, 0}},  //
      {{4, 64, 7, 12}, 96, {5, 5}, {4, 2}},   //
      {{40, 32, 4, 4}, 32, {5, 5}, {2, 2}},   //
      {{7, 32, 31, 33}, 64, {5, 5}, {2, 2}},  //
      {{3, 32, 90}, 48, {5}, {2}},            // 1-D
      {{2, 48, 131}, 32, {5}, {0}},           //
      {{5, 64, 33}, 32, {5}, {4}},            //
      {{3, 32, 6, 20}, 48, {1, 5}, {0, 2}},   // 1-D windows in images
      {{2, 16, 6, 9, 10}, 48, {3, 3, 3}, {1, 1, 1}},  // 3-D
      {{1, 16, 26, 8, 7}, 32, {2, 3, 3}, {0, 1, 1}},  // many planes
      {{1, 32, 30, 8, 7}, 32, {2, 3, 3}, {0, 1, 1}},  // more planes than a tile has
      {{2, 32, 3, 11, 8}, 16, {3, 3, 3}, {0, 2, 1}},  // one plane in the last tile
      {{2, 32, 4, 8, 9}, 32, {3, 5, 5}, {2, 2, 2}},   //
      {{3, 32, 5, 6, 8}, 32, {1, 3, 3}, {0, 1, 1}},   // windows of single planes
      {{6, 16, 64, 64}, 32, {4, 4}, {1, 1}, 2},       // stride 2, four images at once
      {{4, 16, 39, 44}, 32, {4, 4}, {0, 3}, 2},       // stride 2, some images begin in the padding
      {{4, 16, 37, 40}, 32, {5, 5}, {2, 2}, 2},       // stride 2, some images are smaller
      {{3, 32, 41, 38}, 32, {4, 5}, {3, 1}, 2},       //
      {{3, 16, 33, 42}, 32, {6, 6}, {0, 2}, 2},       //
  };
  const Device reference("reference");
  for (const auto& c : cases) {
    INFO("x ", str(c.x), ", ", c.filters, " filters, window ", str(c.window), ", stride ",
         c.stride);
    const ConvParams p{.stride = {c.stride}, .padding = c.padding};
    Dims sizes{c.filters, c.x[1]};
    for (const int64_t side : c.window) sizes.push_back(side);
    const Tensor x = randn(c.x), w = randn(sizes), b = randn({c.filters});
    const auto convolve = [&](const Tensor& in, const Tensor& weight, const Tensor& bias) {
      return convolution(in, weight, bias, c.stride, c.padding, 1, false, 0, 1);
    };
    const Tensor y = convolve(x, w, b), dy = randn(y.sizes());
    const Tensor rx = x.to(reference), rw = w.to(reference), rdy = dy.to(reference);
    // Sums of n products of normally distributed numbers are about sqrt(n). The bounds are relative
    // to that. In float32 the largest measured error of direct sums, in any order, was 1e-5;
    // Winograd's tiles have twice this error for 3x3, five times for 5x5, and sqrt(5) times for
    // lines of 5.
    const bool is_5x5 = c.window.size() > 1 && c.window.end()[-2] == 5 && c.stride == 1;
    const double largest = is_5x5 ? 7.5e-5 : 3e-5;
    const auto close = [&](const Tensor& got, const Tensor& expected, int64_t terms) {
      CHECK(got.allclose(expected.cpu(), 0, std::sqrt(static_cast<double>(terms)) * largest));
    };
    const int64_t taps = w.numel() / c.filters / c.x[1];
    close(y, convolve(rx, rw, b.to(reference)), c.x[1] * taps);
    close(convolution_input_grad(dy, w, x.sizes(), p),
          convolution_input_grad(rdy, rw, x.sizes(), p), c.filters * taps);
    close(convolution_weight_grad(dy, x, w.sizes(), p),
          convolution_weight_grad(rdy, rx, w.sizes(), p), y.numel() / c.filters);
  }
}

TEST_CASE("16 filters of few channels agree with the reference") {
  manual_seed(1);
  const Device reference("reference");
  const auto check = [&](int64_t width, int64_t window, const ConvParams& params) {
    INFO("width ", width, ", window ", window, ", stride ", params.stride[0]);
    const Tensor x = randn({8, 6, 33, width}), w = randn({16, 6, window, window}), b = randn({16});
    const Tensor rx = x.to(reference), rw = w.to(reference);
    const Tensor y = conv2d(x, w, b, params);  // channels last, as the next line requires
    const Tensor dw = convolution_weight_grad(y, x, w.sizes(), params);
    const Tensor ry = conv2d(rx, rw, b.to(reference), params);
    // Results are sums of 150 products of normally distributed numbers, gradients are sums of at
    // most 8 * 33 * 30 products of such results with normally distributed numbers; each addition is
    // rounded to 2^-24 of the sum.
    CHECK(y.allclose(ry.cpu(), 1e-5, 150 * 1e-6));
    const Tensor rdw = convolution_weight_grad(ry, rx, w.sizes(), params).cpu();
    CHECK(dw.allclose(rdw, 1e-4, 8 * 33 * 30 * 1e-6));
    // Sums of at most 16 * 25 products of such results, which are about 12, with normally
    // distributed numbers. NaN affects only its own windows.
    y.index_put_({5, 9, 2, -1}, std::numeric_limits<float>::quiet_NaN());
    const Tensor odd = conv2d(y, eye(16).view({16, 16, 1, 1}));  // channels last again
    const Tensor dx = convolution_input_grad(odd, w, x.sizes(), params);
    const Tensor rdx = convolution_input_grad(odd.to(reference), rw, x.sizes(), params).cpu();
    CHECK(dx.isnan().equal(rdx.isnan()));
    CHECK(dx.allclose(rdx, 1e-4, 16 * 25 * 12 * 1e-6, true));
  };
  for (int64_t width = 6; width <= 30; ++width) check(width, 5, {});
  check(14, 3, {.padding = {1, 1}});
  check(28, 5, {.padding = {2, 2}});
  check(28, 5, {.stride = {2, 1}, .padding = {4, 2}, .dilation = {3, 1}});
}

TEST_CASE(
    "few filters of few channels agree with the reference, with or without a split along images") {
  manual_seed(1);
  const Device reference("reference");
  const auto check = [&](DType dtype, int64_t images, int64_t filters, int64_t width,
                         const ConvParams& params) {
    INFO(name(dtype), ", ", images, " images, ", filters, " filters, width ", width);
    const Tensor x = randn({images, 3, 31, width}, dtype), w = randn({filters, 3, 5, 5}, dtype),
                 b = randn({filters}, dtype);
    const Tensor y = conv2d(x, w, b, params), dy = randn(y.sizes(), dtype);
    const Tensor rx = x.to(reference), rw = w.to(reference);
    // Results are sums of 75 products of normally distributed numbers, gradients of at most
    // 41 * 31 * 34. Each addition is rounded to 2^-24 of the sum; a gradient is about the square
    // root of its number of terms.
    CHECK(y.allclose(conv2d(rx, rw, b.to(reference), params).cpu(), 1e-5, 75 * 1e-6));
    const Tensor dw = convolution_weight_grad(dy, x, w.sizes(), params);
    const Tensor rdw = convolution_weight_grad(dy.to(reference), rx, w.sizes(), params).cpu();
    CHECK(dw.allclose(rdw, 1e-4, 41 * 31 * 34 * 1e-7));
  };
  // Rows of y of one and two vectors, complete and incomplete; twice as many for float64.
  for (const int64_t width : {16, 17, 20, 31, 32, 34, 35}) check(kFloat32, 3, 6, width, {});
  check(kFloat64, 3, 7, 16, {});
  check(kFloat64, 3, 7, 20, {});
  check(kFloat32, 41, 6, 32, {});  // the images are split into unequal parts
  check(kFloat32, 41, 7, 32, {.padding = {2, 2}});
}

TEST_CASE("a weight's gradient contains the elements of its tap, and none outside") {
  const int64_t filters = 6;
  Tensor x = ones({2, 3, 9, 32});
  x.index_put_({indexing::Ellipsis, -1}, std::numeric_limits<float>::infinity());
  const Tensor dw = convolution_weight_grad(ones({2, filters, 5, 28}), x, {filters, 3, 5, 5}, {});
  CHECK(dw.index({indexing::Ellipsis, indexing::Slice(0, 4)}).eq(2 * 5 * 28).all().item<bool>());
  CHECK(dw.index({indexing::Ellipsis, 4}).isinf().all().item<bool>());
}

TEST_CASE("a stride beyond the input needs no memory and no time") {
  for_each_device([](Device d) {
    for (const int64_t stride : {int64_t{6000}, int64_t{1} << 30, (int64_t{1} << 31) - 1}) {
      const Tensor x = ones({1, 1, 5, 5}, d), w = ones({1, 1, 3, 3}, d);
      const ConvParams p{.stride = {stride, stride}};
      check_values(conv2d(x, w, {}, p), {1, 1, 1, 1}, {9});
      check_values(convolution_weight_grad(ones({1, 1, 1, 1}, d), x, w.sizes(), p), {1, 1, 3, 3},
                   std::vector<double>(9, 1));
      CHECK(convolution_input_grad(ones({1, 1, 1, 1}, d), w, x.sizes(), p).sum().item<float>() ==
            9);
    }
  });
}

TEST_CASE("conv2d of an empty batch is empty, and its gradients are zero") {
  for_each_device([](Device d) {
    const Tensor x = zeros({0, 2, 5, 5}, d).requires_grad_();
    const Tensor w = ones({3, 2, 3, 3}, d).requires_grad_(), b = ones({3}, d).requires_grad_();
    const Tensor y = conv2d(x, w, b);
    CHECK(y.sizes() == IntArrayRef{0, 3, 3, 3});
    y.backward(ones_like(y));
    CHECK(x.grad().sizes() == x.sizes());
    CHECK(w.grad().equal(zeros_like(w)));
    CHECK(b.grad().equal(zeros_like(b)));
  });
}

TEST_CASE("conv2d refuses invalid arguments, and says why") {
  const Tensor x = ones({1, 3, 4, 4}), w = ones({2, 3, 3, 3});
  CHECK_THROWS_WITH_AS(
      conv2d(x, ones({2, 4, 3, 3})),
      "conv2d: expected input with 4 channels (weight [2, 4, 3, 3], 1 groups), got [1, 3, 4, 4]",
      ShapeError);
  CHECK_THROWS_WITH_AS(
      conv2d(ones({1, 3, 2, 2}), w),
      "conv2d: expected padded input height of at least 3 (weight [2, 3, 3, 3]), got 2",
      ShapeError);
  CHECK_THROWS_WITH_AS(conv2d(x, w, ones({3})), "conv2d: expected bias of shape [2], got [3]",
                       ShapeError);
  CHECK_THROWS_WITH_AS(conv2d(x, w.to(kFloat64)),
                       "conv2d: expected input of dtype float64, as weight has, got float32",
                       DTypeError);
  CHECK_THROWS_AS(conv2d(x.to(kInt32), w.to(kInt32)), DTypeError);
  CHECK_THROWS_AS(conv2d(x, w, {}, {.stride = {0, 1}}), ShapeError);
  CHECK_THROWS_AS(conv2d(x, w, {}, {.padding = {1L << 62, 0}}), ShapeError);
  CHECK_THROWS_AS(conv2d(x, w, {}, {.dilation = {1, 1L << 62}}), ShapeError);
  CHECK_THROWS_AS(conv2d(x, w, {}, {.groups = 2}), ShapeError);
  CHECK_THROWS_AS(conv2d(x, w, {}, {.groups = -1}), ShapeError);
  CHECK_THROWS_AS(conv2d(ones({4, 4}), w), ShapeError);
  CHECK_THROWS_AS(conv2d(x, ones({2, 3, 0, 3})), ShapeError);
  CHECK_THROWS_AS(conv2d(ones({1, 0, 4, 4}), ones({2, 0, 3, 3})), ShapeError);
  CHECK_THROWS_AS(conv2d(x, ones({0, 3, 3, 3})), ShapeError);
  CHECK_THROWS_AS(convolution_input_grad(ones({1, 2, 3, 3}), w, x.sizes(), {}), ShapeError);
  CHECK_THROWS_AS(convolution_weight_grad(ones({1, 2, 2, 3}), x, w.sizes(), {}), ShapeError);
}
