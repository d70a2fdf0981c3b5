// Networks written in C++ with inputs, which tests capture, save and run.
#pragma once

#include <ambit/nn/nn.h>
#include <ambit/tensor.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

struct CapturedNetwork {
  std::string name;
  std::shared_ptr<ambit::nn::Module> net;
  std::function<std::vector<ambit::Tensor>(ambit::TensorList)> forward;
  std::vector<ambit::Tensor> inputs;

  std::vector<ambit::Tensor> run(const std::vector<ambit::Tensor>& in) const;
  /// Inputs with other values of the same sizes; if a value had been captured as a constant, they
  /// would give the example's outputs.
  std::vector<ambit::Tensor> other_inputs() const;
};

/// More than 30 networks in evaluation.
std::vector<CapturedNetwork> captured_networks();
/// One for each module of libtorch that has a form in ONNX, under the module's name.
std::vector<CapturedNetwork> captured_modules();

template <class... M>
CapturedNetwork sequence(const std::string& name, const ambit::Tensor& x, const M&... modules) {
  ambit::nn::Sequential net(modules...);
  net->eval();
  return {name,
          net.ptr(),
          [net](ambit::TensorList in) { return std::vector<ambit::Tensor>{net->forward(in[0])}; },
          {x}};
}

/// `forward` is called with the module and the inputs.
template <class M, class F>
CapturedNetwork network(const std::string& name, const M& module, std::vector<ambit::Tensor> inputs,
                        F forward) {
  module->eval();
  return {name, module.ptr(), [=](ambit::TensorList in) { return forward(module, in); },
          std::move(inputs)};
}

/// A module whose forward() accepts one tensor for each input and returns one tensor.
template <class M>
CapturedNetwork network(const std::string& name, const M& module,
                        std::vector<ambit::Tensor> inputs) {
  return network(name, module, std::move(inputs), [](const M& m, ambit::TensorList in) {
    if constexpr (requires { m->forward(in[0], in[1], in[2]); }) {
      if (in.size() == 3) return std::vector<ambit::Tensor>{m->forward(in[0], in[1], in[2])};
    }
    if constexpr (requires { m->forward(in[0], in[1]); }) {
      if (in.size() == 2) return std::vector<ambit::Tensor>{m->forward(in[0], in[1])};
    }
    if constexpr (requires { m->forward(in[0]); }) {
      return std::vector<ambit::Tensor>{m->forward(in[0])};
    }
    throw ambit::Error("expected a different number of inputs");
  });
}
