// Printed modules, compared with PyTorch 1.13's print() of the same modules.
#include <ambit/nn/nn.h>
#include <doctest/doctest.h>

#include <sstream>

using namespace ambit;

namespace {

std::string printed(const nn::Module& module) {
  std::ostringstream os;
  os << module;
  return os.str();
}

struct NetImpl : nn::Module {
  NetImpl() {
    register_module("features",
                    nn::Sequential(nn::Conv2d(3, 6, 5), nn::BatchNorm2d(6),
                                   nn::ReLU(nn::ReLUOptions().inplace(true)), nn::MaxPool2d(2, 2),
                                   nn::Conv2d(nn::Conv2dOptions(6, 16, {3, 5})
                                                  .stride(2)
                                                  .padding({1, 2})
                                                  .dilation({1, 2})
                                                  .groups(2)
                                                  .bias(false)),
                                   nn::AvgPool2d(nn::AvgPool2dOptions({2, 3})),
                                   nn::AdaptiveAvgPool2d(nn::AdaptiveAvgPool2dOptions({5, 7}))));
    register_module("drop", nn::Dropout(0.25));
    register_module("flat", nn::Flatten());
    register_module("emb", nn::Embedding(nn::EmbeddingOptions(10, 4).padding_idx(0)));
    register_module(
        "heads", nn::ModuleList(nn::Linear(4, 2), nn::Linear(nn::LinearOptions(4, 2).bias(false))));
    register_module("out", nn::LogSoftmax(1));
    register_module("soft", nn::Softmax(-1));
    register_module("act", nn::ReLU());
    register_module("sig", nn::Sigmoid());
    register_module("tanh", nn::Tanh());
    register_module("id", nn::Identity());
    register_module("ce", nn::CrossEntropyLoss());
    register_module("empty", nn::Sequential());
  }
};
AMBIT_MODULE(Net);

// The expected text is print(Net()) of the same class in Python.
constexpr const char* kNet = R"(Net(
  (features): Sequential(
    (0): Conv2d(3, 6, kernel_size=(5, 5), stride=(1, 1))
    (1): BatchNorm2d(6, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True)
    (2): ReLU(inplace=True)
    (3): MaxPool2d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)
    (4): Conv2d(6, 16, kernel_size=(3, 5), stride=(2, 2), padding=(1, 2), dilation=(1, 2), groups=2, bias=False)
    (5): AvgPool2d(kernel_size=(2, 3), stride=(2, 3), padding=0)
    (6): AdaptiveAvgPool2d(output_size=(5, 7))
  )
  (drop): Dropout(p=0.25, inplace=False)
  (flat): Flatten(start_dim=1, end_dim=-1)
  (emb): Embedding(10, 4, padding_idx=0)
  (heads): ModuleList(
    (0): Linear(in_features=4, out_features=2, bias=True)
    (1): Linear(in_features=4, out_features=2, bias=False)
  )
  (out): LogSoftmax(dim=1)
  (soft): Softmax(dim=-1)
  (act): ReLU()
  (sig): Sigmoid()
  (tanh): Tanh()
  (id): Identity()
  (ce): CrossEntropyLoss()
  (empty): Sequential()
))";

}  // namespace

TEST_CASE("a tree of modules prints as in PyTorch") {
  const Net net;
  CHECK(printed(*net) == kNet);
  std::ostringstream os;
  os << net;
  CHECK(os.str() == kNet);
}

TEST_CASE("options other than defaults print as in PyTorch") {
  CHECK(printed(*nn::BatchNorm2d(nn::BatchNorm2dOptions(3)
                                     .momentum(std::nullopt)
                                     .affine(false)
                                     .track_running_stats(false))) ==
        "BatchNorm2d(3, eps=1e-05, momentum=None, affine=False, track_running_stats=False)");
  CHECK(printed(*nn::MaxPool2d(
            nn::MaxPool2dOptions({3, 2}).stride(1).padding({1, 0}).ceil_mode(true))) ==
        "MaxPool2d(kernel_size=(3, 2), stride=1, padding=(1, 0), dilation=1, ceil_mode=True)");
}

TEST_CASE("a module is printed with its class's name, or with its own") {
  CHECK(nn::Linear(1, 1)->name() == "Linear");
  CHECK(nn::Module().name() == "Module");
  CHECK(nn::Module("encoder").name() == "encoder");
  CHECK(printed(nn::Module("encoder")) == "encoder()");
}

