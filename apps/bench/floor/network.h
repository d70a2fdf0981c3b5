// A network of convolutions, poolings and linear layers on bare oneDNN primitives: activations
// channels-last, weights in oneDNN's own layouts, nothing fused but the bias. A layer adds its
// primitives to the forward pass at once, and leaves behind how it adds those of its backward pass,
// which is made from the end.
#pragma once

#include <functional>
#include <vector>

#include "calls.h"

namespace bench::floor {

/// Which gradients the backward pass makes; with none there is no backward pass.
enum class Gradients { none, parameters, parameters_and_input };

/// A parameter and its gradient, in the layout that the layer computes with.
struct Parameter {
  dnnl::memory value, grad;
  /// The layout in which the values were given, and one of the same sizes whose elements lie as
  /// those of `value` would in row-major order: another one after flatten().
  dnnl::memory::desc given, ordered;

  /// Return the values in the order in which they were given.
  std::vector<float> read() const;
};

/// Lends itself to its backward pass, so it stays where it is.
class Network {
 public:
  /// input [N,C,H,W], row-major: each forward pass reads it anew.
  Network(const dnnl::memory& input, Gradients gradients);
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  // Layers, each on the output of the one before; parameters come row-major and are copied.
  void conv(const dnnl::memory& weight, const dnnl::memory& bias, int64_t padding);
  void relu();
  void max_pool();  // 2x2, stride 2
  void flatten();   // before a linear layer; the order of the columns is that of the layout
  void linear(const dnnl::memory& weight, const dnnl::memory& bias);

  /// Finish. output_grad: of the output's sizes, read anew by each backward pass.
  void make_backward(const dnnl::memory& output_grad);

  void forward() const { forward_.run(); }
  void backward() const { backward_.run(); }

  const dnnl::memory& output() const { return y_; }
  const std::vector<Parameter>& parameters() const { return parameters_; }

 private:
  /// Given the gradient of a layer's output, add the layer's backward pass and return the gradient
  /// of its input.
  using Backward = std::function<dnnl::memory(const dnnl::memory&)>;

  dnnl::prop_kind kind() const;
  /// Add weight and bias; return the number of the weight.
  size_t add_parameters(const dnnl::memory& weight, const dnnl::memory::desc& wanted,
                        const dnnl::memory& bias);
  void add_parameter(const dnnl::memory& values, const dnnl::memory::desc& given,
                     const dnnl::memory::desc& ordered, const dnnl::memory::desc& wanted);

  Gradients gradients_;
  Calls forward_, backward_;
  dnnl::memory y_;                  // of the last layer so far
  dnnl::memory::dims image_sizes_;  // of y_ before flatten(), until the linear layer
  std::vector<Parameter> parameters_;
  std::vector<Backward> backwards_;
};

}  // namespace bench::floor
