#include "captured_networks.h"

#include <ambit/autograd.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/reduce.h>
#include <ambit/random.h>

#include "apps/zoo/models/gpt.h"
#include "apps/zoo/models/lstm.h"
#include "apps/zoo/models/resnet.h"
#include "apps/zoo/models/unet.h"

using namespace ambit;
namespace F = nn::functional;

std::vector<Tensor> CapturedNetwork::run(const std::vector<Tensor>& in) const {
  const NoGradGuard no_grad;
  return forward(in);
}

std::vector<Tensor> CapturedNetwork::other_inputs() const {
  std::vector<Tensor> out;
  for (const Tensor& t : inputs) out.push_back(t.is_floating_point() ? t * 0.5 + 0.25 : t);
  return out;
}

namespace {

std::vector<Tensor> list(const std::tuple<Tensor, Tensor>& t) {
  return {std::get<0>(t), std::get<1>(t)};
}

void add_layers(std::vector<CapturedNetwork>& all) {
  const Tensor image = randn({2, 4, 8, 8}), rows = randn({3, 6}), steps = randn({5, 2, 6});
  const auto add = [&](CapturedNetwork e) { all.push_back(std::move(e)); };
  add(sequence("mlp", rows, nn::Linear(6, 8), nn::ReLU(), nn::Dropout(0.5), nn::Linear(8, 3),
               nn::Softmax(1)));
  add(sequence("conv1d", randn({2, 4, 9}), nn::Conv1d(nn::Conv1dOptions(4, 6, 3).padding(1)),
               nn::BatchNorm1d(6), nn::ELU(), nn::MaxPool1d(2), nn::AvgPool1d(2)));
  add(sequence("conv2d", image,
               nn::Conv2d(nn::Conv2dOptions(4, 8, 3).stride(2).padding(1).groups(2)),
               nn::BatchNorm2d(8), nn::ReLU(), nn::MaxPool2d(2), nn::Flatten(), nn::Linear(32, 5),
               nn::LogSoftmax(1)));
  add(sequence("conv3d", randn({1, 2, 4, 6, 6}), nn::Conv3d(2, 4, 3), nn::BatchNorm3d(4),
               nn::LeakyReLU(), nn::AvgPool3d(2)));
  add(sequence("conv_transpose1d", randn({2, 4, 5}),
               nn::ConvTranspose1d(nn::ConvTranspose1dOptions(4, 3, 3).stride(2).padding(1)),
               nn::Tanh()));
  add(sequence("conv_transpose2d", image,
               nn::ConvTranspose2d(
                   nn::ConvTranspose2dOptions(4, 3, 3).stride(2).padding(1).output_padding(1)),
               nn::Sigmoid()));
  add(sequence("adaptive_pools", image, nn::AdaptiveMaxPool2d(5), nn::GELU(),
               nn::AdaptiveAvgPool2d(2)));
  add(sequence("activations", rows, nn::SiLU(), nn::Mish(), nn::SELU(), nn::CELU(), nn::Softplus(),
               nn::Hardtanh(), nn::LogSigmoid(), nn::ReLU6(), nn::Softsign(), nn::Tanhshrink(),
               nn::Softshrink(), nn::Hardshrink(), nn::PReLU(), nn::GLU()));
  add(sequence("norms", image, nn::GroupNorm(2, 4), nn::InstanceNorm2d(4),
               nn::LayerNorm(nn::LayerNormOptions({8, 8})), nn::LocalResponseNorm(2)));
  add(sequence("padded", image, nn::ReflectionPad2d(1), nn::ReplicationPad2d(1), nn::ZeroPad2d(2),
               nn::PixelShuffle(2)));
  add(sequence("upsampled", image,
               nn::Upsample(nn::UpsampleOptions().scale_factor(std::vector<double>{2, 2})),
               nn::Upsample(nn::UpsampleOptions()
                                .size(std::vector<int64_t>{7, 9})
                                .mode(kBilinear)
                                .align_corners(false))));
  add(network("embedding", nn::Embedding(10, 4), {randint(0, 10, {2, 3}, kInt64)},
              [](const auto& net, TensorList in) {
                return std::vector<Tensor>{net->forward(in[0]).mean(1)};
              }));
  add(network("lstm", nn::LSTM(nn::LSTMOptions(6, 4).num_layers(2).bidirectional(true)), {steps},
              [](const auto& net, TensorList in) {
                const auto [y, state] = net->forward(in[0]);
                return std::vector<Tensor>{y, std::get<0>(state), std::get<1>(state)};
              }));
  add(network("gru", nn::GRU(nn::GRUOptions(6, 4).batch_first(true)), {steps},
              [](const auto& net, TensorList in) { return list(net->forward(in[0])); }));
  add(network("rnn", nn::RNN(6, 4), {steps},
              [](const auto& net, TensorList in) { return list(net->forward(in[0])); }));
  add(network(
      "attention", nn::MultiheadAttention(6, 2), {steps},
      [](const auto& net, TensorList in) { return list(net->forward(in[0], in[0], in[0])); }));
  nn::TransformerEncoderLayer layer(nn::TransformerEncoderLayerOptions(6, 2).dim_feedforward(8));
  add(network("transformer", layer, {steps}, [](const auto& net, TensorList in) {
    return std::vector<Tensor>{net->forward(in[0])};
  }));
  const Tensor classes = randint(0, 6, {3}, kInt64), target = randn({3, 6});
  add(network("losses", nn::Linear(6, 6), {rows, classes, target},
              [](const auto& net, TensorList in) {
                const Tensor y = net->forward(in[0]);
                return std::vector<Tensor>{F::cross_entropy(y, in[1]),
                                           F::nll_loss(F::log_softmax(y, 1), in[1]),
                                           F::mse_loss(y, in[2]),
                                           F::l1_loss(y, in[2]),
                                           F::smooth_l1_loss(y, in[2]),
                                           F::huber_loss(y, in[2]),
                                           F::binary_cross_entropy_with_logits(y, in[2].sigmoid()),
                                           F::kl_div(F::log_softmax(y, 1), in[2].softmax(1)),
                                           F::cosine_similarity(y, in[2])};
              }));
  add(network("shapes", nn::Linear(6, 6), {rows}, [](const auto& net, TensorList in) {
    const Tensor y = net->forward(in[0]);
    const std::vector<Tensor> halves = y.chunk(2, 1);
    const Tensor grid = y.view({3, 2, 3}).transpose(0, 2);
    Tensor changed = y.clone();
    changed.slice(1, 1, 3).mul_(2);
    return std::vector<Tensor>{cat({halves[1], halves[0]}, 1),
                               stack({halves[0], halves[1]}),
                               grid.contiguous().sum(1),
                               y.unsqueeze(1).expand({3, 2, 6}) + 1,
                               changed,
                               y.select(0, 1).max(),
                               std::get<0>(y.topk(2)),
                               y.slice(1, 0, 6, 2).argmax(1),
                               y.std(1),
                               where(y > 0, y, zeros_like(y))};
  }));
}

struct ResidualImpl : nn::Module {
  nn::Linear fc1{register_module("fc1", nn::Linear(6, 12))};
  nn::Linear fc2{register_module("fc2", nn::Linear(12, 6))};
  nn::LayerNorm norm{register_module("norm", nn::LayerNorm(nn::LayerNormOptions({6})))};
  Tensor forward(const Tensor& x) { return norm(x + fc2(F::gelu(fc1(x)))); }
};
AMBIT_MODULE(Residual);

// Weights for each channel from means of all pixels.
struct SqueezeImpl : nn::Module {
  nn::Conv2d down{register_module("down", nn::Conv2d(4, 2, 1))};
  nn::Conv2d up{register_module("up", nn::Conv2d(2, 4, 1))};
  Tensor forward(const Tensor& x) {
    return x * up(relu(down(adaptive_avg_pool2d(x, {1, 1})))).sigmoid();
  }
};
AMBIT_MODULE(Squeeze);

struct InceptionImpl : nn::Module {
  nn::Conv2d small{register_module("small", nn::Conv2d(4, 3, 1))};
  nn::Conv2d large{register_module("large", nn::Conv2d(nn::Conv2dOptions(4, 3, 5).padding(2)))};
  Tensor forward(const Tensor& x) {
    const Tensor pooled = F::max_pool2d(x, 3, 1, 1);
    return cat({small(x), large(x), pooled}, 1);
  }
};
AMBIT_MODULE(Inception);

// The distance of two inputs with the same weights.
struct SiameseImpl : nn::Module {
  nn::Linear embed{register_module("embed", nn::Linear(6, 4))};
  Tensor forward(const Tensor& a, const Tensor& b) { return (embed(a) - embed(b)).abs().sum(1); }
};
AMBIT_MODULE(Siamese);

struct AutoencoderImpl : nn::Module {
  nn::Linear encode{register_module("encode", nn::Linear(6, 4))};
  nn::Linear decode{register_module("decode", nn::Linear(2, 6))};
  std::tuple<Tensor, Tensor, Tensor> forward(const Tensor& x) {
    const std::vector<Tensor> parts = encode(x).chunk(2, 1);
    return {decode(parts[0]).sigmoid(), parts[0], exp(parts[1] * 0.5)};
  }
};
AMBIT_MODULE(Autoencoder);

struct MaskedAttentionImpl : nn::Module {
  nn::Linear qkv{register_module("qkv", nn::Linear(8, 24))};
  Tensor forward(const Tensor& x, const Tensor& mask) {  // x [B,T,8], mask bool [T,T]
    const int64_t batch = x.size(0), steps = x.size(1);
    const std::vector<Tensor> parts = qkv(x).view({batch, steps, 3, 2, 4}).unbind(2);
    const auto heads = [](const Tensor& t) { return t.transpose(1, 2); };
    const Tensor y =
        scaled_dot_product_attention(heads(parts[0]), heads(parts[1]), heads(parts[2]), mask);
    return y.transpose(1, 2).reshape({batch, steps, 8});
  }
};
AMBIT_MODULE(MaskedAttention);

// A vision transformer of patches of two by two pixels.
struct PatchesImpl : nn::Module {
  nn::Linear embed{register_module("embed", nn::Linear(16, 8))};
  Tensor positions = register_parameter("positions", 0.1 * randn({16, 1, 8}));
  nn::TransformerEncoder encoder{register_module(
      "encoder", nn::TransformerEncoder(nn::TransformerEncoderOptions(
                     nn::TransformerEncoderLayerOptions(8, 2).dim_feedforward(16), 2)))};
  nn::Linear head{register_module("head", nn::Linear(8, 3))};
  Tensor forward(const Tensor& x) {  // [N,4,8,8]
    const int64_t n = x.size(0);
    const Tensor patches = x.view({n, 4, 4, 2, 4, 2}).permute({2, 4, 0, 1, 3, 5});
    return head(encoder(embed(patches.reshape({16, n, 16})) + positions).mean({0}));
  }
};
AMBIT_MODULE(Patches);

nn::Conv2d depthwise(int64_t channels) {
  return nn::Conv2d(nn::Conv2dOptions(channels, channels, 3).padding(1).groups(channels));
}

void add_networks(std::vector<CapturedNetwork>& all) {
  const Tensor image = randn({2, 4, 8, 8}), rows = randn({3, 6}), steps = randn({5, 2, 6});
  const auto add = [&](CapturedNetwork e) { all.push_back(std::move(e)); };
  add(network("resnet", zoo::ResNet(5, 4), {randn({1, 3, 16, 16})}));
  add(network(
      "gpt",
      zoo::GPT(zoo::GPTConfig{.vocabulary = 11, .block = 8, .layers = 2, .heads = 2, .width = 8}),
      {randint(0, 11, {2, 6}, kInt64)}));
  add(network("unet", zoo::UNet(3, 2, 4, 2), {randn({1, 3, 16, 16})}));
  add(network("lstm_model", zoo::LSTMModel(9, 6, 5, 2), {randint(0, 9, {4, 2}, kInt64)},
              [](const auto& net, TensorList in) {
                const auto [y, state] = net->forward(in[0]);
                return std::vector<Tensor>{y, std::get<0>(state)};
              }));
  add(network("residual", Residual(), {rows}));
  add(network("squeeze", Squeeze(), {image}));
  add(network("inception", Inception(), {image}));
  add(network("siamese", Siamese(), {rows, randn({3, 6})}));
  add(network("autoencoder", Autoencoder(), {rows}, [](const auto& net, TensorList in) {
    const auto [y, mean, deviation] = net->forward(in[0]);
    return std::vector<Tensor>{y, mean, deviation};
  }));
  add(network("masked_attention", MaskedAttention(),
              {randn({2, 5, 8}), tril(ones({5, 5})).to(kBool)}));
  Tensor blind = tril(ones({5, 5})).to(kBool);
  blind.select(0, 2).zero_();  // a query that attends to no key
  add(network("blind_attention", MaskedAttention(), {randn({2, 5, 8}), blind}));
  add(network("patches", Patches(), {image}));
  add(sequence("mobile", image, nn::Conv2d(nn::Conv2dOptions(4, 8, 1).bias(false)),
               nn::BatchNorm2d(8), nn::ReLU6(), depthwise(8), nn::BatchNorm2d(8), nn::ReLU6(),
               nn::Conv2d(8, 4, 1)));
  add(sequence("lenet", randn({2, 1, 16, 16}), nn::Conv2d(1, 4, 5), nn::Tanh(), nn::AvgPool2d(2),
               nn::Conv2d(4, 6, 3), nn::Tanh(), nn::Flatten(), nn::Linear(96, 10)));
  add(sequence("vgg", randn({1, 3, 16, 16}), nn::Conv2d(nn::Conv2dOptions(3, 4, 3).padding(1)),
               nn::ReLU(), nn::Conv2d(nn::Conv2dOptions(4, 4, 3).padding(1)), nn::ReLU(),
               nn::MaxPool2d(2), nn::Conv2d(nn::Conv2dOptions(4, 8, 3).padding(1)), nn::ReLU(),
               nn::MaxPool2d(2), nn::AdaptiveAvgPool2d(3), nn::Flatten(), nn::Dropout(),
               nn::Linear(72, 4)));
  add(sequence("generator", randn({2, 6, 1, 1}),
               nn::ConvTranspose2d(nn::ConvTranspose2dOptions(6, 8, 4).bias(false)),
               nn::BatchNorm2d(8), nn::ReLU(),
               nn::ConvTranspose2d(nn::ConvTranspose2dOptions(8, 3, 4).stride(2).padding(1)),
               nn::Tanh()));
  add(sequence("discriminator", randn({2, 3, 8, 8}),
               nn::Conv2d(nn::Conv2dOptions(3, 8, 4).stride(2).padding(1)),
               nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.2)), nn::BatchNorm2d(8),
               nn::Conv2d(8, 1, 4), nn::Flatten(), nn::Sigmoid()));
  add(sequence("style", image, nn::ReflectionPad2d(1), nn::Conv2d(4, 4, 3),
               nn::InstanceNorm2d(nn::InstanceNorm2dOptions(4).affine(true)), nn::ReLU(),
               nn::Upsample(nn::UpsampleOptions().scale_factor(std::vector<double>{2, 2})),
               nn::Conv2d(4, 3, 3)));
  add(sequence("fractions", image, nn::Conv2d(4, 4, 3),
               nn::Upsample(nn::UpsampleOptions().scale_factor(std::vector<double>{1.7, 2.5}))));
  add(sequence("super_resolution", image, nn::Conv2d(nn::Conv2dOptions(4, 12, 3).padding(1)),
               nn::ReLU(), nn::PixelShuffle(2)));
  add(sequence("wave", randn({1, 2, 12}),
               nn::Conv1d(nn::Conv1dOptions(2, 4, 3).dilation(2).padding(2)), nn::Tanh(),
               nn::GroupNorm(2, 4), nn::Conv1d(4, 2, 1), nn::Softmax(1)));
}

