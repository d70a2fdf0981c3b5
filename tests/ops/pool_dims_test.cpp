// Pooling in one and three dims, given divisors, adaptive windows: values, positions, gradients,
// the composite, bad calls. pool_test tests two dims.
#include <ambit/ambit.h>
#include <ambit/backend/kernels.h>

#include <limits>

#include "composite.h"
#include "tests/autograd/gradcheck.h"
#include "tests/devices.h"
#include "tests/expected.h"
#include "tests/tables/agreement_calls.h"
#include "tests/tables/bad_calls.h"

using namespace ambit;
using namespace composite_test;

TEST_CASE("max_pool1d and max_pool3d agree with PyTorch, in values and positions") {
  for_each_device([](Device d) {
    // F.max_pool1d(wave(1, 2, 9), 3, 2, 1, return_indices=True)
    const Tensor line = wave(d, {1, 2, 9});
    const auto [y1, at1] = max_pool1d_with_indices(line, 3, 2, 1);
    check_values(
        y1, {1, 2, 5},
        {0.644217687238, 0.985449729988, 0.863209366649, -0.35078322769, -0.631266637872,
         0.656986598719, 0.988168233877, 0.854598908088, -0.366479129252, -0.618137112237});
    check_values(at1, {1, 2, 5}, {1, 2, 3, 5, 8, 1, 2, 3, 5, 8});
    CHECK(max_pool1d(line.squeeze(0), 3, 2, 1).equal(y1.squeeze(0)));
    // F.max_pool1d(wave(1, 2, 9), 2, 3, 1, 2, True, return_indices=True)
    check_values(std::get<1>(max_pool1d_with_indices(line, 2, 3, 1, 2, true)), {1, 2, 4},
                 {1, 2, 5, 8, 1, 2, 5, 8});
    // F.max_pool3d(wave(1, 1, 4, 3, 5), (2, 2, 3), (2, 1, 2), (1, 0, 1), return_indices=True)
    const Tensor x = wave(d, {1, 1, 4, 3, 5});
    const PoolParams p{.kernel = {2, 2, 3}, .stride = {2, 1, 2}, .padding = {1, 0, 1}};
    const auto [y3, at3] = max_pool3d_with_indices(x, p);
    check_values(y3, {1, 1, 3, 2, 3},
                 {0.644217687238, 0.985449729988, 0.863209366649, 0.988168233877, 0.988168233877,
                  0.319098362349, 0.990607355695, 0.994644773878, 0.994644773878, 0.990607355695,
                  0.994644773878, 0.994644773878, 0.70616945718, 0.996241928755, 0.817766254526,
                  0.997557418908, 0.997557418908, 0.238386871749});
    check_values(at3, {1, 1, 3, 2, 3},
                 {1, 2, 3, 11, 11, 13, 20, 38, 38, 20, 38, 38, 46, 47, 48, 56, 56, 58});
    CHECK(max_pool3d(x.squeeze(0), {2, 2, 3}, {2, 1, 2}, {1, 0, 1}).equal(y3.squeeze(0)));
  });
}

