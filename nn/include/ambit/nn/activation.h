// Activations: ReLU, Sigmoid, Tanh, GELU, Softmax, LogSoftmax. They have no parameters; input and
// output have one shape, any. Errors and gradients: those of the functions that they call.
#pragma once

#include <ambit/nn/cloneable.h>
#include <ambit/nn/options.h>

namespace ambit::nn {

/// Options of ReLU. inplace: overwrite the input and return it. Default: false.
class ReLUOptions : public Options<ReLUOptions> {
 public:
  ReLUOptions(bool inplace = false) : inplace_(inplace) {}
  ReLUOptions& inplace(bool on) { return set(inplace_, on); }
  bool inplace() const { return inplace_; }

 private:
  bool inplace_;
};

/// max(x, 0), x of any dtype but bool, which stays; see relu(). Gradient: 1 where x > 0, else 0.
class AMBIT_API ReLUImpl : public Cloneable<ReLUImpl> {
 public:
  explicit ReLUImpl(const ReLUOptions& opts = {}) : options(opts) {}
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  ReLUOptions options;
};
AMBIT_MODULE(ReLU);

/// 1 / (1 + exp(-x)), in [0, 1]; see sigmoid(). Integers give the default float.
class AMBIT_API SigmoidImpl : public Cloneable<SigmoidImpl> {
 public:
  void reset() override;
  Tensor forward(const Tensor& input);
};
AMBIT_MODULE(Sigmoid);

/// tanh(x) = (exp(x) - exp(-x)) / (exp(x) + exp(-x)), in [-1, 1]. Integers give the default float.
class AMBIT_API TanhImpl : public Cloneable<TanhImpl> {
 public:
  void reset() override;
  Tensor forward(const Tensor& input);
};
AMBIT_MODULE(Tanh);

/// x Phi(x) with Phi(x) = (1 + erf(x / sqrt(2))) / 2, floating point; see gelu(). The exact form,
/// not the one with tanh. Source: Hendrycks & Gimpel 2016, arXiv:1606.08415.
class AMBIT_API GELUImpl : public Cloneable<GELUImpl> {
 public:
  void reset() override;
  Tensor forward(const Tensor& input);
};
AMBIT_MODULE(GELU);

/// Options of Softmax and LogSoftmax. dim: along which the outputs sum to 1; negative ones count
/// from the end.
class SoftmaxOptions : public Options<SoftmaxOptions> {
 public:
  SoftmaxOptions(int64_t dim) : dim_(dim) {}
  SoftmaxOptions& dim(int64_t d) { return set(dim_, d); }
  int64_t dim() const { return dim_; }

 private:
  int64_t dim_;
};
using LogSoftmaxOptions = SoftmaxOptions;

/// exp(x) / sum of exp(x) along dim, floating point; see softmax(). Errors of forward: IndexError.
class AMBIT_API SoftmaxImpl : public Cloneable<SoftmaxImpl> {
 public:
  explicit SoftmaxImpl(const SoftmaxOptions& opts) : options(opts) {}
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  SoftmaxOptions options;
};
AMBIT_MODULE(Softmax);

/// x - log(sum of exp(x)) along dim, floating point; see log_softmax(). Errors of forward:
/// IndexError.
class AMBIT_API LogSoftmaxImpl : public Cloneable<LogSoftmaxImpl> {
 public:
  explicit LogSoftmaxImpl(const LogSoftmaxOptions& opts) : options(opts) {}
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  LogSoftmaxOptions options;
};
AMBIT_MODULE(LogSoftmax);

}  // namespace ambit::nn
