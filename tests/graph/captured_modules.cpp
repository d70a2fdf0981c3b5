#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/pool.h>
#include <ambit/ops/reduce.h>
#include <ambit/random.h>

#include "captured_networks.h"

using namespace ambit;

namespace {

using All = std::vector<CapturedNetwork>;

std::vector<Tensor> list(const std::tuple<Tensor, Tensor>& t) {
  return {std::get<0>(t), std::get<1>(t)};
}

void add_activations(All& all) {
  const Tensor x = randn({3, 6}) * 2, image = randn({2, 4, 5, 5});
#define AMBIT_ADD(name) all.push_back(network(#name, nn::name(), {x}))
  AMBIT_ADD(ELU);
  AMBIT_ADD(SELU);
  AMBIT_ADD(CELU);
  AMBIT_ADD(GELU);
  AMBIT_ADD(SiLU);
  AMBIT_ADD(Mish);
  AMBIT_ADD(ReLU);
  AMBIT_ADD(ReLU6);
  AMBIT_ADD(RReLU);
  AMBIT_ADD(LeakyReLU);
  AMBIT_ADD(Hardshrink);
  AMBIT_ADD(Hardtanh);
  AMBIT_ADD(LogSigmoid);
  AMBIT_ADD(PReLU);
  AMBIT_ADD(Sigmoid);
  AMBIT_ADD(Softplus);
  AMBIT_ADD(Softshrink);
  AMBIT_ADD(Softsign);
  AMBIT_ADD(Tanh);
  AMBIT_ADD(Tanhshrink);
  AMBIT_ADD(GLU);
  AMBIT_ADD(Identity);
  AMBIT_ADD(Dropout);
  AMBIT_ADD(AlphaDropout);
  AMBIT_ADD(FeatureAlphaDropout);
#undef AMBIT_ADD
  all.push_back(network("Threshold", nn::Threshold(0.5, -1), {x}));
  all.push_back(network("Softmax", nn::Softmax(1), {x}));
  all.push_back(network("Softmin", nn::Softmin(1), {x}));
  all.push_back(network("LogSoftmax", nn::LogSoftmax(0), {x}));
  all.push_back(network("Softmax2d", nn::Softmax2d(), {image}));
  all.push_back(network("Dropout2d", nn::Dropout2d(), {image}));
  all.push_back(network("Dropout3d", nn::Dropout3d(), {randn({1, 2, 3, 3, 3})}));
}

void add_linear(All& all) {
  all.push_back(network("Linear", nn::Linear(6, 4), {randn({2, 3, 6})}));
  all.push_back(network("Bilinear", nn::Bilinear(3, 4, 5), {randn({2, 3}), randn({2, 4})}));
  all.push_back(network("Embedding", nn::Embedding(7, 3), {randint(0, 7, {2, 4}, kInt64)}));
  all.push_back(network("Flatten", nn::Flatten(), {randn({2, 3, 4})}));
  all.push_back(
      network("Unflatten", nn::Unflatten(nn::UnflattenOptions(1, {2, 3})), {randn({2, 6})}));
  all.push_back(
      network("CosineSimilarity", nn::CosineSimilarity(), {randn({3, 6}), randn({3, 6})}));
  all.push_back(
      network("PairwiseDistance", nn::PairwiseDistance(), {randn({3, 6}), randn({3, 6})}));
  all.push_back(network("PixelShuffle", nn::PixelShuffle(2), {randn({2, 8, 3, 3})}));
  all.push_back(network("PixelUnshuffle", nn::PixelUnshuffle(2), {randn({2, 3, 4, 6})}));
  all.push_back(network("Upsample",
                        nn::Upsample(nn::UpsampleOptions()
                                         .size(std::vector<int64_t>{9, 6})
                                         .mode(kBicubic)
                                         .align_corners(false)),
                        {randn({1, 2, 5, 4})}));
  all.push_back(network("AdaptiveLogSoftmaxWithLoss",
                        nn::AdaptiveLogSoftmaxWithLoss(
                            nn::AdaptiveLogSoftmaxWithLossOptions(6, 8, {3, 5}).div_value(2)),
                        {randn({3, 6})}, [](const auto& net, TensorList in) {
                          return std::vector<Tensor>{net->log_prob(in[0])};
                        }));
  all.push_back(network("Fold", nn::Fold(nn::FoldOptions({4, 5}, {2, 2})), {randn({2, 8, 12})}));
}

void add_bags(All& all) {
  const Tensor rows = randint(0, 7, {3, 4}, kInt64);
  const auto bags = [](Reduction mode) { return nn::EmbeddingBagOptions(7, 5).mode(mode); };
  all.push_back(network("EmbeddingBag", nn::EmbeddingBag(bags(kSum)), {rows}));
  all.push_back(
      network("EmbeddingBag of means", nn::EmbeddingBag(bags(kMean).padding_idx(2)), {rows}));
  all.push_back(network("EmbeddingBag of maxima",
                        nn::EmbeddingBag(nn::EmbeddingBagOptions(7, 5).mode(kMax)), {rows}));
  // The second bag is empty.
  all.push_back(network("EmbeddingBag with weights", nn::EmbeddingBag(bags(kSum)),
                        {rows.flatten(), tensor(std::vector<int64_t>{0, 5, 5}), rand({12})}));
  all.push_back(network("EmbeddingBag with the last offset",
                        nn::EmbeddingBag(bags(kMean).include_last_offset(true)),
                        {rows.flatten(), tensor(std::vector<int64_t>{0, 5, 9, 12})}));
}

void add_convolutions(All& all) {
  all.push_back(network("Conv1d", nn::Conv1d(nn::Conv1dOptions(2, 4, 3).stride(2).dilation(2)),
                        {randn({2, 2, 11})}));
  all.push_back(network("Conv2d", nn::Conv2d(nn::Conv2dOptions(4, 6, 3).padding(1).groups(2)),
                        {randn({2, 4, 5, 6})}));
  all.push_back(network("Conv3d", nn::Conv3d(2, 3, 2), {randn({1, 2, 4, 4, 4})}));
  all.push_back(network("ConvTranspose1d",
                        nn::ConvTranspose1d(nn::ConvTranspose1dOptions(2, 3, 3).stride(2)),
                        {randn({2, 2, 5})}));
  all.push_back(network(
      "ConvTranspose2d",
      nn::ConvTranspose2d(
          nn::ConvTranspose2dOptions(4, 6, 3).stride(2).padding(1).output_padding(1).groups(2)),
      {randn({2, 4, 3, 4})}));
  all.push_back(network("ConvTranspose3d", nn::ConvTranspose3d(2, 3, 2), {randn({1, 2, 3, 3, 3})}));
}

void add_windows(All& all) {
  const Tensor image = randn({2, 3, 7, 9});
  all.push_back(network("Unfold", nn::Unfold(nn::UnfoldOptions({2, 3})), {image}));
  all.push_back(
      network("Unfold with padding",
              nn::Unfold(nn::UnfoldOptions({2, 3}).dilation({2, 1}).padding({1, 2}).stride({2, 3})),
              {image}));
  all.push_back(network("Unfold of rows", nn::Unfold(nn::UnfoldOptions({1, 3}).stride({1, 2})),
                        {randn({4, 5, 8})}));
  all.push_back(network("windows", nn::Identity(), {image}, [](const auto& net, TensorList in) {
    const Tensor x = net->forward(in[0]);
    return std::vector<Tensor>{x.unfold(3, 4, 2), x.unfold(2, 3, 1).unfold(3, 2, 3),
                               x.slice(3, 0, 9, 2), (x > 0).unfold(1, 2, 1), x.unfold(1, 2, 1)};
  }));
}

// Returns maxima to their places.
template <class M>
CapturedNetwork unpooled(const char* name, size_t dims, const Tensor& x) {
  return network(name, M(2), {x}, [dims](const M& net, TensorList in) {
    const Dims two(dims, 2);
    const PoolParams params{.kernel = IntArrayRef(two), .stride = IntArrayRef(two)};
    const auto pooled = dims == 1   ? max_pool1d_with_indices(in[0], params)
                        : dims == 2 ? max_pool2d_with_indices(in[0], params)
                                    : max_pool3d_with_indices(in[0], params);
    return std::vector<Tensor>{net->forward(std::get<0>(pooled), std::get<1>(pooled))};
  });
}

void add_pools(All& all) {
  const Tensor line = randn({2, 3, 10}), image = randn({2, 3, 7, 9}),
               volume = randn({1, 2, 5, 6, 7});
  all.push_back(
      network("MaxPool1d", nn::MaxPool1d(nn::MaxPool1dOptions(3).stride(2).padding(1)), {line}));
  all.push_back(
      network("MaxPool2d", nn::MaxPool2d(nn::MaxPool2dOptions(2).ceil_mode(true)), {image}));
  all.push_back(network("MaxPool3d", nn::MaxPool3d(nn::MaxPool3dOptions(2).dilation(2)), {volume}));
  all.push_back(network("AvgPool1d", nn::AvgPool1d(nn::AvgPool1dOptions(3).padding(1)), {line}));
  all.push_back(network("AvgPool2d",
                        nn::AvgPool2d(nn::AvgPool2dOptions(3).stride(2).padding(1).ceil_mode(true)),
                        {image}));
  all.push_back(
      network("AvgPool3d", nn::AvgPool3d(nn::AvgPool3dOptions(2).divisor_override(5)), {volume}));
  all.push_back(network("AdaptiveAvgPool1d", nn::AdaptiveAvgPool1d(4), {line}));
  all.push_back(network("AdaptiveAvgPool2d", nn::AdaptiveAvgPool2d(4), {image}));
  all.push_back(network("AdaptiveAvgPool3d", nn::AdaptiveAvgPool3d(3), {volume}));
  all.push_back(network("AdaptiveMaxPool1d", nn::AdaptiveMaxPool1d(4), {line}));
  all.push_back(network("AdaptiveMaxPool2d", nn::AdaptiveMaxPool2d(4), {image}));
  all.push_back(network("AdaptiveMaxPool3d", nn::AdaptiveMaxPool3d(3), {volume}));
  all.push_back(network(
      "even AdaptiveMaxPool1d", nn::AdaptiveMaxPool1d(5), {line},
      [](const auto& net, TensorList in) { return list(net->forward_with_indices(in[0])); }));
  all.push_back(network(
      "FractionalMaxPool2d",
      nn::FractionalMaxPool2d(
          nn::FractionalMaxPool2dOptions({2, 3}).output_size({{4, 5}})._random_samples(
              rand({2, 3, 2}))),
      {image},
      [](const auto& net, TensorList in) { return list(net->forward_with_indices(in[0])); }));
  all.push_back(network("FractionalMaxPool3d",
                        nn::FractionalMaxPool3d(nn::FractionalMaxPool3dOptions(2)
                                                    .output_ratio({{0.5, 0.6, 0.7}})
                                                    ._random_samples(rand({1, 2, 3}))),
                        {volume}));
  all.push_back(network("LPPool1d", nn::LPPool1d(nn::LPPool1dOptions(2, 3)), {line}));
  all.push_back(network("LPPool2d", nn::LPPool2d(nn::LPPool2dOptions(2, 2)), {image}));
  all.push_back(network("LPPool3d", nn::LPPool3d(nn::LPPool3dOptions(2, 2)), {volume}));
  all.push_back(unpooled<nn::MaxUnpool1d>("MaxUnpool1d", 1, randn({2, 3, 8})));
  all.push_back(unpooled<nn::MaxUnpool2d>("MaxUnpool2d", 2, randn({2, 3, 4, 6})));
  all.push_back(unpooled<nn::MaxUnpool3d>("MaxUnpool3d", 3, randn({1, 2, 4, 4, 4})));
}

void add_norms(All& all) {
  const Tensor line = randn({2, 4, 5}), image = randn({2, 4, 5, 5}),
               volume = randn({2, 4, 3, 3, 3});
  all.push_back(network("BatchNorm1d", nn::BatchNorm1d(4), {line}));
  all.push_back(network("BatchNorm2d", nn::BatchNorm2d(4), {image}));
  all.push_back(network("BatchNorm3d", nn::BatchNorm3d(4), {volume}));
  all.push_back(network("InstanceNorm1d", nn::InstanceNorm1d(4), {line}));
  all.push_back(network("InstanceNorm2d",
                        nn::InstanceNorm2d(nn::InstanceNorm2dOptions(4).affine(true)), {image}));
  all.push_back(network("InstanceNorm3d", nn::InstanceNorm3d(4), {volume}));
  all.push_back(network("LayerNorm", nn::LayerNorm(nn::LayerNormOptions({5, 5})), {image}));
  all.push_back(network("GroupNorm", nn::GroupNorm(2, 4), {image}));
  all.push_back(network("RMSNorm", nn::RMSNorm(nn::RMSNormOptions({5})), {image}));
  all.push_back(network("LocalResponseNorm", nn::LocalResponseNorm(3), {image}));
  all.push_back(network("CrossMapLRN2d", nn::CrossMapLRN2d(3), {image}));
}

void add_paddings(All& all) {
  const Tensor line = randn({2, 3, 5}), image = randn({2, 3, 5, 6}),
               volume = randn({1, 2, 3, 4, 5});
  all.push_back(
      network("ConstantPad1d", nn::ConstantPad1d(nn::ConstantPad1dOptions({1, 2}, 3.5)), {line}));
  all.push_back(network("ConstantPad2d",
                        nn::ConstantPad2d(nn::ConstantPad2dOptions({1, 2, 0, 1}, 3.5)), {image}));
  all.push_back(
      network("ConstantPad3d", nn::ConstantPad3d(nn::ConstantPad3dOptions(1, 3.5)), {volume}));
  all.push_back(network("ZeroPad1d", nn::ZeroPad1d(nn::ZeroPad1dOptions({1, 2})), {line}));
  all.push_back(network("ZeroPad2d", nn::ZeroPad2d(nn::ZeroPad2dOptions({1, -1, 2, 0})), {image}));
  all.push_back(network("ZeroPad3d", nn::ZeroPad3d(nn::ZeroPad3dOptions(1)), {volume}));
  all.push_back(network("ReflectionPad1d", nn::ReflectionPad1d(2), {line}));
  all.push_back(network("ReflectionPad2d",
                        nn::ReflectionPad2d(nn::ReflectionPad2dOptions({1, 2, 3, 0})), {image}));
  all.push_back(network("ReflectionPad3d", nn::ReflectionPad3d(1), {volume}));
  all.push_back(network("ReplicationPad1d", nn::ReplicationPad1d(2), {line}));
  all.push_back(network("ReplicationPad2d",
                        nn::ReplicationPad2d(nn::ReplicationPad2dOptions({1, 2, 3, 0})), {image}));
  all.push_back(network("ReplicationPad3d", nn::ReplicationPad3d(1), {volume}));
  all.push_back(network("circular Conv2d",
                        nn::Conv2d(nn::Conv2dOptions(3, 2, 3).padding(1).padding_mode(kCircular)),
                        {image}));
}

void add_recurrent(All& all) {
  const Tensor steps = randn({4, 2, 6}), row = randn({2, 6});
  const auto pair = [](const auto& net, TensorList in) { return list(net->forward(in[0])); };
  all.push_back(network("RNN", nn::RNN(nn::RNNOptions(6, 4).nonlinearity(kReLU)), {steps}, pair));
  all.push_back(network("GRU", nn::GRU(nn::GRUOptions(6, 4).bidirectional(true)), {steps}, pair));
  all.push_back(network("LSTM", nn::LSTM(nn::LSTMOptions(6, 4).batch_first(true)), {steps},
                        [](const auto& net, TensorList in) {
                          const auto [y, state] = net->forward(in[0]);
                          return std::vector<Tensor>{y, std::get<0>(state), std::get<1>(state)};
                        }));
  all.push_back(network("RNNCell", nn::RNNCell(6, 4), {row, randn({2, 4})}));
  all.push_back(network("GRUCell", nn::GRUCell(6, 4), {row, randn({2, 4})}));
  all.push_back(network("LSTMCell", nn::LSTMCell(6, 4), {row, randn({2, 4}), randn({2, 4})},
                        [](const auto& net, TensorList in) {
                          return list(net->forward(in[0], std::make_tuple(in[1], in[2])));
                        }));
}

void add_transformers(All& all) {
  const Tensor source = randn({5, 2, 8}), target = randn({3, 2, 8});
  all.push_back(network(
      "MultiheadAttention", nn::MultiheadAttention(8, 2), {target, source},
      [](const auto& net, TensorList in) { return list(net->forward(in[0], in[1], in[1])); }));
  const auto encoder = nn::TransformerEncoderLayerOptions(8, 2).dim_feedforward(16);
  const auto decoder = nn::TransformerDecoderLayerOptions(8, 2).dim_feedforward(16);
  const auto one = [](const auto& net, TensorList in) {
    return std::vector<Tensor>{net->forward(in[0])};
  };
  const auto two = [](const auto& net, TensorList in) {
    return std::vector<Tensor>{net->forward(in[0], in[1])};
  };
  all.push_back(
      network("TransformerEncoderLayer", nn::TransformerEncoderLayer(encoder), {source}, one));
  all.push_back(network("TransformerDecoderLayer", nn::TransformerDecoderLayer(decoder),
                        {target, source}, two));
  all.push_back(network("TransformerEncoder",
                        nn::TransformerEncoder(nn::TransformerEncoderOptions(encoder, 2)), {source},
                        one));
  all.push_back(network("TransformerDecoder",
                        nn::TransformerDecoder(nn::TransformerDecoderOptions(decoder, 2)),
                        {target, source}, two));
  nn::Transformer transformer(
      nn::TransformerOptions(8, 2).num_encoder_layers(1).num_decoder_layers(1).dim_feedforward(16));
  all.push_back(network("Transformer", transformer, {source, target}, two));
}

void add_losses(All& all) {
  const Tensor x = randn({3, 6}), y = randn({3, 6}), z = randn({3, 6});
  const Tensor classes = randint(0, 6, {3}, kInt64), signs = tensor({1.0f, -1.0f, 1.0f});
  const Tensor sign_rows = randint(0, 2, {3, 6}, kInt64).to(kFloat32) * 2 - 1;
  const Tensor chances = rand({3, 6}) * 0.8 + 0.1, bits = (sign_rows + 1) / 2;
  all.push_back(network("L1Loss", nn::L1Loss(), {x, y}));
  all.push_back(network("MSELoss", nn::MSELoss(), {x, y}));
  all.push_back(network("SmoothL1Loss", nn::SmoothL1Loss(), {x, y}));
  all.push_back(network("HuberLoss", nn::HuberLoss(), {x, y}));
  all.push_back(network("BCELoss", nn::BCELoss(), {chances, bits}));
  all.push_back(network("BCEWithLogitsLoss", nn::BCEWithLogitsLoss(), {x, bits}));
  all.push_back(network("KLDivLoss", nn::KLDivLoss(), {x, chances}));
  all.push_back(network("CrossEntropyLoss", nn::CrossEntropyLoss(), {x, classes}));
  all.push_back(network("NLLLoss", nn::NLLLoss(), {x, classes}));
  all.push_back(network("PoissonNLLLoss", nn::PoissonNLLLoss(), {x, chances}));
  all.push_back(network("SoftMarginLoss", nn::SoftMarginLoss(), {x, sign_rows}));
  all.push_back(network("HingeEmbeddingLoss", nn::HingeEmbeddingLoss(), {x, sign_rows}));
  all.push_back(network("MultiLabelSoftMarginLoss", nn::MultiLabelSoftMarginLoss(), {x, bits}));
  all.push_back(network("MultiMarginLoss", nn::MultiMarginLoss(), {x, classes}));
  all.push_back(network("MultiLabelMarginLoss", nn::MultiLabelMarginLoss(),
                        {x, randint(0, 6, {3, 6}, kInt64)}));
  all.push_back(network("CosineEmbeddingLoss", nn::CosineEmbeddingLoss(), {x, y, signs}));
  all.push_back(network("MarginRankingLoss", nn::MarginRankingLoss(), {x, y, sign_rows}));
  all.push_back(network("TripletMarginLoss", nn::TripletMarginLoss(), {x, y, z}));
  all.push_back(
      network("TripletMarginWithDistanceLoss", nn::TripletMarginWithDistanceLoss(), {x, y, z}));
}

}  // namespace

std::vector<CapturedNetwork> captured_modules() {
  manual_seed(1);
  All all;
  add_activations(all);
  add_linear(all);
  add_bags(all);
  add_windows(all);
  add_convolutions(all);
  add_pools(all);
  add_norms(all);
  add_paddings(all);
  add_recurrent(all);
  add_transformers(all);
  add_losses(all);
  return all;
}