TEST_CASE("avg_pool1d and avg_pool3d agree with PyTorch, with every divisor") {
  for_each_device([](Device d) {
    // F.avg_pool1d(wave(1, 2, 9), 3, 2, 1); F.avg_pool1d(wave(1, 2, 9), 4, 3, 1, True, False)
    const Tensor line = wave(d, {1, 2, 9});
    check_values(
        avg_pool1d(line, 3, 2, 1), {1, 2, 5},
        {0.214739229079, 0.830958927958, 0.282471429705, -0.734937204243, -0.537906416832,
         0.224600166401, 0.833251246895, 0.269072713729, -0.741784206125, -0.532438280463});
    check_values(avg_pool1d(line, 4, 3, 1, true, false), {1, 2, 4},
                 {0.543222472409, 0.458216004776, -0.70901956265, -0.631266637872, 0.553989577693,
                  0.448846593766, -0.710872432653, -0.618137112237});
    // x = wave(1, 1, 4, 3, 5); F.avg_pool3d(x, (2, 2, 3), (2, 1, 2), (1, 0, 1))
    const Tensor x = wave(d, {1, 1, 4, 3, 5});
    check_values(
        avg_pool3d(x, {2, 2, 3}, {2, 1, 2}, {1, 0, 1}), {1, 1, 3, 2, 3},
        {-0.0481784427388, 0.000631813413732, 0.0486453982847, 0.035232986041, -0.026952459883,
         -0.0551527920242, 0.0480866275199, -0.00388090903503, -0.0509548983698, -0.0341896549424,
         0.030598873437, 0.0568044227527, -0.0456421190381, 0.00694012674201, 0.0507713717594,
         0.0314735558625, -0.0327482021028, -0.0556768321133});
    // F.avg_pool3d(x, (2, 2, 3), (2, 2, 2), (1, 1, 1), True, False)
    check_values(avg_pool3d(x, {2, 2, 3}, {2, 2, 2}, {1, 1, 1}, true, false), {1, 1, 3, 2, 3},
                 {0.322108843619, 0.830958927958, 0.599098758402, 0.105698958123, -0.0539049197659,
                  -0.165458376073, -0.183791299815, -0.42823036563, -0.290948251036,
                  -0.0512844824136, 0.030598873437, 0.085206634129, 0.395071956436, 0.840059213487,
                  0.536224293685, 0.0944206675874, -0.0654964042056, -0.16703049634});
    // F.avg_pool3d(x, (2, 2, 3), (2, 1, 2), (1, 0, 1), divisor_override=5)[0, 0, 0]
    check_values(avg_pool3d(x, {2, 2, 3}, {2, 1, 2}, {1, 0, 1}, false, true, 5)[0][0][0], {2, 3},
                 {-0.115628262573, 0.00151635219296, 0.116748955883, 0.0845591664985,
                  -0.0646859037191, -0.132366700858});
    // F.avg_pool2d(wave(1, 1, 4, 5), 2, 2, 1, divisor_override=-3)
    check_values(avg_pool2d(wave(d, {1, 1, 4, 5}), 2, 2, 1, false, true, -3), {1, 1, 3, 3},
                 {0, -0.543222472409, -0.399399172268, -0.102067790343, 0.00375374769088,
                  0.220611168097, 0.293231919991, 0.532438280463, -0.234397603139});
    CHECK_THROWS_AS(avg_pool2d(x[0], 2, 2, 0, false, true, 0), Error);
  });
}

