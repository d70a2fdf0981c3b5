// Pooling as functions, with options other than the defaults, and the modes of interpolation that
// images.cpp does not test.
#include "layers.h"

using namespace parity;

namespace F = torch::nn::functional;

namespace {

Tensor line() { return x({2, 3, 9}); }
Tensor image() { return x({2, 2, 6, 7}); }
Tensor volume() { return x({1, 2, 4, 5, 6}); }
template <size_t i>
Tensor part(const std::tuple<Tensor, Tensor>& outputs) {
  return std::get<i>(outputs);
}
Tensor samples(int64_t channels, int64_t dims) {
  return torch::full({1, channels, dims}, 0.4, torch::kDouble);
}

}  // namespace

PARITY(functional_means) {
  const Call calls[] = {
      {CALL(F::avg_pool1d(
           a[0], F::AvgPool1dFuncOptions(3).stride(2).padding(1).ceil_mode(true).count_include_pad(
                     false))),
       {line()},
       16},
      {CALL(F::avg_pool2d(a[0], nn::AvgPoolOptions<2>({2, 3}).stride(1))), {image()}, 16},
      {CALL(F::avg_pool3d(a[0], F::AvgPool3dFuncOptions(2).padding(1).divisor_override(3))),
       {volume()},
       32},
      {CALL(F::adaptive_avg_pool1d(a[0], F::AdaptiveAvgPool1dFuncOptions(4))), {line()}, 32},
      {CALL(F::adaptive_avg_pool2d(a[0], F::AdaptiveAvgPool2dFuncOptions({torch::nullopt, 3}))),
       {image()},
       64},
      {CALL(F::adaptive_avg_pool3d(a[0], F::AdaptiveAvgPool3dFuncOptions({2, 3, 4}))),
       {volume()},
       64},
      {CALL(F::lp_pool1d(a[0].abs() + 1, F::LPPool1dFuncOptions(1.5, 3).stride(2))), {line()}, 64},
      {CALL(F::lp_pool2d(a[0].abs() + 1, nn::LPPoolOptions<2>(3, {2, 3}).ceil_mode(true))),
       {image()},
       64},
  };
  for (const Call& call : calls) run(call);
}

PARITY(functional_maxima) {
  const Call calls[] = {
      {CALL(F::max_pool1d(a[0], F::MaxPool1dFuncOptions(3).stride(2).padding(1).dilation(2))),
       {line()}},
      {CALL(part<0>(F::max_pool1d_with_indices(a[0], nn::MaxPoolOptions<1>(3)))), {line()}},
      {CALL(F::max_pool2d(a[0], F::MaxPool2dFuncOptions({3, 2}).stride(2).ceil_mode(true))),
       {image()}},
      {CALL(part<0>(F::max_pool2d_with_indices(a[0], F::MaxPool2dFuncOptions(3)))), {image()}},
      {CALL(part<1>(F::max_pool2d_with_indices(a[0], F::MaxPool2dFuncOptions(3)))), {image()}},
      {CALL(F::max_pool3d(a[0], F::MaxPool3dFuncOptions({2, 3, 2}).padding({1, 0, 1}))),
       {volume()}},
      {CALL(part<0>(F::max_pool3d_with_indices(a[0], F::MaxPool3dFuncOptions(2)))), {volume()}},
      {CALL(part<1>(F::max_pool3d_with_indices(a[0], F::MaxPool3dFuncOptions(2)))), {volume()}},
      {CALL(part<0>(F::adaptive_max_pool1d_with_indices(a[0], F::AdaptiveMaxPool1dFuncOptions(4)))),
       {line()}},
      {CALL(part<1>(F::adaptive_max_pool1d_with_indices(a[0], F::AdaptiveMaxPool1dFuncOptions(4)))),
       {line()}},
      {CALL(F::adaptive_max_pool2d(a[0], F::AdaptiveMaxPool2dFuncOptions({4, torch::nullopt}))),
       {image()}},
      {CALL(part<1>(
           F::adaptive_max_pool2d_with_indices(a[0], F::AdaptiveMaxPool2dFuncOptions({4, 3})))),
       {image()}},
      {CALL(F::adaptive_max_pool3d(a[0], F::AdaptiveMaxPool3dFuncOptions({3, 2, 4}))), {volume()}},
      {CALL(part<1>(F::adaptive_max_pool3d_with_indices(a[0], F::AdaptiveMaxPool3dFuncOptions(3)))),
       {volume()}},
      {CALL(F::fractional_max_pool2d(
           a[0], F::FractionalMaxPool2dFuncOptions(2).output_ratio(0.5)._random_samples(
                     samples(2, 2)))),
       {x({1, 2, 6, 7})}},
      {CALL(part<1>(F::fractional_max_pool2d_with_indices(
           a[0], nn::FractionalMaxPoolOptions<2>(2)
                     .output_size(torch::ExpandingArray<2>({3, 2}))
                     ._random_samples(samples(2, 2))))),
       {x({1, 2, 6, 7})}},
      {CALL(part<1>(F::fractional_max_pool3d_with_indices(
           a[0],
           F::FractionalMaxPool3dFuncOptions(2).output_size(2)._random_samples(samples(1, 3))))),
       {x({1, 1, 4, 5, 6})}},
      {CALL(F::max_unpool1d(
           a[0], torch::tensor({{{1, 2, 7}}}),
           F::MaxUnpool1dFuncOptions(3).output_size(std::vector<int64_t>{1, 1, 8}))),
       {x({1, 1, 3})}},
      {CALL(F::max_unpool2d(a[0], torch::arange(4).view({1, 1, 2, 2}),
                            F::MaxUnpoolFuncOptions<2>(2))),
       {x({1, 1, 2, 2})}},
      {CALL(F::max_unpool3d(a[0], torch::arange(8).view({1, 1, 2, 2, 2}) * 3,
                            F::MaxUnpool3dFuncOptions(2))),
       {x({1, 1, 2, 2, 2})}},
  };
  for (const Call& call : calls) run(call);
}

