// What modules print, compared with PyTorch 1.13's print() of the same modules.
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

// print(Net()) of the same class in Python.
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

TEST_CASE("options that are not plain print as in PyTorch") {
  CHECK(printed(*nn::BatchNorm2d(nn::BatchNorm2dOptions(3)
                                     .momentum(std::nullopt)
                                     .affine(false)
                                     .track_running_stats(false))) ==
        "BatchNorm2d(3, eps=1e-05, momentum=None, affine=False, track_running_stats=False)");
  CHECK(printed(*nn::MaxPool2d(
            nn::MaxPool2dOptions({3, 2}).stride(1).padding({1, 0}).ceil_mode(true))) ==
        "MaxPool2d(kernel_size=(3, 2), stride=1, padding=(1, 0), dilation=1, ceil_mode=True)");
}

TEST_CASE("a module is named after its class, or as it says") {
  CHECK(nn::Linear(1, 1)->name() == "Linear");
  CHECK(nn::Module().name() == "Module");
  CHECK(nn::Module("encoder").name() == "encoder");
  CHECK(printed(nn::Module("encoder")) == "encoder()");
}
