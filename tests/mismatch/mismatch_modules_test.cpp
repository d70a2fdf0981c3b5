// DeviceMismatchError of forward() of every module that has tensors or two inputs.
#include <ambit/nn/nn.h>
#include <ambit/ops/creation.h>
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "mismatch.h"

using namespace ambit;
using namespace mismatch;

namespace {

using Tensors = std::vector<Tensor>;

// A module under the path "net.layer", and one call of it.
struct Layer {
  std::shared_ptr<nn::Module> module;
  std::string op;
  std::vector<std::string> names;  // names of the op's arguments, in order
  Tensors arguments;               // inputs, parameters and buffers
  std::function<void()> forward;
};

using Maker = std::function<Layer()>;

const Dims kImage{2, 2, 4, 4};
Tensor rows() { return ones({2, 3}); }
Tensor classes() { return zeros({2}, kInt64); }

// A module with one input: its weights and statistics are the op's next arguments.
template <class Module, class... Options>
Maker of_one(const char* op, const Dims& sizes, Options... options) {
  return [=] {
    const Module m(options...);
    const Tensor x = ones(sizes);
    Layer layer{m.ptr(), op, {"input", "weight"}, {x, m->weight}, [=] { m->forward(x); }};
    const auto then = [&](const char* name, const Tensor& t) {
      layer.names.push_back(name);
      layer.arguments.push_back(t);
    };
    if constexpr (requires { m->bias; }) then("bias", m->bias);
    if constexpr (requires { m->running_mean; }) {
      then("running_mean", m->running_mean);
      then("running_var", m->running_var);
    }
    return layer;
  };
}

// A module without parameters, with two or three inputs of one shape.
template <class Module>
Maker pair(const char* op, std::vector<std::string> names) {
  return [=] {
    const Module m;
    Tensors arguments;
    for (size_t i = 0; i < names.size(); ++i) arguments.push_back(ones({2, 3}));
    return Layer{m.ptr(), op, names, arguments, [=] {
                   if constexpr (requires { m->forward(arguments[0], arguments[1]); }) {
                     m->forward(arguments[0], arguments[1]);
                   } else {
                     m->forward(arguments[0], arguments[1], arguments[2]);
                   }
                 }};
  };
}

// A loss with weights of its three classes.
template <class Module, class Options>
Maker weighted_loss(const char* op, Tensor (*targets)()) {
  return [=] {
    const Module m(Options().weight(ones({3})));
    const Tensor x = rows(), target = targets();
    return Layer{m.ptr(), op, {"input", "target", "weight"}, {x, target, m->weight}, [=] {
                   m->forward(x, target);
                 }};
  };
}

template <class Module>
Maker unpooling(const char* op, size_t dims) {
  return [=] {
    const Module m(2);
    const Dims sizes(dims + 2, 2);
    const Tensor x = ones(sizes), indices = zeros(sizes, kInt64);
    return Layer{m.ptr(), op, {"input", "indices"}, {x, indices}, [=] { m->forward(x, indices); }};
  };
}

template <class Module>
Maker recurrent(const char* op) {
  return [=] {
    const Module m(3, 4);
    const Tensor x = ones({5, 2, 3});
    const Tensors w = m->all_weights();  // the first weight is the first tensor that differs
    return Layer{m.ptr(),
                 op,
                 {"input", "hx", "cx", "weights[0]", "weights[1]", "weights[2]", "weights[3]"},
                 {x, Tensor(), Tensor(), w[0], w[1], w[2], w[3]},
                 [=] { m->forward(x); }};
  };
}

template <class Module>
Maker cell(const char* op) {
  return [=] {
    const Module m(3, 4);
    const Tensor x = ones({2, 3});
    return Layer{m.ptr(),
                 op,
                 {"input", "hx", "cx", "weight_ih", "weight_hh", "bias_ih", "bias_hh"},
                 {x, Tensor(), Tensor(), m->weight_ih, m->weight_hh, m->bias_ih, m->bias_hh},
                 [=] { m->forward(x); }};
  };
}

// The other modules have no tensors and one input.
const std::map<std::string, Maker>& layers() {
  static const auto kInstances = nn::InstanceNormOptions(2).affine(true).track_running_stats(true);
  static const std::map<std::string, Maker> all{
      {"Linear", of_one<nn::Linear>("linear", {2, 2}, 2, 3)},
      {"Conv1d", of_one<nn::Conv1d>("conv1d", {4, 2, 4}, 2, 3, 3)},
      {"Conv2d", of_one<nn::Conv2d>("conv2d", {4, 2, 4, 4}, 2, 3, 3)},
      {"Conv3d", of_one<nn::Conv3d>("conv3d", {4, 2, 4, 4, 4}, 2, 3, 3)},
      {"ConvTranspose1d", of_one<nn::ConvTranspose1d>("conv_transpose1d", {4, 2, 4}, 2, 3, 3)},
      {"ConvTranspose2d", of_one<nn::ConvTranspose2d>("conv_transpose2d", {4, 2, 4, 4}, 2, 3, 3)},
      {"ConvTranspose3d",
       of_one<nn::ConvTranspose3d>("conv_transpose3d", {4, 2, 4, 4, 4}, 2, 3, 3)},
      {"BatchNorm1d", of_one<nn::BatchNorm1d>("batch_norm", {2, 2, 4}, 2)},
      {"BatchNorm2d", of_one<nn::BatchNorm2d>("batch_norm", kImage, 2)},
      {"BatchNorm3d", of_one<nn::BatchNorm3d>("batch_norm", {2, 2, 4, 2, 2}, 2)},
      {"InstanceNorm1d", of_one<nn::InstanceNorm1d>("instance_norm", {2, 2, 4}, kInstances)},
      {"InstanceNorm2d", of_one<nn::InstanceNorm2d>("instance_norm", kImage, kInstances)},
      {"InstanceNorm3d", of_one<nn::InstanceNorm3d>("instance_norm", {2, 2, 4, 2, 2}, kInstances)},
      {"LayerNorm", of_one<nn::LayerNorm>("layer_norm", kImage, nn::LayerNormOptions(4))},
      {"RMSNorm", of_one<nn::RMSNorm>("rms_norm", kImage, nn::RMSNormOptions(4))},
      {"GroupNorm", of_one<nn::GroupNorm>("group_norm", kImage, 1, 2)},
      {"PReLU", of_one<nn::PReLU>("prelu", kImage)},
      {"MaxUnpool1d", unpooling<nn::MaxUnpool1d>("max_unpool1d", 1)},
      {"MaxUnpool2d", unpooling<nn::MaxUnpool2d>("max_unpool2d", 2)},
      {"MaxUnpool3d", unpooling<nn::MaxUnpool3d>("max_unpool3d", 3)},
      {"Embedding",
       [] {
         nn::Embedding m(4, 2);
         const Tensor x = classes();
         return Layer{
             m.ptr(), "embedding", {"weight", "indices"}, {m->weight, x}, [=] { m->forward(x); }};
       }},
      {"CrossEntropyLoss",
       weighted_loss<nn::CrossEntropyLoss, nn::CrossEntropyLossOptions>("cross_entropy", classes)},
      {"NLLLoss", weighted_loss<nn::NLLLoss, nn::NLLLossOptions>("nll_loss", classes)},
      {"MultiMarginLoss", weighted_loss<nn::MultiMarginLoss, nn::MultiMarginLossOptions>(
                              "multi_margin_loss", classes)},
      {"BCELoss", weighted_loss<nn::BCELoss, nn::BCELossOptions>("binary_cross_entropy", rows)},
      {"MultiLabelSoftMarginLoss",
       weighted_loss<nn::MultiLabelSoftMarginLoss, nn::MultiLabelSoftMarginLossOptions>(
           "multilabel_soft_margin_loss", rows)},
      {"BCEWithLogitsLoss",
       [] {
         nn::BCEWithLogitsLoss m(
             nn::BCEWithLogitsLossOptions().weight(ones({3})).pos_weight(ones({3})));
         const Tensor x = ones({2, 3}), target = ones({2, 3});
         return Layer{m.ptr(),
                      "binary_cross_entropy_with_logits",
                      {"input", "target", "weight", "pos_weight"},
                      {x, target, m->weight, m->pos_weight},
                      [=] { m->forward(x, target); }};
       }},
      {"MSELoss", pair<nn::MSELoss>("mse_loss", {"input", "target"})},
      {"L1Loss", pair<nn::L1Loss>("l1_loss", {"input", "target"})},
      {"SmoothL1Loss", pair<nn::SmoothL1Loss>("smooth_l1_loss", {"input", "target"})},
      {"HuberLoss", pair<nn::HuberLoss>("huber_loss", {"input", "target"})},
      {"SoftMarginLoss", pair<nn::SoftMarginLoss>("soft_margin_loss", {"input", "target"})},
      {"HingeEmbeddingLoss",
       pair<nn::HingeEmbeddingLoss>("hinge_embedding_loss", {"input", "target"})},
      {"PoissonNLLLoss", pair<nn::PoissonNLLLoss>("poisson_nll_loss", {"input", "target"})},
      {"KLDivLoss", pair<nn::KLDivLoss>("kl_div", {"input", "target"})},
      {"MultiLabelMarginLoss",
       pair<nn::MultiLabelMarginLoss>("multilabel_margin_loss", {"input", "target"})},
      {"MarginRankingLoss",
       pair<nn::MarginRankingLoss>("margin_ranking_loss", {"input1", "input2", "target"})},
      {"CosineEmbeddingLoss",
       pair<nn::CosineEmbeddingLoss>("cosine_embedding_loss", {"input1", "input2", "target"})},
      {"TripletMarginLoss",
       pair<nn::TripletMarginLoss>("triplet_margin_loss", {"anchor", "positive", "negative"})},
      {"TripletMarginWithDistanceLoss",
       pair<nn::TripletMarginWithDistanceLoss>("triplet_margin_with_distance_loss",
                                               {"anchor", "positive", "negative"})},
      {"CosineSimilarity", pair<nn::CosineSimilarity>("cosine_similarity", {"x1", "x2"})},
      {"PairwiseDistance", pair<nn::PairwiseDistance>("pairwise_distance", {"x1", "x2"})},
      {"AdaptiveLogSoftmaxWithLoss",
       [] {
         nn::AdaptiveLogSoftmaxWithLoss m(4, 5, std::vector<int64_t>{2});
         const Tensor x = ones({2, 4}), target = classes();
         const std::vector<Tensor> w = m->parameters();
         return Layer{m.ptr(),
                      "adaptive_log_softmax",
                      {"input", "target", "weights[0]", "weights[1]", "weights[2]"},
                      {x, target, w[0], w[1], w[2]},
                      [=] { m->forward(x, target); }};
       }},
      {"CTCLoss",
       [] {
         const nn::CTCLoss m;
         const Tensor x = ones({3, 2, 4}), target = ones({2, 1}, kInt64), in = full({2}, 3, kInt64),
                      out = ones({2}, kInt64);
         return Layer{m.ptr(),
                      "ctc_loss",
                      {"log_probs", "targets", "input_lengths", "target_lengths"},
                      {x, target, in, out},
                      [=] { m->forward(x, target, in, out); }};
       }},
      {"Bilinear",
       [] {
         nn::Bilinear m(2, 3, 4);
         const Tensor x = ones({5, 2}), y = ones({5, 3});
         return Layer{m.ptr(),
                      "bilinear",
                      {"input1", "input2", "weight", "bias"},
                      {x, y, m->weight, m->bias},
                      [=] { m->forward(x, y); }};
       }},
      {"MultiheadAttention",
       [] {
         nn::MultiheadAttention m(4, 2);
         const Tensor x = ones({5, 2, 4}), y = ones({3, 2, 4}), z = ones({3, 2, 4});
         return Layer{m.ptr(),
                      "multi_head_attention",
                      {"query", "key", "value", "key_padding_mask", "attn_mask", "weights[0]",
                       "weights[1]", "weights[2]", "weights[3]"},
                      {x, y, z, Tensor(), Tensor(), m->in_proj_weight, m->in_proj_bias,
                       m->out_proj->weight, m->out_proj->bias},
                      [=] { m->forward(x, y, z); }};
       }},
      {"RNN", recurrent<nn::RNN>("rnn")},
      {"LSTM", recurrent<nn::LSTM>("lstm")},
      {"GRU", recurrent<nn::GRU>("gru")},
      {"RNNCell", cell<nn::RNNCell>("rnn_cell")},
      {"LSTMCell", cell<nn::LSTMCell>("lstm_cell")},
      {"GRUCell", cell<nn::GRUCell>("gru_cell")},
  };
  return all;
}

std::set<std::string> set_of(const std::string& line) {
  const std::vector<std::string> words = words_of(line);
  return {words.begin(), words.end()};
}

const std::set<std::string> kTakesOneTensor = set_of(
    "ConstantPad1d ConstantPad2d ConstantPad3d ReflectionPad1d ReflectionPad2d "
    "ReflectionPad3d ReplicationPad1d ReplicationPad2d ReplicationPad3d ZeroPad1d "
    "ZeroPad2d ZeroPad3d PixelShuffle PixelUnshuffle Unflatten LocalResponseNorm "
    "CrossMapLRN2d Dropout2d Dropout3d AlphaDropout FeatureAlphaDropout ELU SELU CELU "
    "LeakyReLU RReLU ReLU6 Hardtanh SiLU Mish Softplus LogSigmoid Softsign Tanhshrink "
    "Hardshrink Softshrink Threshold GLU Softmin Softmax2d ReLU Sigmoid Tanh GELU Softmax "
    "LogSoftmax MaxPool2d AvgPool2d AdaptiveAvgPool2d AdaptiveAvgPool1d AdaptiveAvgPool3d "
    "AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d AvgPool1d AvgPool3d Fold "
    "FractionalMaxPool2d FractionalMaxPool3d LPPool1d LPPool2d LPPool3d MaxPool1d "
    "MaxPool3d Unfold Upsample Dropout Functional Flatten Identity");
const std::set<std::string> kHoldsModules = set_of(
    "ModuleList ModuleDict ParameterList ParameterDict Transformer TransformerEncoder "
    "TransformerDecoder TransformerEncoderLayer TransformerDecoderLayer");

// The modules that nn's headers define by AMBIT_MODULE.
std::set<std::string> declared_modules() {
  std::set<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(AMBIT_NN_HEADERS)) {
    std::ifstream in(file.path());
    static const std::regex module(R"(^AMBIT_MODULE\((\w+)\);)");
    std::smatch match;
    for (std::string line; std::getline(in, line);) {
      if (std::regex_search(line, match, module)) names.insert(match[1]);
    }
  }
  return names;
}

