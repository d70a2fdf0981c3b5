// DeviceMismatchError beyond single ops: through the forward() of every module that holds tensors
// or takes two, in backward (gradients that are given, returned by hooks and custom functions, or
// left from before), and in the optimizers.
#include <ambit/ambit.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>

#include "mismatch.h"

using namespace ambit;
using namespace mismatch;

namespace {

using Tensors = std::vector<Tensor>;

// A module under the path "net.layer", and one call of it.
struct Layer {
  std::shared_ptr<nn::Module> module;
  std::string op;
  std::vector<std::string> names;  // of the op's arguments, in its order
  Tensors arguments;               // inputs, parameters and buffers
  std::function<void()> forward;
};

using Maker = std::function<Layer()>;

Tensor image() { return ones({2, 2, 4, 4}); }
Tensor classes() { return zeros({2}, kInt64); }

// A module without parameters that takes two or three tensors of one shape.
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

template <class Module>
Maker convolution(const char* op, size_t dims) {
  return [=] {
    const Module m(2, 3, 3);
    Dims sizes(dims + 2, 4);
    sizes[1] = 2;
    const Tensor x = ones(sizes);
    return Layer{
        m.ptr(), op, {"input", "weight", "bias"}, {x, m->weight, m->bias}, [=] { m->forward(x); }};
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

// Those left out hold no tensors and take one.
const std::map<std::string, Maker>& layers() {
  static const std::map<std::string, Maker> all{
      {"Linear",
       [] {
         nn::Linear m(2, 3);
         const Tensor x = ones({2, 2});
         return Layer{m.ptr(), "linear", {"input", "weight", "bias"}, {x, m->weight, m->bias}, [=] {
                        m->forward(x);
                      }};
       }},
      {"Conv1d", convolution<nn::Conv1d>("conv1d", 1)},
      {"Conv2d", convolution<nn::Conv2d>("conv2d", 2)},
      {"Conv3d", convolution<nn::Conv3d>("conv3d", 3)},
      {"ConvTranspose1d", convolution<nn::ConvTranspose1d>("conv_transpose1d", 1)},
      {"ConvTranspose2d", convolution<nn::ConvTranspose2d>("conv_transpose2d", 2)},
      {"ConvTranspose3d", convolution<nn::ConvTranspose3d>("conv_transpose3d", 3)},
      {"MaxUnpool1d", unpooling<nn::MaxUnpool1d>("max_unpool1d", 1)},
      {"MaxUnpool2d", unpooling<nn::MaxUnpool2d>("max_unpool2d", 2)},
      {"MaxUnpool3d", unpooling<nn::MaxUnpool3d>("max_unpool3d", 3)},
      {"BatchNorm2d",
       [] {
         nn::BatchNorm2d m(2);
         const Tensor x = image();
         return Layer{m.ptr(),
                      "batch_norm",
                      {"input", "weight", "bias", "running_mean", "running_var"},
                      {x, m->weight, m->bias, m->running_mean, m->running_var},
                      [=] { m->forward(x); }};
       }},
      {"Embedding",
       [] {
         nn::Embedding m(4, 2);
         const Tensor x = classes();
         return Layer{
             m.ptr(), "embedding", {"weight", "indices"}, {m->weight, x}, [=] { m->forward(x); }};
       }},
      {"CrossEntropyLoss",
       [] {
         nn::CrossEntropyLoss m(nn::CrossEntropyLossOptions().weight(ones({3})));
         const Tensor x = ones({2, 3}), target = classes();
         return Layer{
             m.ptr(), "cross_entropy", {"input", "target", "weight"}, {x, target, m->weight}, [=] {
               m->forward(x, target);
             }};
       }},
      {"NLLLoss",
       [] {
         nn::NLLLoss m(nn::NLLLossOptions().weight(ones({3})));
         const Tensor x = ones({2, 3}), target = classes();
         return Layer{
             m.ptr(), "nll_loss", {"input", "target", "weight"}, {x, target, m->weight}, [=] {
               m->forward(x, target);
             }};
       }},
      {"MSELoss",
       [] {
         nn::MSELoss m;
         const Tensor x = ones({2, 3}), target = ones({2, 3});
         return Layer{
             m.ptr(), "mse_loss", {"input", "target"}, {x, target}, [=] { m->forward(x, target); }};
       }},
      {"BatchNorm1d",
       [] {
         nn::BatchNorm1d m(2);
         const Tensor x = ones({2, 2, 4});
         return Layer{m.ptr(),
                      "batch_norm",
                      {"input", "weight", "bias", "running_mean", "running_var"},
                      {x, m->weight, m->bias, m->running_mean, m->running_var},
                      [=] { m->forward(x); }};
       }},
      {"BatchNorm3d",
       [] {
         nn::BatchNorm3d m(2);
         const Tensor x = ones({2, 2, 4, 2, 2});
         return Layer{m.ptr(),
                      "batch_norm",
                      {"input", "weight", "bias", "running_mean", "running_var"},
                      {x, m->weight, m->bias, m->running_mean, m->running_var},
                      [=] { m->forward(x); }};
       }},
      {"LayerNorm",
       [] {
         nn::LayerNorm m(nn::LayerNormOptions(4));
         const Tensor x = image();
         return Layer{
             m.ptr(), "layer_norm", {"input", "weight", "bias"}, {x, m->weight, m->bias}, [=] {
               m->forward(x);
             }};
       }},
      {"RMSNorm",
       [] {
         nn::RMSNorm m(nn::RMSNormOptions(4));
         const Tensor x = image();
         return Layer{
             m.ptr(), "rms_norm", {"input", "weight"}, {x, m->weight}, [=] { m->forward(x); }};
       }},
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
      {"GroupNorm",
       [] {
         nn::GroupNorm m(1, 2);
         const Tensor x = image();
         return Layer{
             m.ptr(), "group_norm", {"input", "weight", "bias"}, {x, m->weight, m->bias}, [=] {
               m->forward(x);
             }};
       }},
      {"InstanceNorm1d",
       [] {
         nn::InstanceNorm1d m(nn::InstanceNormOptions(2).affine(true).track_running_stats(true));
         const Tensor x = ones({2, 2, 4});
         return Layer{m.ptr(),
                      "instance_norm",
                      {"input", "weight", "bias", "running_mean", "running_var"},
                      {x, m->weight, m->bias, m->running_mean, m->running_var},
                      [=] { m->forward(x); }};
       }},
      {"InstanceNorm2d",
       [] {
         nn::InstanceNorm2d m(nn::InstanceNormOptions(2).affine(true).track_running_stats(true));
         const Tensor x = image();
         return Layer{m.ptr(),
                      "instance_norm",
                      {"input", "weight", "bias", "running_mean", "running_var"},
                      {x, m->weight, m->bias, m->running_mean, m->running_var},
                      [=] { m->forward(x); }};
       }},
      {"InstanceNorm3d",
       [] {
         nn::InstanceNorm3d m(nn::InstanceNormOptions(2).affine(true).track_running_stats(true));
         const Tensor x = ones({2, 2, 4, 2, 2});
         return Layer{m.ptr(),
                      "instance_norm",
                      {"input", "weight", "bias", "running_mean", "running_var"},
                      {x, m->weight, m->bias, m->running_mean, m->running_var},
                      [=] { m->forward(x); }};
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
      {"PReLU",
       [] {
         nn::PReLU m;
         const Tensor x = image();
         return Layer{
             m.ptr(), "prelu", {"input", "weight"}, {x, m->weight}, [=] { m->forward(x); }};
       }},
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
      {"BCELoss",
       [] {
         nn::BCELoss m(nn::BCELossOptions().weight(ones({3})));
         const Tensor x = ones({2, 3}), target = ones({2, 3});
         return Layer{m.ptr(),
                      "binary_cross_entropy",
                      {"input", "target", "weight"},
                      {x, target, m->weight},
                      [=] { m->forward(x, target); }};
       }},
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
      {"MultiLabelSoftMarginLoss",
       [] {
         nn::MultiLabelSoftMarginLoss m(nn::MultiLabelSoftMarginLossOptions().weight(ones({3})));
         const Tensor x = ones({2, 3}), target = ones({2, 3});
         return Layer{m.ptr(),
                      "multilabel_soft_margin_loss",
                      {"input", "target", "weight"},
                      {x, target, m->weight},
                      [=] { m->forward(x, target); }};
       }},
      {"MultiMarginLoss",
       [] {
         nn::MultiMarginLoss m(nn::MultiMarginLossOptions().weight(ones({3})));
         const Tensor x = ones({2, 3}), target = classes();
         return Layer{m.ptr(),
                      "multi_margin_loss",
                      {"input", "target", "weight"},
                      {x, target, m->weight},
                      [=] { m->forward(x, target); }};
       }},
      {"RNN",
       [] {
         nn::RNN m(3, 4);
         const Tensor x = ones({5, 2, 3});
         // Of the list of weights the first that differs is the one.
         return Layer{m.ptr(),
                      "rnn",
                      {"input", "hx", "cx", "weights[0]", "weights[1]", "weights[2]", "weights[3]"},
                      {x, Tensor(), Tensor(), m->all_weights()[0], m->all_weights()[1],
                       m->all_weights()[2], m->all_weights()[3]},
                      [=] { m->forward(x); }};
       }},
      {"LSTM",
       [] {
         nn::LSTM m(3, 4);
         const Tensor x = ones({5, 2, 3});
         // Of the list of weights the first that differs is the one.
         return Layer{m.ptr(),
                      "lstm",
                      {"input", "hx", "cx", "weights[0]", "weights[1]", "weights[2]", "weights[3]"},
                      {x, Tensor(), Tensor(), m->all_weights()[0], m->all_weights()[1],
                       m->all_weights()[2], m->all_weights()[3]},
                      [=] { m->forward(x); }};
       }},
      {"GRU",
       [] {
         nn::GRU m(3, 4);
         const Tensor x = ones({5, 2, 3});
         // Of the list of weights the first that differs is the one.
         return Layer{m.ptr(),
                      "gru",
                      {"input", "hx", "cx", "weights[0]", "weights[1]", "weights[2]", "weights[3]"},
                      {x, Tensor(), Tensor(), m->all_weights()[0], m->all_weights()[1],
                       m->all_weights()[2], m->all_weights()[3]},
                      [=] { m->forward(x); }};
       }},
      {"RNNCell",
       [] {
         nn::RNNCell m(3, 4);
         const Tensor x = ones({2, 3});
         return Layer{m.ptr(),
                      "rnn_cell",
                      {"input", "hx", "cx", "weight_ih", "weight_hh", "bias_ih", "bias_hh"},
                      {x, Tensor(), Tensor(), m->weight_ih, m->weight_hh, m->bias_ih, m->bias_hh},
                      [=] { m->forward(x); }};
       }},
      {"LSTMCell",
       [] {
         nn::LSTMCell m(3, 4);
         const Tensor x = ones({2, 3});
         return Layer{m.ptr(),
                      "lstm_cell",
                      {"input", "hx", "cx", "weight_ih", "weight_hh", "bias_ih", "bias_hh"},
                      {x, Tensor(), Tensor(), m->weight_ih, m->weight_hh, m->bias_ih, m->bias_hh},
                      [=] { m->forward(x); }};
       }},
      {"GRUCell",
       [] {
         nn::GRUCell m(3, 4);
         const Tensor x = ones({2, 3});
         return Layer{m.ptr(),
                      "gru_cell",
                      {"input", "hx", "cx", "weight_ih", "weight_hh", "bias_ih", "bias_hh"},
                      {x, Tensor(), Tensor(), m->weight_ih, m->weight_hh, m->bias_ih, m->bias_hh},
                      [=] { m->forward(x); }};
       }},
  };
  return all;
}

const std::set<std::string> kTakesOneTensor{"ConstantPad1d",
                                            "ConstantPad2d",
                                            "ConstantPad3d",
                                            "ReflectionPad1d",
                                            "ReflectionPad2d",
                                            "ReflectionPad3d",
                                            "ReplicationPad1d",
                                            "ReplicationPad2d",
                                            "ReplicationPad3d",
                                            "ZeroPad1d",
                                            "ZeroPad2d",
                                            "ZeroPad3d",
                                            "PixelShuffle",
                                            "PixelUnshuffle",
                                            "Unflatten",
                                            "LocalResponseNorm",
                                            "CrossMapLRN2d",
                                            "Dropout2d",
                                            "Dropout3d",
                                            "AlphaDropout",
                                            "FeatureAlphaDropout",
                                            "ELU",
                                            "SELU",
                                            "CELU",
                                            "LeakyReLU",
                                            "RReLU",
                                            "ReLU6",
                                            "Hardtanh",
                                            "SiLU",
                                            "Mish",
                                            "Softplus",
                                            "LogSigmoid",
                                            "Softsign",
                                            "Tanhshrink",
                                            "Hardshrink",
                                            "Softshrink",
                                            "Threshold",
                                            "GLU",
                                            "Softmin",
                                            "Softmax2d",

                                            "ReLU",
                                            "Sigmoid",
                                            "Tanh",
                                            "GELU",
                                            "Softmax",
                                            "LogSoftmax",
                                            "MaxPool2d",
                                            "AvgPool2d",
                                            "AdaptiveAvgPool2d",
                                            "AdaptiveAvgPool1d",
                                            "AdaptiveAvgPool3d",
                                            "AdaptiveMaxPool1d",
                                            "AdaptiveMaxPool2d",
                                            "AdaptiveMaxPool3d",
                                            "AvgPool1d",
                                            "AvgPool3d",
                                            "Fold",
                                            "FractionalMaxPool2d",
                                            "FractionalMaxPool3d",
                                            "LPPool1d",
                                            "LPPool2d",
                                            "LPPool3d",
                                            "MaxPool1d",
                                            "MaxPool3d",
                                            "Unfold",
                                            "Upsample",
                                            "Dropout",
                                            "Functional",
                                            "Flatten",
                                            "Identity"};
const std::set<std::string> kHoldsModules{"ModuleList",
                                          "ModuleDict",
                                          "ParameterList",
                                          "ParameterDict",
                                          "Transformer",
                                          "TransformerEncoder",
                                          "TransformerDecoder",
                                          "TransformerEncoderLayer",
                                          "TransformerDecoderLayer"};

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
  if (layer.names[elsewhere].ends_with("_lengths") && devices.there.is_cpu()) return;  // may be
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

// Check an error of which the arguments are not at hand: tensors like them stand for them.
void check_says(const std::function<void()>& call, const Complaint& complaint) {
  try {
    call();
    FAIL_CHECK("no error");
  } catch (const DeviceMismatchError& e) {
    check_words(e, complaint);
  }
}

Tensor leaf(Device device) { return ones({2}).to(device).requires_grad_(); }

void for_each_pair(const std::function<void(Device here, Device there)>& body) {
  const CountingDevices counting;
  for (const TwoDevices& pair : device_pairs()) {
    INFO(pair.here.str(), " and ", pair.there.str());
    body(pair.here, pair.there);
  }
}

// Its gradient goes astray.
struct Misleading : autograd::Function<Misleading> {
  static Tensor forward(autograd::AutogradContext*, const Tensor& x, Device) { return x * 1; }
  static std::vector<Tensor> backward(autograd::AutogradContext*, std::vector<Tensor> g) {
    return {g[0].to(astray), Tensor()};
  }
  static inline Device astray;
};

}  // namespace

TEST_CASE("the mismatch tests know every module of nn") {
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

TEST_CASE("backward refuses a gradient on another device before it computes anything") {
  for_each_pair([](Device here, Device there) {
    const Tensor x = leaf(here), y = x * 2, g = ones({2}).to(there);
    check_refused([&] { y.backward(g); }, {"backward", {"tensor", "gradient"}, {y, g}, 0, 1}, {x});
    check_refused([&] { autograd::grad({y}, {x}, {g}); },
                  {"grad", {"tensor", "gradient"}, {y, g}, 0, 1}, {x});
    const Tensor loss = x.sum();  // its gradient is left out, and made only after the check
    check_refused(
        [&] {
          autograd::backward({loss, y}, {Tensor(), g});
        },
        {"backward", {"tensor", "gradient"}, {y, g}, 0, 1}, {x});
    CHECK_FALSE(x.grad().defined());
  });
}

TEST_CASE("a hook that returns a gradient on another device is refused, and no .grad changes") {
  for_each_pair([](Device here, Device there) {
    const Tensor stray = ones({2}).to(there), g = ones({2}).to(here);
    const Complaint complaint{"backward", {"gradient", "hook's result"}, {g, stray}, 0, 1};
    const auto astray = [&](const Tensor&) { return stray; };
    const Tensor x = leaf(here), z = leaf(here), sum = x + z;
    sum.register_hook(astray);
    check_says([&] { (sum * 2).backward(g); }, complaint);
    x.register_hook(astray);
    check_says([&] { (x + z).backward(g); }, complaint);
    CHECK_FALSE(x.grad().defined());
    CHECK_FALSE(z.grad().defined());
  });
}

TEST_CASE("a custom function that returns a gradient on another device is refused") {
  for_each_pair([](Device here, Device there) {
    if (here.is_meta()) return;  // nothing can be moved from there
    const Tensor x = leaf(here);
    Misleading::astray = there;
    const Tensor y = Misleading::apply(x, there);
    check_says(
        [&] { y.backward(ones({2}).to(here)); },
        {"Misleading", {"inputs[0]", "gradients[0]"}, {x.detach(), ones({2}).to(there)}, 0, 1});
    CHECK_FALSE(x.grad().defined());
  });
}

TEST_CASE("a .grad left on another device is refused before any leaf gets its gradient") {
  for_each_pair([](Device here, Device there) {
    const Tensor x = leaf(here), z = leaf(here), left = ones({2}).to(there);
    z.mutable_grad() = left;
    check_says([&] { (x + z).backward(ones({2}).to(here)); },
               {"backward", {"tensor", "gradient", "grad"}, {z.detach(), z.detach(), left}, 0, 2});
    CHECK_FALSE(x.grad().defined());
    CHECK(z.grad().is_same(left));
  });
}

TEST_CASE("a leaf that moved since forward refuses the gradient from where it was") {
  for_each_pair([](Device here, Device there) {
    if (here.is_meta()) return;  // nothing can be moved from there
    const Tensor x = leaf(here), y = x + 1;
    move(x, there);
    check_says([&] { y.backward(ones({2}).to(here)); }, {"backward",
                                                         {"tensor", "gradient", "grad"},
                                                         {x.detach(), ones({2}).to(here), Tensor()},
                                                         0,
                                                         1});
    CHECK_FALSE(x.grad().defined());
  });
}

TEST_CASE("optimizers refuse a gradient on another device before the first update") {
  for_each_pair([](Device here, Device there) {
    const auto check = [&](const char* op, auto make) {
      const Tensor first = leaf(here), second = leaf(here);
      const auto optimizer = make(Tensors{first, second});
      first.mutable_grad() = ones({2}).to(here);
      second.mutable_grad() = ones({2}).to(here);
      optimizer->step();  // with state
      second.mutable_grad() = ones({2}).to(there);
      Tensors others{first, first.grad()};
      for (const auto& [name, state] : optimizer->state_dict()) others.push_back(state);
      check_refused([&] { optimizer->step(); },
                    {op, {"param", "grad"}, {second, second.grad()}, 0, 1}, others);
    };
    check("sgd_step", [](const Tensors& p) {
      return std::make_unique<optim::SGD>(p, optim::SGDOptions(0.1).momentum(0.9));
    });
    check("adam_step", [](const Tensors& p) { return std::make_unique<optim::Adam>(p, 0.1); });
    check("adamw_step", [](const Tensors& p) { return std::make_unique<optim::AdamW>(p, 0.1); });
  });
}
