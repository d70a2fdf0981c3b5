// The lessons' networks in libtorch, ported line by line, and the zoo's networks unchanged.
#include "works.h"
#include "zoo_networks.h"

namespace bench::libtorch {
namespace {

namespace nn = torch::nn;

struct NetImpl : nn::Module {
  nn::Conv2d conv1{register_module("conv1", nn::Conv2d(3, 6, 5))};
  nn::MaxPool2d pool{register_module("pool", nn::MaxPool2d(2))};
  nn::Conv2d conv2{register_module("conv2", nn::Conv2d(6, 16, 5))};
  nn::Linear fc1{register_module("fc1", nn::Linear(16 * 5 * 5, 120))};
  nn::Linear fc2{register_module("fc2", nn::Linear(120, 84))};
  nn::Linear fc3{register_module("fc3", nn::Linear(84, 10))};

  torch::Tensor forward(torch::Tensor x) {
    x = pool(torch::relu(conv1(x)));
    x = pool(torch::relu(conv2(x)));
    x = x.view({-1, 16 * 5 * 5});
    x = torch::relu(fc1(x));
    x = torch::relu(fc2(x));
    return fc3(x);
  }
};
TORCH_MODULE(Net);

nn::Conv2d conv5(int64_t in, int64_t out) {
  return nn::Conv2d(nn::Conv2dOptions(in, out, 5).padding(2));
}

struct TuduiImpl : nn::Module {
  nn::Sequential model{register_module(
      "model", nn::Sequential(conv5(3, 32), nn::MaxPool2d(2), conv5(32, 32), nn::MaxPool2d(2),
                              conv5(32, 64), nn::MaxPool2d(2), nn::Flatten(),
                              nn::Linear(64 * 4 * 4, 64), nn::Linear(64, 10)))};

  torch::Tensor forward(const torch::Tensor& x) { return model->forward(x); }
};
TORCH_MODULE(Tudui);

template <class Network>
Network network_of(const Specification& s, size_t first_parameter) {
  Network network;
  const torch::NoGradGuard no_grad;
  auto state = network->named_parameters();
  state.update(network->named_buffers());
  for (size_t i = first_parameter; i < s.operands.size(); ++i) {
    state[s.operands[i].name].copy_(borrow(s.operands[i]));
  }
  return network;
}

template <class Network>
class Training final : public Work {
 public:
  Training(const Specification& s, const torch::optim::SGDOptions& options)
      : network_(network_of<Network>(s, 2)),
        optimizer_(network_->parameters(), options),
        images_(borrow(s.operands[0])),
        labels_(borrow(s.operands[1])) {}

  void run() override {
    network_->zero_grad(/*set_to_none=*/true);  // an option that the optimizer lacks
    const torch::Tensor loss = torch::cross_entropy_loss(network_(images_), labels_);
    loss.backward();
    optimizer_.step();
    loss_ = loss.item<double>();
  }
  double result() override { return loss_; }

 private:
  Network network_;
  torch::optim::SGD optimizer_;
  torch::Tensor images_, labels_;
  double loss_ = 0;
};

template <class Network>
class Inference final : public Work {
 public:
  explicit Inference(const Specification& s)
      : network_(network_of<Network>(s, 1)), images_(borrow(s.operands[0])) {
    network_->eval();
  }

  void run() override {
    const c10::InferenceMode inference;
    logits_.reset();
    logits_ = network_(images_);
  }
  double result() override { return logits_.sum().template item<double>(); }

 private:
  Network network_;
  torch::Tensor images_, logits_;
};

// Return training or inference of a zoo network, or null.
template <class Network>
std::unique_ptr<Work> make_zoo(const Specification& s, const std::string& name) {
  if (s.what == name + "/infer") return std::make_unique<Inference<Network>>(s);
  if (s.what != name + "/train") return nullptr;
  return std::make_unique<Training<Network>>(s, torch::optim::SGDOptions(0.01).momentum(0.9));
}

}  // namespace

std::unique_ptr<Work> make_network(const Specification& s) {
  using torch::optim::SGDOptions;
  set_blas_threads(1);
  if (s.what == "net/train") {
    return std::make_unique<Training<Net>>(s, SGDOptions(0.001).momentum(0.9));
  }
  if (s.what == "tudui/train") return std::make_unique<Training<Tudui>>(s, SGDOptions(0.01));
  if (s.what == "net/infer") return std::make_unique<Inference<Net>>(s);
  if (s.what == "tudui/infer") return std::make_unique<Inference<Tudui>>(s);
  if (auto work = make_zoo<ResNet18>(s, "resnet18")) return work;
  if (auto work = make_zoo<Gpt6>(s, "gpt")) return work;
  if (auto work = make_zoo<Lstm2>(s, "lstm")) return work;
  return make_zoo<SmallUNet>(s, "unet");
}

}  // namespace bench::libtorch