struct Root : nn::Module {
  using Module::Module;
};

void move(const Tensor& t, Device device) { t.set_data(t.detach().to(device)); }

void check_layer(const Maker& make, TwoDevices devices, size_t elsewhere) {
  const Layer layer = make();
  if (!layer.arguments[elsewhere].defined()) return;
  if (layer.names[elsewhere].ends_with("_lengths") && devices.there.is_cpu())
    return;  // these may be on the cpu
  size_t second = 1;
  while (!layer.arguments[second].defined()) ++second;
  const auto net = std::make_shared<Root>("Net");
  net->register_module("layer", layer.module);
  Root root("Root");
  root.register_module("net", net);
  for (const Tensor& t : root.parameters()) CHECK(t.name().starts_with("net.layer."));
  for (const Tensor& t : root.buffers()) CHECK(t.name().starts_with("net.layer."));
  for (size_t i = 0; i < layer.arguments.size(); ++i) {
    if (!layer.arguments[i].defined()) continue;
    move(layer.arguments[i], i == elsewhere ? devices.there : devices.here);
  }
  INFO(layer.op, ", ", layer.names[elsewhere], " on ", devices.there.str(), ", others on ",
       devices.here.str());
  check_refused(layer.forward,
                {layer.op, layer.names, layer.arguments, 0, elsewhere == 0 ? second : elsewhere},
                root.buffers());
}

}  // namespace

TEST_CASE("the mismatch tests have every module of nn") {
  const std::set<std::string> declared = declared_modules();
  REQUIRE(declared.size() > 15);
  for (const std::string& name : declared) {
    INFO(name);
    CHECK(layers().count(name) + kTakesOneTensor.count(name) + kHoldsModules.count(name) == 1);
  }
}

TEST_CASE("every module refuses an input, parameter or buffer on another device") {
  const CountingDevices counting;
  for (const auto& [name, make] : layers()) {
    for (const TwoDevices& devices : device_pairs()) {
      for (size_t i = 0; i < make().arguments.size(); ++i) check_layer(make, devices, i);
    }
  }
}
