// Convolutions of many channels in the shapes that Winograd's algorithm does not cover, against
// plain loops. On AArch64 they are our own matrix products; on x86-64 too in the ctest entries
// conv_by_products_*, otherwise oneDNN.
#include <ambit/ops/conv.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/random.h>
#include <doctest/doctest.h>

using namespace ambit;

namespace {

struct Case {
  Dims x, w;
  ConvParams p;
};

// Sums of `terms` products of normally distributed numbers in another order: a rounding error of
// 2^-24 of a partial sum, about the square root of `terms`, at each of `terms` additions adds up to
// less than this.
bool agree(const Tensor& got, const Tensor& expected, int64_t terms) {
  return got.allclose(expected.cpu(), 1e-5, 1e-6 * static_cast<double>(terms));
}

void check(const Case& c) {
  INFO("x ", str(c.x), ", w ", str(c.w));
  const Device reference("reference");
  manual_seed(3);
  const Tensor x = randn(c.x), w = randn(c.w), b = randn({c.w[0]});
  const Tensor rx = x.to(reference), rw = w.to(reference);
  const auto convolve = [&](const Tensor& image, const Tensor& weight, const Tensor& bias) {
    return convolution(image, weight, bias, c.p.stride, c.p.padding, c.p.dilation, false, 0,
                       c.p.groups);
  };
  const Tensor y = convolve(x, w, b);
  const int64_t taps = w.numel() / w.size(0), pixels = y.numel() / y.size(1);
  CHECK(agree(y, convolve(rx, rw, b.to(reference)), taps));
  const Tensor dy = randn(y.sizes()), rdy = dy.to(reference);
  CHECK(agree(convolution_input_grad(dy, w, x.sizes(), c.p),
              convolution_input_grad(rdy, rw, x.sizes(), c.p), w.numel() / w.size(1)));
  CHECK(agree(convolution_weight_grad(dy, x, w.sizes(), c.p),
              convolution_weight_grad(rdy, rx, w.sizes(), c.p), pixels));
}

}  // namespace

TEST_CASE("convolutions of many channels agree with plain loops") {
  const Case cases[] = {
      {{2, 17, 20, 22}, {33, 17, 3, 3}, {.stride = {2, 2}, .padding = {1, 1}}},
      {{3, 32, 14, 14}, {48, 32, 1, 1}, {}},
      {{3, 32, 15, 15}, {48, 32, 1, 1}, {.stride = {2, 3}, .padding = {0, 1}}},
      {{2, 3, 40, 40}, {64, 3, 7, 7}, {.stride = {2, 2}, .padding = {3, 3}}},
      {{1, 24, 30, 18}, {20, 24, 5, 5}, {.stride = {1, 1}, .padding = {4, 4}, .dilation = {2, 2}}},
      {{2, 16, 12, 12}, {32, 16, 5, 2}, {.stride = {3, 1}, .padding = {4, 1}, .dilation = {1, 3}}},
      {{2, 32, 16, 16}, {64, 16, 3, 3}, {.stride = {2, 2}, .padding = {1, 1}, .groups = 2}},
      // Several blocks of pixels, and several partial sums of the gradient of the weights.
      {{8, 16, 40, 40}, {16, 16, 3, 3}, {.stride = {2, 1}, .padding = {1, 1}}},
      {{4, 32, 300}, {32, 32, 7}, {.stride = {3}, .padding = {3}}},
      {{2, 16, 6, 9, 8}, {24, 16, 3, 2, 3}, {.stride = {2, 1, 1}, .padding = {1, 1, 0}}},
      {{1, 16, 7, 8, 9}, {32, 16, 2, 3, 2}, {.stride = {1, 2, 2}, .dilation = {2, 1, 1}}},
  };
  for (const Case& c : cases) check(c);
}
