// Pooling in one to three dims: functions, layers with their options, and positions of maxima.
// Printing of layers is compared elsewhere.
#include "calls.h"

using namespace parity;
namespace F = torch::nn::functional;

namespace {

template <class Layer>
Tensor indices(Layer layer, const Tensor& input) {
  return std::get<1>(layer->forward_with_indices(input));
}

}  // namespace

PARITY(pooling_functions) {
  const Call calls[] = {
      {"max_pool1d", OP(torch::max_pool1d(a[0], 3, 2, 1)), {x({1, 2, 9})}},
      {"max_pool1d_with_indices",
       OP(std::get<1>(torch::max_pool1d_with_indices(a[0], 2, 3, 1, 2, true))),
       {x({2, 9})}},
      {"max_pool3d", OP(torch::max_pool3d(a[0], {2, 2, 3}, {}, {1, 0, 1})), {x({1, 2, 4, 3, 5})}},
      {"max_pool2d_with_indices",
       OP(std::get<1>(torch::max_pool2d_with_indices(a[0], 2))),
       {x({1, 2, 4, 5})}},
      {"avg_pool1d", OP(torch::avg_pool1d(a[0], 3, 2, 1, true, false)), {x({1, 2, 8})}, 16},
      {"avg_pool2d divisor",
       OP(torch::avg_pool2d(a[0], 2, {}, 1, false, true, 3)),
       {x({1, 2, 4, 5})},
       16},
      {"avg_pool3d", OP(torch::avg_pool3d(a[0], 2, 1, 1, true)), {x({2, 3, 4, 3})}, 32},
      {"adaptive_avg_pool1d", OP(torch::adaptive_avg_pool1d(a[0], 3)), {x({1, 2, 7})}, 16},
      {"adaptive_avg_pool2d", OP(torch::adaptive_avg_pool2d(a[0], {3, 4})), {x({2, 5, 7})}, 32},
      {"adaptive_avg_pool3d",
       OP(torch::adaptive_avg_pool3d(a[0], {2, 3, 2})),
       {x({1, 2, 3, 4, 5})},
       64},
      {"adaptive_max_pool2d",
       OP(std::get<0>(torch::adaptive_max_pool2d(a[0], {3, 2}))),
       {x({1, 2, 5, 7})}},
      {"adaptive_max_pool3d indices",
       OP(std::get<1>(torch::adaptive_max_pool3d(a[0], {2, 3, 2}))),
       {x({1, 2, 3, 4, 5})}},
      {"fractional_max_pool2d",
       OP(std::get<0>(torch::fractional_max_pool2d(a[0], {2, 3}, {3, 4},
                                                   torch::full({1, 2, 2}, 0.3, torch::kDouble)))),
       {x({1, 2, 6, 7})}},
      {"fractional_max_pool3d indices",
       OP(std::get<1>(torch::fractional_max_pool3d(a[0], {2, 2, 2}, {2, 3, 4},
                                                   torch::full({1, 1, 3}, 0.7, torch::kDouble)))),
       {x({1, 1, 4, 5, 6})}},
      {"max_unpool2d",
       OP(torch::max_unpool2d(a[0], torch::arange(8).view({1, 2, 2, 2}), {3, 4})),
       {x({1, 2, 2, 2})}},
  };
  for (const Call& call : calls) run(call);
  parity::report_refusal("a divisor of 0", [] {
    torch::avg_pool2d(x({1, 4, 4}), 2, 2, 0, false, true, 0);
  });
  parity::report_refusal("padding of more than half", [] {
    torch::max_pool1d(x({1, 4}), 2, 2, 2);
  });
}