TEST_CASE("layers print as PyTorch's") {
  CHECK(printed(*nn::Conv1d(nn::Conv1dOptions(4, 6, 3).padding(1))) ==
        "Conv1d(4, 6, kernel_size=(3,), stride=(1,), padding=(1,))");
  CHECK(printed(*nn::ConvTranspose2d(
            nn::ConvTranspose2dOptions(4, 6, {3, 2}).stride(2).output_padding(1).bias(false))) ==
        "ConvTranspose2d(4, 6, kernel_size=(3, 2), stride=(2, 2), output_padding=(1, 1), "
        "bias=False)");
  CHECK(printed(*nn::BatchNorm1d(4)) ==
        "BatchNorm1d(4, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True)");
  CHECK(printed(*nn::LayerNorm(std::vector<int64_t>{4})) ==
        "LayerNorm((4,), eps=1e-05, elementwise_affine=True)");
  CHECK(printed(*nn::LayerNorm(std::vector<int64_t>{4, 7})) ==
        "LayerNorm((4, 7), eps=1e-05, elementwise_affine=True)");
  CHECK(printed(*nn::GroupNorm(2, 4)) == "GroupNorm(2, 4, eps=1e-05, affine=True)");
  CHECK(printed(*nn::InstanceNorm2d(4)) ==
        "InstanceNorm2d(4, eps=1e-05, momentum=0.1, affine=False, track_running_stats=False)");
  CHECK(printed(*nn::LocalResponseNorm(3)) ==
        "LocalResponseNorm(3, alpha=0.0001, beta=0.75, k=1.0)");
  CHECK(printed(*nn::PixelShuffle(2)) == "PixelShuffle(upscale_factor=2)");
  CHECK(printed(*nn::PixelUnshuffle(2)) == "PixelUnshuffle(downscale_factor=2)");
  CHECK(printed(*nn::ConstantPad1d(1, 3.5)) == "ConstantPad1d(padding=(1, 1), value=3.5)");
  CHECK(printed(*nn::ReflectionPad2d(1)) == "ReflectionPad2d((1, 1, 1, 1))");
  CHECK(printed(*nn::ReplicationPad1d(nn::ReplicationPad1dOptions({1, 2}))) ==
        "ReplicationPad1d((1, 2))");
  CHECK(printed(*nn::ZeroPad1d(nn::ZeroPad1dOptions({1, 2}))) == "ZeroPad1d((1, 2))");
  CHECK(printed(*nn::ZeroPad2d(1)) == "ZeroPad2d((1, 1, 1, 1))");
  CHECK(printed(*nn::ZeroPad3d(1)) == "ZeroPad3d((1, 1, 1, 1, 1, 1))");
  CHECK(printed(*nn::Unflatten(1, std::vector<int64_t>{2, 2})) ==
        "Unflatten(dim=1, unflattened_size=(2, 2))");
  CHECK(printed(*nn::Bilinear(4, 3, 5)) ==
        "Bilinear(in1_features=4, in2_features=3, out_features=5, bias=True)");
  CHECK(printed(*nn::Dropout2d(0.25)) == "Dropout2d(p=0.25, inplace=False)");
  CHECK(printed(*nn::AlphaDropout(0.1)) == "AlphaDropout(p=0.1, inplace=False)");
  CHECK(printed(*nn::LSTM(nn::LSTMOptions(3, 4)
                              .num_layers(2)
                              .batch_first(true)
                              .dropout(0.5)
                              .bidirectional(true)
                              .proj_size(2))) ==
        "LSTM(3, 4, proj_size=2, num_layers=2, batch_first=True, dropout=0.5, bidirectional=True)");
  CHECK(printed(*nn::GRUCell(nn::GRUCellOptions(3, 4).bias(false))) == "GRUCell(3, 4, bias=False)");
  CHECK(printed(*nn::ELU()) == "ELU(alpha=1.0)");
  CHECK(printed(*nn::SELU(true)) == "SELU(inplace=True)");
  CHECK(printed(*nn::CELU(2.)) == "CELU(alpha=2.0)");
  CHECK(printed(*nn::LeakyReLU(0.2)) == "LeakyReLU(negative_slope=0.2)");
  CHECK(printed(*nn::RReLU()) == "RReLU(lower=0.125, upper=0.3333333333333333)");
  CHECK(printed(*nn::ReLU6(true)) == "ReLU6(inplace=True)");
  CHECK(printed(*nn::Hardtanh()) == "Hardtanh(min_val=-1.0, max_val=1.0)");
  CHECK(printed(*nn::SiLU()) == "SiLU()");
  CHECK(printed(*nn::Mish()) == "Mish()");
  CHECK(printed(*nn::Softplus()) == "Softplus(beta=1, threshold=20)");
  CHECK(printed(*nn::LogSigmoid()) == "LogSigmoid()");
  CHECK(printed(*nn::Softsign()) == "Softsign()");
  CHECK(printed(*nn::Tanhshrink()) == "Tanhshrink()");
  CHECK(printed(*nn::Hardshrink()) == "Hardshrink(0.5)");
  CHECK(printed(*nn::Softshrink()) == "Softshrink(0.5)");
  CHECK(printed(*nn::Threshold(0.1, 20)) == "Threshold(threshold=0.1, value=20)");
  CHECK(printed(*nn::GLU()) == "GLU(dim=-1)");
  CHECK(printed(*nn::Softmin(1)) == "Softmin(dim=1)");
  CHECK(printed(*nn::Softmax2d()) == "Softmax2d()");
  CHECK(printed(*nn::PReLU()) == "PReLU(num_parameters=1)");
  CHECK(printed(*nn::L1Loss()) == "L1Loss()");
}
