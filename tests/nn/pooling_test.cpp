// Pooling layers: options, printing, indices, state; parity/pooling.cpp compares values with
// libtorch's.
#include <ambit/nn/nn.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <doctest/doctest.h>

#include <sstream>

#include "tests/autograd/gradcheck.h"
#include "tests/devices.h"
#include "tests/expected.h"

using namespace ambit;
namespace F = ambit::nn::functional;

namespace {

std::string printed(const nn::Module& module) {
  std::ostringstream os;
  os << module;
  return os.str();
}

}  // namespace

TEST_CASE("pooling layers print as PyTorch's") {
  CHECK(printed(*nn::MaxPool1d(3)) ==
        "MaxPool1d(kernel_size=3, stride=3, padding=0, dilation=1, ceil_mode=False)");
  CHECK(printed(*nn::MaxPool3d(nn::MaxPool3dOptions({2, 3, 2}).stride(2).padding({1, 1, 0}))) ==
        "MaxPool3d(kernel_size=(2, 3, 2), stride=2, padding=(1, 1, 0), dilation=1, "
        "ceil_mode=False)");
  CHECK(printed(*nn::AvgPool1d(3, 2, 1)) ==
        "AvgPool1d(kernel_size=(3,), stride=(2,), padding=(1,))");
  CHECK(printed(*nn::AvgPool3d(2)) == "AvgPool3d(kernel_size=2, stride=2, padding=0)");
  CHECK(printed(*nn::AdaptiveMaxPool1d(4)) == "AdaptiveMaxPool1d(output_size=4)");
  CHECK(printed(*nn::AdaptiveMaxPool2d(nn::AdaptiveMaxPool2dOptions({3, std::nullopt}))) ==
        "AdaptiveMaxPool2d(output_size=(3, None))");
  CHECK(printed(*nn::AdaptiveAvgPool3d(nn::AdaptiveAvgPool3dOptions({std::nullopt, 4, 5}))) ==
        "AdaptiveAvgPool3d(output_size=(None, 4, 5))");
  CHECK(printed(*nn::MaxUnpool1d(3)) == "MaxUnpool1d(kernel_size=(3,), stride=(3,), padding=(0,))");
  CHECK(printed(*nn::MaxUnpool2d(nn::MaxUnpool2dOptions(2).stride(3))) ==
        "MaxUnpool2d(kernel_size=(2, 2), stride=(3, 3), padding=(0, 0))");
  CHECK(printed(*nn::LPPool2d(nn::LPPool2dOptions(1.5, {2, 3}).stride(2).ceil_mode(true))) ==
        "LPPool2d(norm_type=1.5, kernel_size=(2, 3), stride=2, ceil_mode=True)");
  CHECK(printed(*nn::LPPool3d(nn::LPPool3dOptions(2, {1, 2, 3}).stride(2))) ==
        "LPPool3d(norm_type=2, kernel_size=(1, 2, 3), stride=2, ceil_mode=False)");
  CHECK(printed(*nn::FractionalMaxPool2d(nn::FractionalMaxPool2dOptions(2).output_size(3))) ==
        "FractionalMaxPool2d()");
}

TEST_CASE("invalid options of pooling layers are refused at construction") {
  CHECK_THROWS_AS(nn::MaxPool1d(0), Error);
  CHECK_THROWS_AS(nn::MaxPool3d(nn::MaxPool3dOptions(2).dilation({1, 1, 0})), Error);
  CHECK_THROWS_WITH(nn::AvgPool3d(2, 2, 2),
                    "AvgPool3d: expected padding from 0 to half of kernel_size 2, got 2");
  CHECK_THROWS_AS(nn::MaxPool3dOptions({2, 2}), Error);
  CHECK_THROWS_WITH(nn::AdaptiveMaxPool2d(nn::AdaptiveMaxPool2dOptions({2, -2})),
                    "AdaptiveMaxPool2d: expected output_size of at least 0 or -1, got (2, -2)");
  CHECK_THROWS_AS(nn::MaxUnpool2d(nn::MaxUnpool2dOptions(2).stride(0)), Error);
  CHECK_THROWS_AS(nn::LPPool1d(2, 0), Error);
  using O = nn::FractionalMaxPool2dOptions;
  CHECK_THROWS_WITH(
      nn::FractionalMaxPool2d(2),
      "FractionalMaxPool2d: expected either output_size or output_ratio, got neither");
  CHECK_THROWS_AS(nn::FractionalMaxPool2d(O(2).output_size(2).output_ratio(0.5)), Error);
  CHECK_THROWS_AS(nn::FractionalMaxPool2d(O(2).output_ratio(O::ExpandingArrayDouble({0.5, 1.0}))),
                  Error);
  CHECK_THROWS_AS(nn::FractionalMaxPool2d(O(2).output_size(0)), Error);
}

