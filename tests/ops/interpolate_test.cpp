// Resizing of images: PyTorch's values and gradients, second gradients.
#include <ambit/nn/functional.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/images.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>
#include <doctest/doctest.h>

#include <limits>

#include "probes.h"
#include "tests/autograd/gradcheck.h"
#include "tests/devices.h"
#include "tests/expected.h"

using namespace ambit;
namespace F = nn::functional;

namespace {

using Options = F::InterpolateFuncOptions;
using Sizes = std::vector<int64_t>;
using Scales = std::vector<double>;

struct Interpolated {
  Sizes shape;
  Options options;
  Sizes sizes;
  Probes value, dx;
};
// x = wave(*shape).requires_grad_(); y = F.interpolate(x, ...)
const std::vector<Interpolated>& interpolated() {
  static const std::vector<Interpolated> rows{
      // clang-format off
    {{2, 3, 5}, Options().size(Sizes{9}), {2, 3, 9}, {0, 0.992766405836, -1.33006335055},
     {0.783326909627, -0.54476612341, 0.789421128543}},
    {{2, 3, 5}, Options().scale_factor(Scales{2.0}), {2, 3, 10}, {0, 0.992766405836,
     11.1616657758}, {0.783326909627, 1.23685132396, 0.241735187839}},
    {{2, 2, 4, 5}, Options().size(Sizes{7, 3}), {2, 2, 7, 3}, {0, -0.929452058477,
     -1.82845173517}, {0.427379880234, 0, 10.0481978277}},
    {{2, 2, 4, 5}, Options().scale_factor(Scales{1.5, 2.0}), {2, 2, 6, 10}, {0, -0.948563693718,
     -0.176545736902}, {0.737909501094, 1.53615605829, -1.71548667301}},
    {{1, 2, 3, 4, 5}, Options().size(Sizes{5, 2, 10}), {1, 2, 5, 2, 10}, {0, -0.952146491944,
     7.97199168216}, {0.0827623506626, 0, -1.04441547196}},
    {{2, 3, 5}, Options().size(Sizes{8}).mode(kNearestExact), {2, 3, 8}, {0, 0.992766405836,
     -0.579461212803}, {0.783326909627, -1.52437939849, 0.140985855472}},
    {{2, 2, 4, 5}, Options().size(Sizes{7, 3}).mode(kNearestExact), {2, 2, 7, 3}, {0,
     -0.948563693718, -0.738590462526}, {0.427379880234, -0.389034709077, 1.06324541319}},
    {{1, 2, 3, 4, 5}, Options().size(Sizes{5, 2, 10}).mode(kNearestExact), {1, 2, 5, 2, 10},
     {-0.35078322769, 0.998858051695, -5.30442813187}, {0, -0.01311594933, 0.44467634824}},
    {{2, 3, 5}, Options().size(Sizes{9}).mode(kLinear), {2, 3, 9}, {0, 0.992766405836,
     -3.55329218642}, {0.630423232071, -0.228103009015, 0.316210082194}},
    {{2, 3, 5}, Options().size(Sizes{9}).mode(kLinear).align_corners(true), {2, 3, 9}, {0,
     0.992766405836, -2.51082474898}, {0.391663454814, -0.385637867859, 0.74504055292}},
    {{2, 3, 5}, Options().scale_factor(Scales{3.0}).mode(kLinear), {2, 3, 15}, {0,
     0.992766405836, 3.77081275661}, {1.57501862362, -1.15200387207, -0.318638182791}},
    {{2, 3, 9}, Options().scale_factor(Scales{0.4}).mode(kLinear).recompute_scale_factor(true),
     {2, 3, 3}, {0.644217687238, -0.963320224474, 0.355352373916}, {0, 0, 7.07937180836}},
    {{2, 3, 9}, Options().scale_factor(Scales{0.4}).mode(kLinear), {2, 3, 3}, {0.483163265428,
     -0.789295671249, 0.505735098365}, {0, 0, 7.58830329474}},
    {{2, 2, 4, 5}, Options().scale_factor(Scales{2.0, 2.0}).mode(kBilinear), {2, 2, 8, 10}, {0,
     -0.948563693718, 1.81343158895}, {0.57131852135, -0.342956456958, -0.0717288890325}},
    {{2, 2, 4, 5}, Options().size(Sizes{8, 10}).mode(kBilinear).align_corners(true), {2, 2, 8,
     10}, {0, -0.948563693718, 2.01506301203}, {0.480985394947, -0.47708386381,
     -0.0734038457742}},
    {{2, 2, 4, 5}, Options().size(Sizes{3, 11}).mode(kBilinear), {2, 2, 3, 11},
     {-0.0584638712816, -0.623912745252, -0.773052801573}, {0.829191871982, -1.25822438876,
     0.21199504428}},
    {{2, 2, 4, 6}, Options().size(Sizes{2, 3}).mode(kBilinear), {2, 2, 2, 3}, {-0.30245267445,
     -0.445054455743, 0.170313559306}, {0, 0.240288181126, 2.94443888074}},
    {{2, 2, 1, 5}, Options().size(Sizes{3, 1}).mode(kBilinear).align_corners(true), {2, 2, 3,
     1}, {0, -0.879695759972, 0.505952865783}, {1.75717454051, 0, -1.91356150506}},
    {{1, 1, 3, 40}, Options().size(Sizes{6, 70}).mode(kBilinear), {1, 1, 6, 70}, {0,
     0.998858051695, 0.41547134863}, {1.41992992199, -1.12751803947, 1.39838801886}},
    {{1, 2, 3, 4, 2}, Options().size(Sizes{5, 4, 3}).mode(kTrilinear), {1, 2, 5, 4, 3}, {0,
     0.996241928755, 0.509630735209}, {-0.425493358402, 0.799743189439, -0.382436899585}},
    {{1, 2, 3, 4, 2}, Options().size(Sizes{5, 4, 3}).mode(kTrilinear).align_corners(true), {1,
     2, 5, 4, 3}, {0, 0.996241928755, 0.754326865712}, {-0.289300556199, 0.665426112865,
     -0.446671465062}},
    {{1, 2, 3, 4, 2}, Options().scale_factor(Scales{2.0, 1.5, 2.0}).mode(kTrilinear), {1, 2, 6,
     6, 4}, {0, 0.996241928755, -5.67570375747}, {0.176381121764, 0.14960774573,
     -0.296442522225}},
    {{2, 2, 4, 5}, Options().scale_factor(Scales{2.0, 2.0}).mode(kBicubic), {2, 2, 8, 10},
     {-0.0439073401412, -1.15910915609, 2.55174061479}, {0.604026504684, -0.640188949891,
     -0.0363578846903}},
    {{2, 2, 4, 5}, Options().size(Sizes{7, 3}).mode(kBicubic).align_corners(true), {2, 2, 7, 3},
     {0, -0.948563693718, -0.331549176363}, {0.12276277035, -0.460975419355, 5.44134977618}},
    {{1, 2, 20, 5}, Options().size(Sizes{50, 9}).mode(kBicubic), {1, 2, 50, 9},
     {-0.0392280898885, 1.11071050727, 8.5916910384}, {1.0590655299, -0.634863126155,
     0.298763623563}},
    {{1, 2, 9, 8}, Options().size(Sizes{4, 3}).mode(kBilinear).antialias(true), {1, 2, 4, 3},
     {0.137780647731, -0.417507614822, -0.249395725677}, {0, 0.103341984665, 0.323888398575}},
    {{1, 2, 9, 8}, Options().size(Sizes{4, 3}).mode(kBicubic).antialias(true), {1, 2, 4, 3},
     {0.156748422531, -0.484969254272, -0.193429046013}, {-0.0132856322539, 0.122631707289,
     0.311349836473}},
    {{1, 2, 3, 8}, Options().size(Sizes{5,
     3}).mode(kBilinear).antialias(true).align_corners(true), {1, 2, 5, 3}, {0.610748999558,
     0.847605615736, -0.0963560919984}, {0.0266533510367, 0.215026311018, 1.80642388832}},
    {{2, 3, 7}, Options().size(Sizes{3}).mode(kArea), {2, 3, 3}, {0.543222472409,
     0.228435379888, -0.740383191275}, {0, 0.13224685771, 1.37418326887}},
    {{2, 2, 4, 5}, Options().size(Sizes{2, 3}).mode(kArea), {2, 2, 2, 3}, {-0.144535328216,
     -0.0344252860782, 0.658864134167}, {0, 0.240288181126, -3.15725252789}},
    {{1, 2, 4, 5, 3}, Options().size(Sizes{3, 2, 2}).mode(kArea), {1, 2, 3, 2, 2},
     {-0.00153572273434, -0.000311459186081, 0.000896673947147}, {0, 0.0800960603752,
     -0.698958460127}},
      // clang-format on
  };
  return rows;
}

}  // namespace