// PyTorch 2.15: x = torch.arange(16).view(1, 4, 4).flip(1).to(dtype);
// F.max_pool2d(x, 2, return_indices=True), F.max_pool2d(-x, 3, 2, 1, return_indices=True) and so
// on.
TEST_CASE("maxima of integers agree with PyTorch, in values and positions") {
  for_each_device([](Device d) {
    for (const DType dtype : {kUInt8, kInt8, kInt16, kInt32, kInt64}) {
      const Tensor x = arange(16, TensorOptions(kInt64).device(d)).view({1, 4, 4}).flip({1});
      const auto [y, at] = max_pool2d_with_indices(x.to(dtype), 2);
      CHECK(y.dtype() == dtype);
      check_values(y, {1, 2, 2}, {13, 15, 5, 7});
      check_values(at, {1, 2, 2}, {1, 3, 9, 11});
      check_values(max_pool2d(x.to(dtype), 2), {1, 2, 2}, {13, 15, 5, 7});
      const Tensor line = tensor({3, 1, 2, 7, 5, 1}, d).to(dtype).view({1, 6});
      const auto [most, places] = max_pool1d_with_indices(line, 2);
      check_values(most, {1, 3}, {3, 7, 5});
      check_values(places, {1, 3}, {0, 3, 4});
      check_values(max_pool1d(line, 2), {1, 3}, {3, 7, 5});
      const Tensor cube = arange(8, TensorOptions(kInt64).device(d)).view({1, 2, 2, 2}).to(dtype);
      check_values(std::get<1>(max_pool3d_with_indices(cube, 2)), {1, 1, 1, 1}, {7});
      if (dtype == kUInt8) continue;
      check_values(max_pool2d(x.neg().to(dtype), 3, 2, 1), {1, 2, 2}, {-8, -9, 0, -1});
      // All elements are the lowest number of int8: the first one in the window is found, not the
      // padding.
      const Tensor low = full({1, 3, 3}, -128, TensorOptions(dtype).device(d));
      check_values(std::get<1>(max_pool2d_with_indices(low, 2, 2, 1)), {1, 2, 2}, {0, 1, 3, 4});
    }
    // float64 cannot distinguish these integers.
    const Tensor large = tensor({int64_t{1} << 60, (int64_t{1} << 60) + 1}, d).view({1, 2});
    check_values(std::get<1>(max_pool1d_with_indices(large, 2)), {1, 1}, {1});
    CHECK(max_pool2d(zeros({0, 2, 4, 4}, TensorOptions(kInt32).device(d)), 2).sizes() ==
          IntArrayRef{0, 2, 2, 2});
    CHECK_THROWS_AS(adaptive_max_pool2d(ones({1, 4, 4}, kInt64), {2, 2}), DTypeError);
  });
  CHECK(max_pool2d(zeros({1, 4, 4}, dtype(kInt32).device(kMeta)), 2).sizes() ==
        IntArrayRef{1, 2, 2});
}

// PyTorch 2.15 with the same x: F.avg_pool2d(x, 2), F.avg_pool2d(-x, 3, 2, 1), ... of int64.
TEST_CASE("means of int64 are truncated") {
  for_each_device([](Device d) {
    const Tensor x = arange(16, TensorOptions(kInt64).device(d)).view({1, 4, 4}).flip({1});
    CHECK(avg_pool2d(x, 2).dtype() == kInt64);
    check_values(avg_pool2d(x, 2), {1, 2, 2}, {10, 12, 2, 4});
    check_values(avg_pool2d(-x, 3, 2, 1), {1, 2, 2}, {-4, -8, -3, -6});
    check_values(avg_pool2d(-x, 3, 2, 1, false, false), {1, 2, 2}, {-10, -12, -4, -6});
    check_values(avg_pool2d(-x, 3, 2, 1, false, true, 2), {1, 2, 2}, {-21, -36, -13, -27});
    check_values(avg_pool1d(tensor({3, 1, 2, 7, 5, 1}, d).view({1, 6}), 2), {1, 3}, {2, 4, 3});
    const Tensor cube = arange(8, TensorOptions(kInt64).device(d)).view({1, 2, 2, 2});
    check_values(avg_pool3d(cube, 2), {1, 1, 1, 1}, {3});
  });
  CHECK_THROWS_AS(adaptive_avg_pool2d(ones({1, 4, 4}, kInt64), {2, 2}), DTypeError);
}