TEST_CASE("unpooling puts maxima into their positions, for any dims") {
  for_each_device([](Device d) {
    const auto check = [](auto pool, auto unpool, const Tensor& x, std::vector<int64_t> sizes) {
      const auto [y, at] = pool->forward_with_indices(x);
      CHECK(y.equal(pool->forward(x)));
      const Tensor back = unpool->forward(y, at, sizes);
      CHECK(back.sizes() == x.sizes());
      // Each maximum is at its position, and other elements are 0.
      CHECK(where(back != 0, x, zeros_like(x)).equal(back));
      CHECK(back.sum().allclose(y.sum()));
      CHECK(std::get<0>(pool->forward_with_indices(back)).equal(y));
    };
    check(nn::MaxPool1d(2), nn::MaxUnpool1d(2), wave(d, {2, 9}).abs() + 1, {9});
    check(nn::MaxPool2d(2), nn::MaxUnpool2d(2), wave(d, {1, 2, 5, 6}).abs() + 1, {1, 2, 5, 6});
    check(nn::MaxPool3d(nn::MaxPool3dOptions({1, 2, 2})),
          nn::MaxUnpool3d(nn::MaxUnpool3dOptions({1, 2, 2})), wave(d, {1, 2, 3, 4, 5}).abs() + 1,
          {3, 4, 5});
    // F.max_unpool1d of F.max_pool1d(wave(2, 5), 2, return_indices=True), with the default size
    const auto [y, at] = nn::MaxPool1d(2)->forward_with_indices(wave(d, {2, 5}));
    check_values(nn::MaxUnpool1d(2)->forward(y, at), {2, 4},
                 {0, 0.644217687238, 0.985449729988, 0, -0.35078322769, 0, 0, -0.631266637872});
    CHECK_THROWS_AS(nn::MaxUnpool1d(2)->forward(y, at, std::vector<int64_t>{6}), ShapeError);
    CHECK_THROWS_AS(nn::MaxUnpool1d(2)->forward(y, at, std::vector<int64_t>{5, 5}), ShapeError);
    CHECK_THROWS_AS(nn::MaxUnpool1d(2)->forward(y, Tensor()), Error);
  });
}

TEST_CASE("lp_pool agrees with PyTorch, also where its root has no derivative") {
  for_each_device([](Device d) {
    // F.lp_pool1d(wave(1, 2, 7), 2, 3, 2); F.lp_pool1d(wave(1, 2, 7), 3., 3, 2, True)
    const Tensor line = wave(d, {1, 2, 7});
    check_values(nn::LPPool1d(nn::LPPool1dOptions(2, 3).stride(2))(line), {1, 2, 3},
                 {1.17733920298, 1.35220510343, 0.997451883868, 1.16790128495, 1.18675631727,
                  1.34485669014});
    check_values(F::lp_pool1d(line, F::LPPool1dFuncOptions(3, 3).stride(2).ceil_mode(true)),
                 {1, 2, 3}, {1.06979591541, 1.17874043902, NAN, NAN, 1.07678738099, 1.17483763609});
    // F.lp_pool2d(wave(1, 1, 4, 6), 2, (2, 3), ceil_mode=True)
    const nn::LPPool2d square(nn::LPPool2dOptions(2, {2, 3}).ceil_mode(true));
    check_values(square->forward(wave(d, {1, 1, 4, 6})), {1, 1, 2, 2},
                 {1.87336131862, 1.54557008927, 1.54829813655, 1.75154050861});
    gradcheck([&](const std::vector<Tensor>& in) { return square->forward(in[0] + 2); },
              {wave(d, {1, 2, 3})});
    // nn.LPPool3d(2, (1, 2, 3))(wave(1, 1, 2, 4, 6)), of PyTorch 2.15
    const nn::LPPool3d cube(2, ExpandingArray<3>({1, 2, 3}));
    check_values(cube(wave(d, {1, 1, 2, 4, 6})), {1, 1, 2, 2, 2},
                 {1.873361318616, 1.545570089266, 1.548298136551, 1.751540508614, 1.745246827247,
                  1.883788293275, 1.886927405968, 1.557753367589});
    gradcheck([&](const std::vector<Tensor>& in) { return cube(in[0] + 2); },
              {wave(d, {1, 1, 1, 2, 3})});
    // F.lp_pool2d(torch.arange(16).view(1, 4, 4), 2., 2), of PyTorch 2.15: float32; the tolerance
    // is of a sum of four squares, its mean, a product and a root, 7 roundings of 2^-24
    const Tensor whole = arange(16, TensorOptions(kInt64).device(d)).view({1, 4, 4});
    const Tensor norms = F::lp_pool2d(whole, F::LPPool2dFuncOptions(2, 2));
    CHECK(norms.dtype() == kFloat32);
    check_values(norms, {1, 2, 2},
                 {6.480740547180, 9.899495124817, 21.400934219360, 25.337718963623}, 7 * 0x1p-24);
    // F.lp_pool1d(torch.zeros(1, 1, 4), 2, 2).sum().backward() gives zeros
    const Tensor x = zeros({1, 1, 4}, d).requires_grad_();
    F::lp_pool1d(x, F::LPPool1dFuncOptions(2, 2)).sum().backward();
    CHECK(x.grad().equal(zeros({1, 1, 4}, d)));
    // Exact: the norm of 300 and 400 is 500, although their squares exceed float16's range.
    const Tensor half = tensor({300., 400.}).to(d, kFloat16);
    CHECK(F::lp_pool1d(half.view({1, 1, 2}), F::LPPool1dFuncOptions(2, 2)).item<double>() == 500);
    CHECK(F::lp_pool2d(half.view({1, 1, 1, 2}), F::LPPool2dFuncOptions(2, {1, 2})).item<double>() ==
          500);
    CHECK(F::lp_pool3d(half.view({1, 1, 1, 1, 2}), F::LPPool3dFuncOptions(2, {1, 1, 2}))
              .item<double>() == 500);
  });
}

