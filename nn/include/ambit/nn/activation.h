// Activations: ReLU, Sigmoid, Tanh, GELU, Softmax, LogSoftmax. They have no parameters.
#pragma once

#include <ambit/nn/cloneable.h>
#include <ambit/nn/options.h>

namespace ambit::nn {

class ReLUOptions : public Options<ReLUOptions> {
 public:
  ReLUOptions(bool inplace = false) : inplace_(inplace) {}
  ReLUOptions& inplace(bool on) { return set(inplace_, on); }
  bool inplace() const { return inplace_; }

 private:
  bool inplace_;
};

/// max(x, 0).
class AMBIT_API ReLUImpl : public Cloneable<ReLUImpl> {
 public:
  explicit ReLUImpl(const ReLUOptions& opts = {}) : options(opts) {}
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  ReLUOptions options;
};
AMBIT_MODULE(ReLU);

/// 1 / (1 + exp(-x)).
class AMBIT_API SigmoidImpl : public Cloneable<SigmoidImpl> {
 public:
  void reset() override;
  Tensor forward(const Tensor& input);
};
AMBIT_MODULE(Sigmoid);

/// tanh(x).
class AMBIT_API TanhImpl : public Cloneable<TanhImpl> {
 public:
  void reset() override;
  Tensor forward(const Tensor& input);
};
AMBIT_MODULE(Tanh);

/// x * Phi(x), Phi the normal distribution function.
class AMBIT_API GELUImpl : public Cloneable<GELUImpl> {
 public:
  void reset() override;
  Tensor forward(const Tensor& input);
};
AMBIT_MODULE(GELU);

class SoftmaxOptions : public Options<SoftmaxOptions> {
 public:
  SoftmaxOptions(int64_t dim) : dim_(dim) {}
  SoftmaxOptions& dim(int64_t d) { return set(dim_, d); }
  int64_t dim() const { return dim_; }

 private:
  int64_t dim_;
};
using LogSoftmaxOptions = SoftmaxOptions;

/// exp(x) / sum(exp(x)) along a dim.
class AMBIT_API SoftmaxImpl : public Cloneable<SoftmaxImpl> {
 public:
  explicit SoftmaxImpl(const SoftmaxOptions& opts) : options(opts) {}
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  SoftmaxOptions options;
};
AMBIT_MODULE(Softmax);

/// log(softmax(x)) along a dim.
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
