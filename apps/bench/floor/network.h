// A network of convolutions, poolings and linear layers on bare oneDNN primitives. Each layer adds
// its primitives to the forward pass at once and, for training, leaves behind how it adds those of
// its backward pass, which can be made only from the end.
#pragma once

#include <functional>
#include <vector>

#include "calls.h"

namespace bench::floor {

/// A parameter in the layout that its layer computes with, and its gradient.
struct Parameter {
  dnnl::memory value, grad;
  /// The plain layout: that of whoever gave the values.
  dnnl::memory::desc plain;

  std::vector<float> read() const;
};

class Network {
 public:
  /// input: [N,C,H,W], plain. Without `training` there is no backward pass and no loss.
  Network(const dnnl::memory& input, bool training);

  // Layers, each on the output of the one before; parameters come plain and are copied.
  void conv(const dnnl::memory& weight, const dnnl::memory& bias, int64_t padding);
  void relu();
  void max_pool();  // 2x2, stride 2
  void linear(const dnnl::memory& weight, const dnnl::memory& bias);

  /// Finish: add the backward pass, from the gradient of the output on.
  void make_backward();

  void forward() const { forward_.run(); }
  void backward() const { backward_.run(); }

  /// [N,K], plain.
  const dnnl::memory& output() const { return y_; }
  const dnnl::memory& output_grad() const { return output_grad_; }
  const std::vector<Parameter>& parameters() const { return parameters_; }

 private:
  /// Given the gradient of a layer's output, add the layer's backward pass; return the gradient
  /// of its input.
  using Backward = std::function<dnnl::memory(const dnnl::memory&)>;

  /// Add a parameter in the layout `wanted`; return its number.
  size_t add_parameter(const dnnl::memory& plain, const dnnl::memory::desc& wanted);

  bool training_;
  Calls forward_, backward_;
  dnnl::memory y_, output_grad_;  // y_: of the last layer so far
  std::vector<Parameter> parameters_;
  std::vector<Backward> backwards_;
};

}  // namespace bench::floor