TEST_CASE("fractional pooling draws its windows, or uses a given buffer") {
  for_each_device([](Device d) {
    const Tensor x = wave(d, {2, 3, 9, 9});
    const nn::FractionalMaxPool2d drawn(
        nn::FractionalMaxPool2dOptions(3).output_ratio(ExpandingArray<2, double>({0.5, 0.4})));
    CHECK(drawn(x).sizes() == IntArrayRef{2, 3, 4, 3});
    CHECK(drawn(x[0]).sizes() == IntArrayRef{3, 4, 3});
    CHECK(drawn->buffers().empty());
    manual_seed(3);
    const Tensor first = drawn(x);
    manual_seed(3);
    CHECK(drawn(x).equal(first));

    const Tensor u = full({2, 3, 2}, 0.25, TensorOptions(kFloat64));
    nn::FractionalMaxPool2d fixed(
        nn::FractionalMaxPool2dOptions(3).output_size(4)._random_samples(u));
    fixed->to(d);
    CHECK(fixed->named_buffers().size() == 1);
    CHECK(fixed->named_buffers().contains("_random_samples"));
    const auto [y, at] = fixed->forward_with_indices(x);
    CHECK(fixed(x).equal(y));
    CHECK(std::get<0>(fractional_max_pool2d(x, 3, 4, u.to(d))).equal(y));
    CHECK(std::dynamic_pointer_cast<nn::FractionalMaxPool2dImpl>(fixed->clone())
              ->forward(x)
              .equal(y));
    const nn::FractionalMaxPool3d cube(
        nn::FractionalMaxPool3dOptions(2).output_size(ExpandingArray<3>({2, 2, 3})));
    CHECK(cube(wave(d, {1, 4, 4, 5})).sizes() == IntArrayRef{1, 2, 2, 3});
    CHECK_THROWS_AS(F::fractional_max_pool2d(x, F::FractionalMaxPool2dFuncOptions(2)), Error);
    CHECK_THROWS_AS(F::fractional_max_pool2d(x.flatten(), F::FractionalMaxPool2dFuncOptions(2)),
                    ShapeError);
  });
}

TEST_CASE("options of pooling functions equal those of the layers") {
  const Tensor x = wave(kCPU, {2, 3, 4, 5});
  CHECK(F::max_pool3d(x, 2, 1).equal(nn::MaxPool3d(2, 1)(x)));
  CHECK(F::avg_pool3d(x, {2, 1, 2}).equal(nn::AvgPool3d(nn::AvgPool3dOptions({2, 1, 2}))(x)));
  CHECK(F::adaptive_max_pool3d(x, F::AdaptiveMaxPool3dFuncOptions({std::nullopt, 2, 1})).sizes() ==
        IntArrayRef{2, 3, 2, 1});
  CHECK(F::adaptive_avg_pool1d(x[0], F::AdaptiveAvgPool1dFuncOptions(2)).sizes() ==
        IntArrayRef{3, 4, 2});
  // The layers in a Sequential, with an omitted argument.
  nn::AnyModule unpool(nn::MaxUnpool1d(2));
  CHECK(unpool.forward(ones({1, 2}), zeros({1, 2}, kInt64)).sizes() == IntArrayRef{1, 4});
}
