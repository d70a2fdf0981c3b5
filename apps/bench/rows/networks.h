// The networks of the lessons, as in apps/quickstart and apps/tudui.
#pragma once

#include <ambit/nn/conv.h>
#include <ambit/nn/functional.h>
#include <ambit/nn/linear.h>
#include <ambit/nn/module.h>
#include <ambit/nn/pooling.h>
#include <ambit/nn/sequential.h>

namespace bench {

struct NetImpl : ambit::nn::Module {
  ambit::nn::Conv2d conv1{register_module("conv1", ambit::nn::Conv2d(3, 6, 5))};
  ambit::nn::MaxPool2d pool{register_module("pool", ambit::nn::MaxPool2d(2))};
  ambit::nn::Conv2d conv2{register_module("conv2", ambit::nn::Conv2d(6, 16, 5))};
  ambit::nn::Linear fc1{register_module("fc1", ambit::nn::Linear(16 * 5 * 5, 120))};
  ambit::nn::Linear fc2{register_module("fc2", ambit::nn::Linear(120, 84))};
  ambit::nn::Linear fc3{register_module("fc3", ambit::nn::Linear(84, 10))};

  ambit::Tensor forward(ambit::Tensor x) {
    x = pool(relu(conv1(x)));
    x = pool(relu(conv2(x)));
    x = x.view({-1, 16 * 5 * 5});
    x = relu(fc1(x));
    x = relu(fc2(x));
    return fc3(x);
  }
};
AMBIT_MODULE(Net);

struct TuduiImpl : ambit::nn::Module {
  ambit::nn::Sequential model{register_module(
      "model", ambit::nn::Sequential(ambit::nn::Conv2d(3, 32, 5, 1, 2), ambit::nn::MaxPool2d(2),
                                     ambit::nn::Conv2d(32, 32, 5, 1, 2), ambit::nn::MaxPool2d(2),
                                     ambit::nn::Conv2d(32, 64, 5, 1, 2), ambit::nn::MaxPool2d(2),
                                     ambit::nn::Flatten(), ambit::nn::Linear(64 * 4 * 4, 64),
                                     ambit::nn::Linear(64, 10)))};

  ambit::Tensor forward(const ambit::Tensor& x) { return model->forward(x); }
};
AMBIT_MODULE(Tudui);

}  // namespace bench