// Fractional pooling keeps only the samples from one call to the next.
PARITY(layers_pooling_state) {
  using Sizes2 = nn::AdaptiveAvgPoolOptions<torch::ExpandingArrayWithOptionalElem<2>>;
  run_layer("AdaptiveAvgPool1d", nn::AdaptiveAvgPool1d(nn::AdaptiveAvgPool1dOptions(2)), line());
  run_layer("AdaptiveAvgPool2d", nn::AdaptiveAvgPool2d(Sizes2({2, torch::nullopt})), image());
  run_layer("AdaptiveAvgPool3d", nn::AdaptiveAvgPool3d(2), volume());
  run_layer("AdaptiveMaxPool1d", nn::AdaptiveMaxPool1d(nn::AdaptiveMaxPool1dOptions(2)), line());
  run_layer("AdaptiveMaxPool2d",
            nn::AdaptiveMaxPool2d(
                nn::AdaptiveMaxPoolOptions<torch::ExpandingArrayWithOptionalElem<2>>({3, 2})),
            image());
  run_layer("AdaptiveMaxPool3d",
            nn::AdaptiveMaxPool3d(nn::AdaptiveMaxPool3dOptions({2, torch::nullopt, 1})), volume());
  run_layer("AvgPool1d", nn::AvgPool1d(2), line());
  run_layer("AvgPool3d", nn::AvgPool3d(2), volume());
  run_layer("MaxPool1d", nn::MaxPool1d(2), line());
  run_layer("MaxPool3d", nn::MaxPool3d(2), volume());
  run_layer("LPPool1d", nn::LPPool1d(2, 3), line());
  run_layer("LPPool2d", nn::LPPool2d(2, 2), image());
  run_layer("FractionalMaxPool2d",
            nn::FractionalMaxPool2d(
                nn::FractionalMaxPool2dOptions(2).output_size(3)._random_samples(samples(2, 2))),
            x({1, 2, 6, 7}));
  const auto unpool = [](const std::string& name, auto layer, const Tensor& input,
                         const Tensor& indices) {
    report_layer(name, *layer, {input},
                 [&](const List& a) { return List{layer->forward(a[0], indices)}; });
  };
  unpool("MaxUnpool1d", nn::MaxUnpool1d(nn::MaxUnpoolOptions<1>(2)), x({1, 1, 3}),
         torch::tensor({{{1, 2, 5}}}));
  unpool("MaxUnpool2d", nn::MaxUnpool2d(nn::MaxUnpool2dOptions({2, 1}).stride({2, 1})),
         x({1, 1, 2, 2}), torch::arange(4).view({1, 1, 2, 2}));
  unpool("MaxUnpool3d", nn::MaxUnpool3d(2), x({1, 1, 2, 2, 2}),
         torch::arange(8).view({1, 1, 2, 2, 2}));
}

PARITY(functional_interpolation) {
  using Options = F::InterpolateFuncOptions;
  using Sizes = std::vector<int64_t>;
  const struct {
    const char* name;
    Options options;
    Sizes shape;
  } rows[] = {
      {"nearest volume", Options().size(Sizes{5, 2, 7}).mode(torch::kNearest), {1, 2, 3, 4, 5}},
      {"nearest exact line", Options().size(Sizes{7}).mode(torch::kNearestExact), {2, 3, 5}},
      {"nearest exact volume",
       Options().scale_factor(std::vector<double>{1.5, 0.6, 2}).mode(torch::kNearestExact),
       {1, 2, 3, 4, 5}},
      {"area of a line", Options().size(Sizes{3}).mode(torch::kArea), {2, 3, 7}},
      {"area of a volume", Options().size(Sizes{2, 3, 4}).mode(torch::kArea), {1, 2, 5, 4, 7}},
      {"antialiased bicubic",
       Options().size(Sizes{2, 3}).mode(torch::kBicubic).align_corners(false).antialias(true),
       {1, 2, 7, 8}},
      {"antialiased bicubic with corners",
       Options().size(Sizes{4, 9}).mode(torch::kBicubic).align_corners(true).antialias(true),
       {1, 2, 7, 5}},
  };
  for (const auto& row : rows) {
    run({row.name,
         [&](const List& a) { return F::interpolate(a[0], row.options); },
         {x(row.shape)},
         128});
  }
}
