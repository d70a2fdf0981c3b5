// Convolutions of infinities, NaN and large numbers: they affect only the results of their own
// windows, and padding is not multiplied with them.
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

TEST_CASE("infinities and NaN affect only their own windows; large numbers may affect others") {
  const Device reference("reference");
  const auto same = [](const Tensor& got, const Tensor& reference_has) {
    const Tensor expected = reference_has.cpu();
    CHECK(got.isnan().equal(expected.isnan()));
    CHECK(got.isinf().equal(expected.isinf()));
    CHECK(got.allclose(expected, 1e-4, 1e-2, true));
  };
  const auto check = [&](const Dims& image, const Dims& window, float odd) {
    INFO("window ", str(window), ", of ", odd);
    Dims padding;
    for (const int64_t side : window) padding.push_back(side / 2);
    const ConvParams p{.padding = padding};
    const float scale = odd == 3e38f ? 1e-3f : 1;
    manual_seed(1);
    Dims images{4, 32}, weights{32, 32};
    for (const int64_t side : image) images.push_back(side);
    for (const int64_t side : window) weights.push_back(side);
    Tensor x = randn(images), dy = randn(images);
    const Tensor w = rand(weights) * scale;
    x.index_put_({1, 3, indexing::Ellipsis, 2, 5}, odd);
    dy.index_put_({2, 7, indexing::Ellipsis, 0, 1}, odd);
    const Tensor rx = x.to(reference), rw = w.to(reference), rdy = dy.to(reference);
    same(convolution(x, w, {}, 1, padding, 1, false, 0, 1),
         convolution(rx, rw, {}, 1, padding, 1, false, 0, 1));
    same(convolution_input_grad(dy, w, x.sizes(), p),
         convolution_input_grad(rdy, rw, x.sizes(), p));
    if (scale != 1) return;  // these products overflow
    same(convolution_weight_grad(dy, x, w.sizes(), p),
         convolution_weight_grad(rdy, rx, w.sizes(), p));
  };
  for (const float odd :
       {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN(), 3e38f}) {
    check({8, 8}, {3, 3}, odd);
    check({8, 8}, {5, 5}, odd);
    check({3, 40}, {1, 5}, odd);
    check({3, 8, 8}, {3, 3, 3}, odd);
  }
}