void add_functions(std::vector<CapturedNetwork>& all) {
  nn::Conv2d conv(3, 4, 3);
  all.push_back(network("maps", conv, {randn({2, 3, 8, 8})}, [](const auto& net, TensorList in) {
    const Tensor y = net->forward(in[0]);
    return std::vector<Tensor>{y.atan(),         y.expm1(),          y.log1p().nan_to_num(),
                               y.remainder(0.7), y.fmod(0.7),        y.floor_divide(2),
                               y.sign(),         y.clamp(-0.1, 0.2), y.round(),
                               y.trunc(),        y.abs().pow(1.5),   y.lerp(y * 2, 0.3),
                               y.to(kInt64) * 3, y.to(kFloat64) * 2};
  }));
  all.push_back(
      network("reductions", conv, {randn({2, 3, 8, 8})}, [](const auto& net, TensorList in) {
        const Tensor y = net->forward(in[0]);
        return std::vector<Tensor>{y.argmax(1),
                                   y.cumsum(2),
                                   y.norm(2, 1),
                                   y.logsumexp(1),
                                   y.var(1),
                                   (y > 0).any(1),
                                   (y > 0).all(1),
                                   y.prod(1),
                                   y.amax({1, 2}),
                                   y.to(kInt32).sum(),
                                   std::get<0>(y.sort(2, true)),
                                   std::get<1>(y.topk(2, 1))};
      }));
  all.push_back(network("parts", conv, {randn({2, 3, 8, 8})}, [](const auto& net, TensorList in) {
    const Tensor y = net->forward(in[0]);
    return std::vector<Tensor>{
        y.flip({2}), y.roll(1, 2),           y.index_select(1, tensor({1, 0})),
        y.tril(),    y.repeat({1, 2, 1, 1}), y.masked_fill(y < 0, 3.0)};
  }));
}

}  // namespace

std::vector<CapturedNetwork> captured_networks() {
  manual_seed(0);
  std::vector<CapturedNetwork> all;
  add_layers(all);
  add_networks(all);
  add_functions(all);
  return all;
}