TEST_CASE("adaptive pooling agrees with PyTorch in all dims") {
  for_each_device([](Device d) {
    // F.adaptive_avg_pool1d(wave(1, 2, 7), 3); F.adaptive_avg_pool3d(wave(1, 1, 3, 4, 5), (2, 3,
    // 2))
    const Tensor line = wave(d, {1, 2, 7}), x = wave(d, {1, 1, 3, 4, 5});
    check_values(adaptive_avg_pool1d(line, 3), {1, 2, 3},
                 {0.543222472409, 0.727882415598, -0.295790283316, -0.532301783337, 0.553989577693,
                  0.720621834772});
    check_values(adaptive_avg_pool3d(x, {2, 3, 2}), {1, 1, 2, 3, 2},
                 {0.00285768400121, 0.112114543039, -0.0424117837807, -0.11075633265,
                  0.0765759130816, 0.0953224737006, 0.112603823, 0.0316131125856, -0.109888938125,
                  0.00856578186831, 0.0932086389332, -0.0476560800105});
    // F.adaptive_max_pool1d(wave(1, 2, 7), 3, return_indices=True), adaptive_max_pool2d from (1, 1,
    // 5, 7) to (3, 2), and adaptive_max_pool3d from (1, 1, 3, 4, 5) to (2, 3, 2)
    const auto [y1, at1] = adaptive_max_pool1d(line, 3);
    check_values(y1, {1, 2, 3},
                 {0.985449729988, 0.985449729988, 0.334988150156, 0.0168139004843, 0.988168233877,
                  0.988168233877});
    check_values(at1, {1, 2, 3}, {2, 2, 4, 2, 4, 4});
    const auto [y2, at2] = adaptive_max_pool2d(wave(d, {1, 5, 7}), {3, 2});
    check_values(y2, {1, 3, 2},
                 {0.985449729988, 0.988168233877, 0.845746831143, 0.990607355695, 0.992766405836,
                  0.287052651328});
    check_values(at2, {1, 3, 2}, {2, 11, 21, 20, 29, 31});
    const auto [y3, at3] = adaptive_max_pool3d(x, {2, 3, 2});
    check_values(at3, {1, 1, 2, 3, 2}, {20, 29, 11, 29, 11, 38, 47, 47, 47, 47, 56, 38});
    CHECK(y3.equal(gather(x.flatten(2), 2, at3.flatten(2)).view(y3.sizes())));
    CHECK(at3.dtype() == kInt64);
    // Even windows, and no windows.
    CHECK(std::get<0>(adaptive_max_pool2d(line, {1, -1})).equal(line.amax(1, true)));
    CHECK(std::get<1>(adaptive_max_pool3d(x, {2, 0, 2})).sizes() == IntArrayRef{1, 1, 2, 0, 2});
  });
}

TEST_CASE("the last NaN is the maximum, and minus infinity may be the maximum, as in PyTorch") {
  for_each_device([](Device d) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double least = -std::numeric_limits<double>::infinity();
    for (const DType dtype : dtypes::kFloating) {
      const Tensor x = tensor({least, least, nan, 1., nan, 2., 3., 3.}, dtype).to(d).view({1, 8});
      // F.max_pool1d(x, 2, return_indices=True); F.max_pool1d(x, 8, return_indices=True)
      const auto [y, at] = max_pool1d_with_indices(x, 2);
      check_values(y, {1, 4}, {least, nan, nan, 3});
      check_values(at, {1, 4}, {0, 2, 4, 6});
      check_values(std::get<1>(max_pool1d_with_indices(x, 8)), {1, 1}, {4});
      // The rule also holds for adjacent windows in vectors.
      const Tensor row = x.repeat({1, 16});  // every window of 8 has NaNs at 2 and 4
      check_values(std::get<1>(max_pool1d_with_indices(row, 8, 8)).slice(1, 0, 3), {1, 3},
                   {4, 12, 20});
      const Tensor shifted = std::get<1>(max_pool1d_with_indices(row, 3, 1));
      check_values(shifted.slice(1, 0, 6), {1, 6}, {2, 2, 4, 4, 4, 6});
    }
  });
}

TEST_CASE("pooling in one and three dims has correct first and second gradients") {
  for_each_device([](Device d) {
    const Tensor line = wave(d, {1, 2, 5}), x = wave(d, {1, 1, 3, 3, 2});
    const auto check = [](TensorFnRef f, const Tensor& in) {
      gradcheck(f, {in});
      gradgradcheck(f, {in});
    };
    check([](const std::vector<Tensor>& in) { return max_pool1d(in[0] * in[0], 3, 2, 1); }, line);
    check([](const std::vector<Tensor>& in) { return max_pool3d(in[0] * in[0], 2, 1); }, x);
    check([](const std::vector<Tensor>& in) { return avg_pool1d(in[0] * in[0], 3, 1, 1); }, line);
    check(
        [](const std::vector<Tensor>& in) {
          return avg_pool3d(in[0] * in[0], 2, 1, {1, 0, 1}, false, true, 3);
        },
        x);
    check([](const std::vector<Tensor>& in) { return adaptive_avg_pool1d(in[0] * in[0], 3); },
          line);
    check(
        [](const std::vector<Tensor>& in) {
          return std::get<0>(adaptive_max_pool3d(in[0] * in[0], {2, 2, 1}));
        },
        x);
  });
}