// The kernel depends on the CPU and on the sizes. Some kernels read zeros for the padding, and zero
// times infinity is NaN.
TEST_CASE("padding is not multiplied with infinities and NaN") {
  struct Case {
    int64_t images, channels, filters;
    Dims image, window;
    int64_t stride, padding, dilation, groups;
    DType dtype = kFloat32;
  };
  const Device reference("reference");
  const float infinity = std::numeric_limits<float>::infinity();
  for (const Case& c :
       std::initializer_list<Case>{// many channels
                                   {2, 32, 32, {12, 12}, {1, 1}, 1, 1, 1, 1},
                                   {2, 32, 32, {12, 12}, {3, 3}, 1, 1, 1, 1},
                                   {2, 32, 32, {12, 12}, {3, 3}, 2, 1, 1, 1},
                                   {2, 32, 32, {12, 12}, {3, 3}, 1, 2, 2, 1},
                                   {2, 32, 32, {12, 12}, {7, 7}, 1, 3, 1, 1},
                                   {2, 32, 32, {12, 12}, {3, 3}, 1, 1, 1, 2},
                                   {2, 32, 32, {12, 12}, {3, 3}, 1, 1, 1, 32},
                                   {2, 32, 32, {5, 8, 8}, {3, 3, 3}, 1, 1, 1, 1},
                                   {2, 32, 32, {5, 8, 8}, {3, 3, 3}, 2, 1, 1, 1},
                                   {2, 32, 32, {5, 8, 8}, {3, 3, 3}, 1, 2, 2, 1},
                                   {16, 32, 32, {40}, {7}, 1, 3, 1, 1},
                                   // few channels
                                   {2, 3, 6, {12, 12}, {5, 5}, 1, 0, 1, 1},
                                   {2, 3, 6, {12, 12}, {5, 5}, 1, 2, 1, 1},
                                   {2, 3, 6, {12, 12}, {3, 3}, 2, 1, 1, 1},
                                   {2, 3, 4, {4, 6, 6}, {3, 3, 3}, 1, 1, 1, 1},
                                   {2, 8, 8, {9}, {3}, 1, 1, 1, 1},
                                   {4, 3, 16, {24, 24}, {5, 5}, 1, 2, 1, 1},
                                   {2, 16, 16, {6, 6}, {3, 3}, 1, 1, 1, 1},
                                   {2, 4, 6, {12, 12}, {3, 3}, 1, 0, 1, 2, kFloat64},
                                   {2, 4, 6, {12, 12}, {3, 3}, 2, 1, 2, 2, kFloat64},
                                   {2, 32, 32, {12, 12}, {1, 1}, 1, 1, 1, 1, kBFloat16},
                                   {2, 32, 32, {12, 12}, {7, 7}, 1, 3, 1, 1, kBFloat16},
                                   {2, 3, 6, {12, 12}, {5, 5}, 1, 2, 1, 1, kBFloat16},
                                   {2, 3, 6, {12, 12}, {5, 5}, 1, 0, 1, 1, kBFloat16},
                                   {2, 32, 32, {12, 12}, {3, 3}, 2, 0, 1, 1, kBFloat16},
                                   {2, 32, 32, {5, 8, 8}, {3, 3, 3}, 1, 1, 1, 1, kBFloat16}}) {
    INFO(c.channels, " channels, ", c.filters, " filters, image ", str(c.image), ", window ",
         str(c.window), ", stride ", c.stride, ", padding ", c.padding, ", dilation ", c.dilation,
         ", groups ", c.groups, ", ", name(c.dtype));
    const auto same = [&](const Tensor& got, const Tensor& reference_has) {
      const Tensor expected = reference_has.cpu();
      CHECK(got.isnan().equal(expected.isnan()));
      CHECK(got.isinf().equal(expected.isinf()));
      // Sums of at most 32 * 49 products of normally distributed numbers, about 40, each rounded to
      // 2^-24 of the sum: 1568 * 40 * 2^-24. A result in bfloat16 may be the neighbour: 2^-7 of it.
      CHECK(got.allclose(expected, c.dtype == kBFloat16 ? 0x1p-7 : 0, 4e-3, true));
    };
    const size_t dims = c.window.size();
    const ConvParams p{.stride = Dims(dims, c.stride),
                       .padding = Dims(dims, c.padding),
                       .dilation = Dims(dims, c.dilation),
                       .groups = c.groups};
    manual_seed(1);
    Dims images{c.images, c.channels}, weights{c.filters, c.channels / c.groups};
    for (const int64_t side : c.image) images.push_back(side);
    for (const int64_t side : c.window) weights.push_back(side);
    const auto convolve = [&](const Tensor& in, const Tensor& weight) {
      return convolution(in, weight, {}, p.stride, p.padding, p.dilation, false, 0, c.groups);
    };
    // The first element, next to the padding, and another one.
    const auto spoiled = [&](const Tensor& t) {
      Tensor odd = t.clone();
      odd.flatten().narrow(0, 0, 1).fill_(infinity);
      odd.select(0, 1).select(0, -1).flatten().narrow(0, 0, 1).fill_(-infinity);
      return odd;
    };
    const auto there = [&](const Tensor& t) { return t.to(reference); };
    const Tensor x = randn(images).to(c.dtype), w = randn(weights).to(c.dtype);
    const Tensor dy = randn(convolve(x, w).sizes()).to(c.dtype);
    const Tensor odd_x = spoiled(x), odd_w = spoiled(w), odd_dy = spoiled(dy);
    const auto weight_grad = [&](const Tensor& grad_output, const Tensor& in) {
      return convolution_weight_grad(grad_output, in, w.sizes(), p);
    };
    const auto input_grad = [&](const Tensor& grad_output, const Tensor& weight) {
      return convolution_input_grad(grad_output, weight, x.sizes(), p);
    };
    same(convolve(odd_x, w), convolve(there(odd_x), there(w)));
    same(convolve(x, odd_w), convolve(there(x), there(odd_w)));
    same(input_grad(odd_dy, w), input_grad(there(odd_dy), there(w)));
    same(input_grad(dy, odd_w), input_grad(there(dy), there(odd_w)));
    same(weight_grad(odd_dy, x), weight_grad(there(odd_dy), there(x)));
    same(weight_grad(dy, odd_x), weight_grad(there(dy), there(odd_x)));
  }
}
