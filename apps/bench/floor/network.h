// A network of convolutions, poolings and linear layers on bare oneDNN primitives: activations are
// channels-last, weights in oneDNN's layouts, only the bias is fused. A layer adds its forward
// primitives at once, and stores a function that adds its backward ones, called in reverse order.
#pragma once

#include <functional>
#include <vector>

#include "calls.h"

namespace bench::floor {

/// The gradients that the backward pass computes; with none there is no backward pass.
enum class Gradients { none, parameters, parameters_and_input };

/// A parameter and its gradient, in the layout of the computation.
struct Parameter {
  dnnl::memory value, grad;
  /// `given`: the layout of the caller's values. `ordered`: the row-major layout of the same sizes
  /// with the elements in the order of `value`; after flatten() it is another order.
  dnnl::memory::desc given, ordered;

  /// Return the values in the order in which they were given.
  std::vector<float> read() const;
};

/// Not movable: its backward pass refers to it.
class Network {
 public:
  /// input [N,C,H,W], row-major; each forward pass reads it again.
  Network(const dnnl::memory& input, Gradients gradients);
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  // Layers, each applied to the previous output; parameters are row-major and copied.
  void conv(const dnnl::memory& weight, const dnnl::memory& bias, int64_t padding);
  void relu();
  void max_pool();  // 2x2, stride 2
  void flatten();   // before a linear layer; columns are in the order of the layout
  void linear(const dnnl::memory& weight, const dnnl::memory& bias);

  /// Finish. output_grad: of the output's sizes; each backward pass reads it again.
  void make_backward(const dnnl::memory& output_grad);

  void forward() const { forward_.run(); }
  void backward() const { backward_.run(); }

  const dnnl::memory& output() const { return y_; }
  const std::vector<Parameter>& parameters() const { return parameters_; }

 private:
  /// Given the gradient of a layer's output, adds the layer's backward pass and returns the
  /// gradient of its input.
  using Backward = std::function<dnnl::memory(const dnnl::memory&)>;

  dnnl::prop_kind kind() const;
  /// Add weight and bias; return the index of the weight.
  size_t add_parameters(const dnnl::memory& weight, const dnnl::memory::desc& wanted,
                        const dnnl::memory& bias);
  void add_parameter(const dnnl::memory& values, const dnnl::memory::desc& given,
                     const dnnl::memory::desc& ordered, const dnnl::memory::desc& wanted);

  Gradients gradients_;
  Calls forward_, backward_;
  dnnl::memory y_;                  // output of the last layer so far
  dnnl::memory::dims image_sizes_;  // of y_ before flatten(), until the linear layer
  std::vector<Parameter> parameters_;
  std::vector<Backward> backwards_;
};

}  // namespace bench::floor