TEST_CASE("interpolate has PyTorch's values and gradients") {
  for_each_device([](Device d) {
    for (size_t i = 0; i < interpolated().size(); ++i) {
      INFO("row ", i);
      const Interpolated& row = interpolated()[i];
      const Tensor x = wave(d, row.shape).requires_grad_();
      check_with_gradient(x, F::interpolate(x, row.options), row.sizes, row.value, row.dx);
    }
  });
}

TEST_CASE("interpolate has correct first and second gradients") {
  for_each_device([](Device d) {
    for (const size_t i : {1, 3, 5, 9, 13, 15, 20, 22, 26, 30}) {
      INFO("row ", i);
      const Interpolated& row = interpolated()[i];
      Sizes shape = row.shape;
      shape[0] = shape[1] = 1;
      const auto f = [&](const std::vector<Tensor>& in) {
        return F::interpolate(in[0], row.options);
      };
      gradcheck(f, {wave(d, shape)});
      gradgradcheck(f, {wave(d, shape)});
    }
  });
}

TEST_CASE("interpolation accepts any layout, no images at all, and any dtype for nearest") {
  for_each_device([](Device d) {
    const Tensor x = wave(d, {2, 5, 4, 3});
    const Tensor y = upsample_bilinear2d(x.permute({0, 3, 2, 1}), {8, 7}, false);
    CHECK(y.equal(upsample_bilinear2d(x.permute({0, 3, 2, 1}).contiguous(), {8, 7}, false)));
    CHECK(y.is_contiguous());
    CHECK(upsample_bilinear2d(zeros({0, 3, 4, 5}, d), {8, 9}, false).sizes() ==
          IntArrayRef{0, 3, 8, 9});
    const Tensor n = arange(4, TensorOptions(kInt64).device(d)).view({1, 1, 4});
    CHECK(upsample_nearest1d(n, {8}).equal(
        tensor({0, 0, 1, 1, 2, 2, 3, 3}, TensorOptions(kInt64).device(d)).view({1, 1, 8})));
    // F.interpolate(torch.arange(4).float().view(1, 1, 4), 7), an index in float32
    check_values(upsample_nearest1d(n.to(kFloat32), {7}), {1, 1, 7}, {0, 0, 1, 1, 2, 2, 3});
    const Tensor negative = tensor({-0., 0.}, d).view({1, 1, 2});
    CHECK(signbit(upsample_nearest1d(negative, {3}))
              .equal(tensor({true, true, false}, d).view({1, 1, 3})));
    // With the same size the result is a copy, not the image itself.
    const Tensor same = upsample_nearest1d(n, {4});
    CHECK(same.equal(n));
    CHECK_FALSE(same.is_same(n));
    // Only neighbours are read, so inf does not affect other results.
    const double inf = std::numeric_limits<double>::infinity();
    Tensor far = zeros({1, 1, 64}, TensorOptions(kFloat64).device(d));
    far.slice(2, 0, 1).fill_(inf);
    const Tensor wide = upsample_linear1d(far, {128}, false);
    CHECK(wide.slice(2, 3).eq(0).all().item<bool>());
    CHECK(upsample_linear1d(far, {100}, true).slice(2, 2).eq(0).all().item<bool>());
  });
}