TEST_CASE("composite avg_pool and its gradient agree with the kernels, in all dims") {
  manual_seed(4);
  const std::vector<std::pair<Dims, PoolParams>> cases{
      {{2, 3, 9}, {.kernel = {4}, .stride = {3}, .padding = {2}, .ceil_mode = true}},
      {{1, 2, 4, 5, 3}, {.kernel = {2, 3, 1}, .stride = {1, 2, 1}, .padding = {1, 1, 0}}},
      {{1, 2, 4, 5, 3}, {.kernel = {2}, .count_include_pad = false, .divisor = 7}}};
  const auto check = [](const Dims& sizes, const Dims& out, const PoolParams& p) {
    const auto call = [&](auto&& f, Tensors& o, const Tensors& in) { f(o[0], in[0], p); };
    check_composite(kernels::avg_pool, {unwritten(out)}, {normal(sizes)}, call);
    check_composite(kernels::avg_pool_grad, {unwritten(sizes)}, {normal(out)}, call);
  };
  for (const auto& [sizes, p] : cases) check(sizes, p.out_sizes("avg_pool", sizes), p);
  PoolParams adaptive;
  adaptive.adaptive = true;
  check({2, 3, 7}, {2, 3, 3}, adaptive);
  check({1, 2, 5, 4}, {1, 2, 3, 6}, adaptive);
  check({1, 2, 3, 4, 5}, {1, 2, 2, 3, 2}, adaptive);
}

TEST_CASE("errors of pooling have the words of its number of dims") {
  CHECK_THROWS_WITH_AS(max_pool1d(ones({2, 3, 4, 4}), 2),
                       "max_pool1d: expected input of shape [N, C, L] or [C, L], got [2, 3, 4, 4]",
                       ShapeError);
  CHECK_THROWS_WITH_AS(avg_pool1d(ones({3, 4}), 5),
                       "avg_pool1d: expected padded input length of at least 5 (kernel 5), got 4",
                       ShapeError);
  CHECK_THROWS_WITH_AS(max_pool3d(ones({1, 4, 4, 4}), {5, 1, 1}),
                       "max_pool3d: expected padded input depth of at least 5 (kernel 5), got 4",
                       ShapeError);
  CHECK_THROWS_WITH_AS(max_pool3d(ones({1, 4, 4, 4}), {2, 2}),
                       "max_pool3d: expected kernel of one number or 3, got [2, 2]", ShapeError);
  CHECK_THROWS_AS(adaptive_max_pool2d(ones({1, 4, 4}), {1, 2, 3}), Error);
}