PARITY(pooling_layers) {
  namespace nn = torch::nn;
  const Call calls[] = {
      {"MaxPool1d",
       OP(nn::MaxPool1d(nn::MaxPool1dOptions(3).stride(2).padding(1))(a[0])),
       {x({1, 2, 9})}},
      {"MaxPool3d",
       OP(nn::MaxPool3d(nn::MaxPool3dOptions({2, 1, 2}).ceil_mode(true))(a[0])),
       {x({1, 2, 3, 3, 5})}},
      {"MaxPool3d indices", OP(indices(nn::MaxPool3d(2), a[0])), {x({1, 2, 4, 3, 5})}},
      {"AvgPool1d", OP(nn::AvgPool1d(nn::AvgPool1dOptions(2).stride(1))(a[0])), {x({1, 2, 5})}},
      {"AvgPool3d",
       OP(nn::AvgPool3d(nn::AvgPool3dOptions(2).padding(1).divisor_override(3))(a[0])),
       {x({1, 2, 3, 4, 5})},
       32},
      {"AdaptiveMaxPool1d", OP(nn::AdaptiveMaxPool1d(3)(a[0])), {x({2, 7})}},
      {"AdaptiveMaxPool2d optional",
       OP(nn::AdaptiveMaxPool2d(nn::AdaptiveMaxPool2dOptions({3, torch::nullopt}))(a[0])),
       {x({1, 2, 5, 4})}},
      {"AdaptiveMaxPool3d indices",
       OP(indices(nn::AdaptiveMaxPool3d(2), a[0])),
       {x({1, 2, 4, 3, 5})}},
      {"AdaptiveAvgPool3d",
       OP(nn::AdaptiveAvgPool3d(nn::AdaptiveAvgPool3dOptions({2, 2, 1}))(a[0])),
       {x({1, 2, 4, 3, 5})},
       64},
      {"MaxUnpool1d",
       OP(nn::MaxUnpool1d(nn::MaxUnpool1dOptions(2))(a[0], torch::tensor({{{1, 2, 5}}}))),
       {x({1, 1, 3})}},
      {"MaxUnpool2d of a size",
       OP(nn::MaxUnpool2d(2)->forward(a[0], torch::arange(4).view({1, 1, 2, 2}),
                                      std::vector<int64_t>{1, 1, 5, 4})),
       {x({1, 1, 2, 2})}},
      {"MaxUnpool3d",
       OP(nn::MaxUnpool3d(nn::MaxUnpool3dOptions(2).stride(1))(
           a[0], torch::arange(8).view({1, 1, 2, 2, 2}))),
       {x({1, 1, 2, 2, 2})}},
      {"FractionalMaxPool2d",
       OP(nn::FractionalMaxPool2d(
           nn::FractionalMaxPool2dOptions(2).output_ratio(0.5)._random_samples(
               torch::full({1, 2, 2}, 0.6, torch::kDouble)))(a[0])),
       {x({1, 2, 6, 7})}},
      {"LPPool1d", OP(nn::LPPool1d(nn::LPPool1dOptions(2, 3).stride(2))(a[0])), {x({1, 2, 7})}, 64},
      {"LPPool2d",
       OP(nn::LPPool2d(nn::LPPool2dOptions(1.5, {2, 3}).ceil_mode(true))(a[0].abs() + 1)),
       {x({1, 2, 4, 7})},
       64},
      {"functional lp_pool2d",
       OP(F::lp_pool2d(a[0], F::LPPool2dFuncOptions(2, 2))),
       {x({1, 2, 4, 4})},
       64},
      {"functional adaptive_max_pool1d",
       OP(F::adaptive_max_pool1d(a[0], F::AdaptiveMaxPool1dFuncOptions(3))),
       {x({2, 7})}},
      {"functional max_pool1d_with_indices",
       OP(std::get<1>(F::max_pool1d_with_indices(a[0], F::MaxPool1dFuncOptions(3)))),
       {x({2, 7})}},
      {"functional max_unpool2d",
       OP(F::max_unpool2d(a[0], torch::arange(4).view({1, 1, 2, 2}),
                          F::MaxUnpool2dFuncOptions(3).stride(2).padding(1))),
       {x({1, 1, 2, 2})}},
      {"functional fractional_max_pool3d",
       OP(F::fractional_max_pool3d(
           a[0], F::FractionalMaxPool3dFuncOptions(2).output_size(2)._random_samples(
                     torch::full({1, 1, 3}, 0.2, torch::kDouble)))),
       {x({1, 1, 4, 5, 6})}},
  };
  for (const Call& call : calls) run(call);
  nn::MaxPool2dOptions options({3, 2});
  options.stride(2);
  parity::report("an option",
                 static_cast<double>((*options.stride())[1] * 10 + options.kernel_size()->at(0)));
  parity::report_refusal("no size for fractional pooling", [] { nn::FractionalMaxPool2d(2); });
  parity::report_refusal("an unpooled size too far away", [] {
    nn::MaxUnpool1d(2)->forward(x({1, 3}), torch::tensor({{1, 2, 5}}), std::vector<int64_t>{9});
  });
}