// PyTorch 2.15 on the CPU: x = (torch.arange(16).view(1, 1, 4, 4).flip(2) * 15).byte();
// F.interpolate(x, size=(3, 6), mode='bilinear', antialias=True) and so on.
TEST_CASE("uint8 images are interpolated with PyTorch's rounding") {
  using Size = std::vector<int64_t>;
  using Function =
      Tensor (*)(const Tensor&, IntArrayRef, bool, std::optional<double>, std::optional<double>);
  for_each_device([](Device d) {
    const Tensor x =
        (arange(16, TensorOptions(kInt64).device(d)).view({1, 1, 4, 4}).flip({2}) * 15).to(kUInt8);
    const auto check = [&](Function function, const Size& size, const std::vector<double>& values,
                           bool align_corners = false) {
      const Tensor y = function(x, size, align_corners, std::nullopt, std::nullopt);
      CHECK(y.dtype() == kUInt8);
      check_values(y, {1, 1, size[0], size[1]}, values);
    };
    check(upsample_bilinear2d, {3, 6},
          {170, 178, 188, 197, 208, 215, 90, 98, 108, 117, 128, 135, 10, 18, 28, 37, 48, 55});
    check(upsample_bilinear2d, {2, 3}, {152, 173, 193, 32, 53, 73});
    check(upsample_bicubic2d, {3, 6},
          {171, 178, 190, 199, 211, 218, 89, 96, 108, 117, 129, 136, 7, 14, 26, 35, 47, 54});
    check(upsample_bicubic2d, {2, 3}, {158, 179, 199, 26, 47, 67});
    check(upsample_bilinear2d, {3, 6},
          {180, 189, 198, 207, 216, 225, 90, 99, 108, 117, 126, 135, 0, 9, 18, 27, 36, 45}, true);
    check(upsample_bicubic2d, {3, 6},
          {180, 188, 199, 206, 217, 225, 90, 98, 109, 116, 127, 135, 0, 8, 19, 26, 37, 45}, true);
    check(_upsample_bilinear2d_aa, {3, 6},
          {162, 170, 180, 189, 200, 207, 90, 98, 108, 117, 128, 135, 18, 26, 36, 45, 56, 63});
    check(_upsample_bilinear2d_aa, {2, 3}, {141, 160, 178, 47, 66, 84});
    check(_upsample_bicubic2d_aa, {3, 6},
          {168, 175, 186, 197, 208, 215, 89, 96, 107, 118, 129, 136, 11, 17, 28, 39, 50, 57});
    check(_upsample_bicubic2d_aa, {2, 3}, {148, 168, 187, 38, 58, 77});
    CHECK(_upsample_bicubic2d_aa(x.narrow(0, 0, 0), Size{2, 3}, false).sizes() ==
          IntArrayRef{0, 1, 2, 3});
    CHECK(upsample_bilinear2d(x, Size{4, 4}, false).equal(x));
  });
  CHECK_THROWS_AS(upsample_linear1d(ones({1, 1, 4}, kUInt8), {2}, false), DTypeError);
}