namespace {

Tensor cube() { return ones({1, 2, 4, 4, 4}); }
Tensor line() { return ones({1, 2, 6}); }

std::vector<bad_input::BadCall> bad_calls() {
  using namespace bad_input;
  return {
      SHAPE(max_pool1d, ones({3}), 2),
      SHAPE(max_pool1d, line(), 7),
      DTYPE(max_pool1d, line().to(kBool), 2),
      VALUE(max_pool1d, none(), 2),
      SHAPE(max_pool1d_with_indices, line(), 2, 0),
      VALUE(max_pool1d_with_indices, none(), 2),
      SHAPE(max_pool3d, image()[0][0], 2),
      SHAPE(max_pool3d, cube(), 2, 1, 2),
      DTYPE(max_pool3d, cube().to(kBool), 2),
      VALUE(max_pool3d, none(), 2),
      SHAPE(max_pool3d_with_indices, cube(), {2, 2}),
      VALUE(max_pool3d_with_indices, none(), 2),
      SHAPE(avg_pool1d, line(), 2, -1),
      SHAPE(avg_pool1d, line(), PoolParams{.dilation = {2}}),
      DTYPE(avg_pool1d, line().to(kBool), 2),
      VALUE(avg_pool1d, none(), 2),
      SHAPE(avg_pool3d, cube(), 5),
      DTYPE(avg_pool3d, cube().to(kInt32), 2),
      VALUE(avg_pool3d, cube(), 2, 2, 0, false, true, 0),
      VALUE(avg_pool3d, none(), 2),
      SHAPE(adaptive_avg_pool1d, ones({3}), 2),
      SHAPE(adaptive_avg_pool1d, line(), -2),
      DTYPE(adaptive_avg_pool1d, line().to(kInt64), 2),
      VALUE(adaptive_avg_pool1d, none(), 2),
      SHAPE(adaptive_avg_pool3d, image()[0][0], 2),
      DTYPE(adaptive_avg_pool3d, cube().to(kInt64), 2),
      VALUE(adaptive_avg_pool3d, cube(), {2, 2}),
      SHAPE(adaptive_max_pool1d, ones({3}), 2),
      DTYPE(adaptive_max_pool1d, line().to(kInt64), 2),
      VALUE(adaptive_max_pool1d, none(), 2),
      SHAPE(adaptive_max_pool2d, image(), {2, -3}),
      DTYPE(adaptive_max_pool2d, image().to(kInt64), 2),
      VALUE(adaptive_max_pool2d, none(), 2),
      SHAPE(adaptive_max_pool3d, image()[0][0], 2),
      DTYPE(adaptive_max_pool3d, cube().to(kInt64), 2),
      VALUE(adaptive_max_pool3d, none(), 2),
  };
}
const CallTable<bad_input::BadCall> kBad(bad_calls);

std::vector<Tensor> results(const Tensor& y) { return {y}; }
std::vector<Tensor> results(const std::tuple<Tensor, Tensor>& y) {
  return {std::get<0>(y), std::get<1>(y)};
}
// 16 of o's elements, as one image: a line or a cube.
Tensor pooled_line(const agreement::Operands& o) {
  const profiler::RecordFunction scope(agreement::kOperand);
  return o.a.reshape({-1}).repeat({16}).slice(0, 0, 16).reshape({2, 8});
}
Tensor pooled_cube(const agreement::Operands& o) { return pooled_line(o).reshape({1, 2, 4, 2}); }
#define POOLED(f, x, ...) \
  not_empty(Call{         \
      #f, [](const Operands& o) -> std::vector<Tensor> { return results(f(x(o), __VA_ARGS__)); }})

std::vector<agreement::Call> agreeing_calls() {
  using namespace agreement;
  return {
      POOLED(max_pool1d, pooled_line, 3, 2, 1),
      POOLED(max_pool1d_with_indices, pooled_line, 3, 1, 1),
      POOLED(max_pool3d, pooled_cube, 2, 1),
      POOLED(max_pool3d_with_indices, pooled_cube, {2, 3, 1}),
      POOLED(avg_pool1d, pooled_line, 3, 2, 1),
      POOLED(avg_pool3d, pooled_cube, 2, 1, 1),
      POOLED(adaptive_avg_pool1d, pooled_line, 3),
      POOLED(adaptive_avg_pool3d, pooled_cube, {1, 3, 2}),
      POOLED(adaptive_max_pool1d, pooled_line, 3),
      POOLED(adaptive_max_pool2d, pooled_cube, {3, 1}),
      POOLED(adaptive_max_pool3d, pooled_cube, {1, 3, 2}),
  };
}
const CallTable<agreement::Call> kAgreeing(agreeing_calls);

}  // namespace
