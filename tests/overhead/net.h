// The first lesson's network, as in apps/quickstart: overhead of a step in addition to its kernels.
#pragma once

#include <ambit/ambit.h>

namespace ambit {

struct NetImpl : nn::Module {
  nn::Conv2d conv1{register_module("conv1", nn::Conv2d(3, 6, 5))};
  nn::MaxPool2d pool{register_module("pool", nn::MaxPool2d(2))};
  nn::Conv2d conv2{register_module("conv2", nn::Conv2d(6, 16, 5))};
  nn::Linear fc1{register_module("fc1", nn::Linear(16 * 5 * 5, 120))};
  nn::Linear fc2{register_module("fc2", nn::Linear(120, 84))};
  nn::Linear fc3{register_module("fc3", nn::Linear(84, 10))};

  Tensor forward(Tensor x) {
    x = pool(nn::functional::relu(conv1(x)));
    x = pool(nn::functional::relu(conv2(x)));
    x = x.view({-1, 16 * 5 * 5});
    x = nn::functional::relu(fc1(x));
    x = nn::functional::relu(fc2(x));
    return fc3(x);
  }
};
AMBIT_MODULE(Net);

/// The network with its loss, optimizer and a batch.
class NetTraining {
 public:
  NetTraining(Device device, int64_t batch)
      : net_(Net().to(device)),
        sgd_(net_->parameters(), optim::SGDOptions(0.001).momentum(0.9)),
        inputs_(rand({batch, 3, 32, 32}).to(device)),
        labels_(randint(0, 10, {batch}, kInt64).to(device)) {}

  void compute_gradients() {
    sgd_.zero_grad();
    criterion_(net_(inputs_), labels_).backward();
  }
  void step() {
    compute_gradients();
    sgd_.step();
  }
  /// As above, with only the first images of the batch.
  void step(int64_t images) {
    sgd_.zero_grad();
    criterion_(net_(inputs_.narrow(0, 0, images)), labels_.narrow(0, 0, images)).backward();
    sgd_.step();
  }

 private:
  Net net_;
  nn::CrossEntropyLoss criterion_;
  optim::SGD sgd_;
  Tensor inputs_, labels_;
};

}  // namespace ambit