TEST_CASE("other ways of scaling agree with matrices of weights") {
  // Each element of a dim is a weighted sum, with the rows of the resized unit matrix as weights.
  for_each_device([](Device d) {
    for (const int64_t in : {1, 2, 3, 7, 16}) {
      const Tensor one = eye(in, TensorOptions(kFloat64).device(d)).unsqueeze(1);
      const Tensor x = wave(d, {2, 3, in, 4});
      for (const int64_t out : {1, 2, 5, 8, 14, 21, 32}) {
        for (const bool corners : {false, true}) {
          INFO(in, " to ", out);
          const Tensor linear = upsample_linear1d(one, {out}, corners).squeeze(1);
          const Tensor cubic =
              upsample_bicubic2d(one.unsqueeze(3), {out, 1}, corners).squeeze(3).squeeze(1);
          CHECK(upsample_bilinear2d(x, {out, 4}, corners)
                    .allclose(matmul(linear.t(), x), 1e-13, 1e-13));
          CHECK(upsample_bicubic2d(x, {out, 4}, corners)
                    .allclose(matmul(cubic.t(), x), 1e-13, 1e-13));
        }
      }
    }
  });
}

// Taps of a tiny scale reach beyond int64, whose conversion differs between processors. All
// elements then have the same weight.
TEST_CASE("an antialiased image of a tiny scale is the mean") {
  for_each_device([](Device d) {
    const Tensor x = tensor({1., 2., 3., 6.}, d).to(kFloat64).view({1, 1, 1, 4});
    for (const double scale : {1e-30, 1e-300}) {
      check_values(_upsample_bilinear2d_aa(x, {1, 1}, false, scale, scale), {1, 1, 1, 1}, {3});
    }
  });
}

TEST_CASE("interpolate and grid_sample refuse invalid options") {
  const Tensor x4 = ones({1, 1, 4, 4});
  const auto options = [] { return F::InterpolateFuncOptions(); };
  const std::vector<int64_t> size{8, 8};
  const std::vector<double> scale{2, 2};
  CHECK_THROWS_AS(F::interpolate(x4), Error);
  CHECK_THROWS_AS(F::interpolate(x4, options().size(size).scale_factor(scale)), Error);
  CHECK_THROWS_AS(F::interpolate(x4, options().scale_factor(std::vector<double>{2})), Error);
  CHECK_THROWS_AS(F::interpolate(x4, options().scale_factor(std::vector<double>{0.1, 2})), Error);
  CHECK_THROWS_AS(F::interpolate(x4, options().size(size).align_corners(true)), Error);
  CHECK_THROWS_AS(F::interpolate(x4, options().size(size).mode(kArea).antialias(true)), Error);
  CHECK_THROWS_AS(F::interpolate(x4, options().size(size).mode(kLinear)), ShapeError);
  CHECK_THROWS_AS(F::interpolate(ones({4, 4}), options().size(size)), ShapeError);
  CHECK_THROWS_AS(F::interpolate(Tensor(), options().size(size)), Error);
  CHECK_THROWS_AS(options().mode(kReLU), Error);
  const Tensor grid = zeros({1, 2, 2, 2});
  CHECK_THROWS_AS(F::grid_sample(x4, grid, F::GridSampleFuncOptions().mode(kArea)), Error);
  CHECK_THROWS_AS(F::GridSampleFuncOptions().padding_mode(kReflect), Error);
}
