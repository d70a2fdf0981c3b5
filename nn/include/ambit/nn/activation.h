// Activation modules. Except for PReLU they have no parameters. Input and output have the same
// shape unless stated otherwise. Errors and gradients are those of the functions of the same name.
// One long file, because each module needs only a few lines.
#pragma once

#include <ambit/nn/cloneable.h>
#include <ambit/nn/options.h>

#include <string>

namespace ambit::nn {

/// Options of ReLU.
class ReLUOptions : public Options<ReLUOptions> {
 public:
  ReLUOptions(bool inplace = false) : inplace_(inplace) {}
  ReLUOptions& inplace(bool on) { return set(inplace_, on); }
  bool inplace() const { return inplace_; }

 private:
  bool inplace_;
};

/// max(x, 0) of any dtype except bool; the dtype is kept; see relu(). Gradient: 1 where x > 0, else
/// 0.
class AMBIT_API ReLUImpl : public Cloneable<ReLUImpl> {
 public:
  explicit ReLUImpl(const ReLUOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  ReLUOptions options;
};
AMBIT_MODULE(ReLU);

/// 1 / (1 + exp(-x)), in [0, 1]; see sigmoid(). Integer inputs give the default floating-point
/// dtype.
class AMBIT_API SigmoidImpl : public Cloneable<SigmoidImpl> {
 public:
  void reset() override;
  Tensor forward(const Tensor& input);
};
AMBIT_MODULE(Sigmoid);

/// tanh(x), in [-1, 1]. Integer inputs give the default floating-point dtype.
class AMBIT_API TanhImpl : public Cloneable<TanhImpl> {
 public:
  void reset() override;
  Tensor forward(const Tensor& input);
};
AMBIT_MODULE(Tanh);

/// Options of GELU.
class GELUOptions : public Options<GELUOptions> {
  /// "none": exact, by erf; "tanh": approximation by tanh.
  AMBIT_OPTION(GELUOptions, std::string, approximate) = "none";
};

/// x Phi(x) with Phi(x) = (1 + erf(x / sqrt(2))) / 2, or its approximation by tanh; floating point;
/// see gelu(). Errors of forward: also Error for any other value of `approximate`. Source:
/// Hendrycks & Gimpel 2016, arXiv:1606.08415.
class AMBIT_API GELUImpl : public Cloneable<GELUImpl> {
 public:
  explicit GELUImpl(GELUOptions opts = {});
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  GELUOptions options;
};
AMBIT_MODULE(GELU);

/// Options of Softmax and LogSoftmax.
class SoftmaxOptions : public Options<SoftmaxOptions> {
 public:
  SoftmaxOptions(int64_t dim) : dim_(dim) {}
  /// The dim along which the outputs sum to 1; negative values count from the end. No
  /// default.
  SoftmaxOptions& dim(int64_t d) { return set(dim_, d); }
  int64_t dim() const { return dim_; }

 private:
  int64_t dim_;
};
using LogSoftmaxOptions = SoftmaxOptions;

/// exp(x) / sum of exp(x) along dim, floating point; see softmax(). Errors of forward: IndexError.
class AMBIT_API SoftmaxImpl : public Cloneable<SoftmaxImpl> {
 public:
  explicit SoftmaxImpl(const SoftmaxOptions& opts);
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
  explicit LogSoftmaxImpl(const LogSoftmaxOptions& opts);
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  LogSoftmaxOptions options;
};
AMBIT_MODULE(LogSoftmax);

/// Options of ELU.
class ELUOptions : public Options<ELUOptions> {
 public:
  ELUOptions(double alpha = 1) : alpha_(alpha) {}

  /// Minus the limit of the output for x -> -inf. Default: 1.
  AMBIT_OPTION(ELUOptions, double, alpha);
  AMBIT_OPTION(ELUOptions, bool, inplace) = false;
};

/// Compute x > 0 ? x : alpha (e^x - 1); see elu().
class AMBIT_API ELUImpl : public Cloneable<ELUImpl> {
 public:
  explicit ELUImpl(const ELUOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  ELUOptions options;
};
AMBIT_MODULE(ELU);

/// Options of SELU.
class SELUOptions : public Options<SELUOptions> {
 public:
  SELUOptions(bool inplace = false) : inplace_(inplace) {}

  AMBIT_OPTION(SELUOptions, bool, inplace);
};

/// Compute ELU with fixed scale and alpha that keep mean 0 and variance 1; see selu().
class AMBIT_API SELUImpl : public Cloneable<SELUImpl> {
 public:
  explicit SELUImpl(const SELUOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  SELUOptions options;
};
AMBIT_MODULE(SELU);

/// Options of CELU.
class CELUOptions : public Options<CELUOptions> {
 public:
  CELUOptions(double alpha = 1) : alpha_(alpha) {}

  /// Minus the limit of the output for x -> -inf; not 0. Default: 1.
  AMBIT_OPTION(CELUOptions, double, alpha);
  AMBIT_OPTION(CELUOptions, bool, inplace) = false;
};

/// Compute x > 0 ? x : alpha (e^(x / alpha) - 1); see celu(). Errors: Error for alpha 0.
class AMBIT_API CELUImpl : public Cloneable<CELUImpl> {
 public:
  explicit CELUImpl(const CELUOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  CELUOptions options;
};
AMBIT_MODULE(CELU);

/// Options of LeakyReLU.
class LeakyReLUOptions : public Options<LeakyReLUOptions> {
 public:
  LeakyReLUOptions(double negative_slope = 0.01) : negative_slope_(negative_slope) {}

  /// Factor of x < 0. Default: 0.01.
  AMBIT_OPTION(LeakyReLUOptions, double, negative_slope);
  AMBIT_OPTION(LeakyReLUOptions, bool, inplace) = false;
};

/// Compute x > 0 ? x : negative_slope * x; see leaky_relu().
class AMBIT_API LeakyReLUImpl : public Cloneable<LeakyReLUImpl> {
 public:
  explicit LeakyReLUImpl(const LeakyReLUOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  LeakyReLUOptions options;
};
AMBIT_MODULE(LeakyReLU);

/// Options of RReLU.
class RReLUOptions : public Options<RReLUOptions> {
  /// Smallest random factor of x < 0.
  AMBIT_OPTION(RReLUOptions, double, lower) = 1. / 8;
  /// Upper bound of the random factor, exclusive.
  AMBIT_OPTION(RReLUOptions, double, upper) = 1. / 3;
  AMBIT_OPTION(RReLUOptions, bool, inplace) = false;
};

/// Compute x > 0 ? x : r x; in training r is uniform in [lower, upper), in evaluation their mean.
class AMBIT_API RReLUImpl : public Cloneable<RReLUImpl> {
 public:
  explicit RReLUImpl(const RReLUOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  RReLUOptions options;
};
AMBIT_MODULE(RReLU);

/// Options of ReLU6.
class ReLU6Options : public Options<ReLU6Options> {
 public:
  ReLU6Options(bool inplace = false) : inplace_(inplace) {}

  AMBIT_OPTION(ReLU6Options, bool, inplace);
};

/// Clamp x to [0, 6]; see relu6().
class AMBIT_API ReLU6Impl : public Cloneable<ReLU6Impl> {
 public:
  explicit ReLU6Impl(const ReLU6Options& opts = {});
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  ReLU6Options options;
};
AMBIT_MODULE(ReLU6);

/// Options of Hardtanh.
class HardtanhOptions : public Options<HardtanhOptions> {
  /// Smallest output.
  AMBIT_OPTION(HardtanhOptions, double, min_val) = -1;
  /// Largest output.
  AMBIT_OPTION(HardtanhOptions, double, max_val) = 1;
  AMBIT_OPTION(HardtanhOptions, bool, inplace) = false;
};

/// Clamp x to [min_val, max_val]; see hardtanh(). Errors: Error unless min_val < max_val.
class AMBIT_API HardtanhImpl : public Cloneable<HardtanhImpl> {
 public:
  explicit HardtanhImpl(const HardtanhOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  HardtanhOptions options;
};
AMBIT_MODULE(Hardtanh);

/// Compute x * sigmoid(x); see silu().
class AMBIT_API SiLUImpl : public Cloneable<SiLUImpl> {
 public:
  void reset() override;
  Tensor forward(const Tensor& input);
};
AMBIT_MODULE(SiLU);

/// Compute x * tanh(softplus(x)); see mish().
class AMBIT_API MishImpl : public Cloneable<MishImpl> {
 public:
  void reset() override;
  Tensor forward(const Tensor& input);
};
AMBIT_MODULE(Mish);

/// Options of Softplus.
class SoftplusOptions : public Options<SoftplusOptions> {
  /// Sharpness: the larger, the closer to relu().
  AMBIT_OPTION(SoftplusOptions, double, beta) = 1;
  /// Value of beta x above which the output is x.
  AMBIT_OPTION(SoftplusOptions, double, threshold) = 20;
};

/// Compute log(1 + e^(beta x)) / beta, or x where beta x > threshold; see softplus().
class AMBIT_API SoftplusImpl : public Cloneable<SoftplusImpl> {
 public:
  explicit SoftplusImpl(const SoftplusOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  SoftplusOptions options;
};
AMBIT_MODULE(Softplus);

/// Compute log(sigmoid(x)), accurate for large |x| too; see logsigmoid().
class AMBIT_API LogSigmoidImpl : public Cloneable<LogSigmoidImpl> {
 public:
  void reset() override;
  Tensor forward(const Tensor& input);
};
AMBIT_MODULE(LogSigmoid);

/// Compute x / (1 + |x|); see softsign().
class AMBIT_API SoftsignImpl : public Cloneable<SoftsignImpl> {
 public:
  void reset() override;
  Tensor forward(const Tensor& input);
};
AMBIT_MODULE(Softsign);

/// Compute x - tanh(x); see tanhshrink().
class AMBIT_API TanhshrinkImpl : public Cloneable<TanhshrinkImpl> {
 public:
  void reset() override;
  Tensor forward(const Tensor& input);
};
AMBIT_MODULE(Tanhshrink);

/// Options of Hardshrink.
class HardshrinkOptions : public Options<HardshrinkOptions> {
 public:
  HardshrinkOptions(double lambda = 0.5) : lambda_(lambda) {}

  /// Largest |x| that gives 0. Default: 0.5.
  AMBIT_OPTION(HardshrinkOptions, double, lambda);
};

/// Compute x where |x| > lambda, else 0; see hardshrink().
class AMBIT_API HardshrinkImpl : public Cloneable<HardshrinkImpl> {
 public:
  explicit HardshrinkImpl(const HardshrinkOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  HardshrinkOptions options;
};
AMBIT_MODULE(Hardshrink);

/// Options of Softshrink.
class SoftshrinkOptions : public Options<SoftshrinkOptions> {
 public:
  SoftshrinkOptions(double lambda = 0.5) : lambda_(lambda) {}

  /// Distance by which values move towards 0. Default: 0.5.
  AMBIT_OPTION(SoftshrinkOptions, double, lambda);
};

/// Compute sign(x) * max(|x| - lambda, 0); see softshrink().
class AMBIT_API SoftshrinkImpl : public Cloneable<SoftshrinkImpl> {
 public:
  explicit SoftshrinkImpl(const SoftshrinkOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  SoftshrinkOptions options;
};
AMBIT_MODULE(Softshrink);

/// Options of PReLU.
class PReLUOptions : public Options<PReLUOptions> {
 public:
  PReLUOptions(int64_t num_parameters = 1) : num_parameters_(num_parameters) {}

  /// 1, one weight for all, or the number of channels. Default: 1.
  AMBIT_OPTION(PReLUOptions, int64_t, num_parameters);
  /// Initial value of the weight.
  AMBIT_OPTION(PReLUOptions, double, init) = 0.25;
};

/// Compute x > 0 ? x : weight * x with a learned weight [num_parameters]; see prelu(). Errors:
/// Error for num_parameters < 1; of forward ShapeError.
class AMBIT_API PReLUImpl : public Cloneable<PReLUImpl> {
 public:
  explicit PReLUImpl(const PReLUOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  PReLUOptions options;
  /// Factor of x < 0, [num_parameters].
  Tensor weight;
};
AMBIT_MODULE(PReLU);

/// Options of Threshold.
class ThresholdOptions : public Options<ThresholdOptions> {
 public:
  ThresholdOptions(double threshold, double value) : threshold_(threshold), value_(value) {}

  /// Largest x that is replaced.
  AMBIT_OPTION(ThresholdOptions, double, threshold);
  /// Output for each x <= threshold.
  AMBIT_OPTION(ThresholdOptions, double, value);
  AMBIT_OPTION(ThresholdOptions, bool, inplace) = false;
};

/// Compute x > threshold ? x : value; see threshold().
class AMBIT_API ThresholdImpl : public Cloneable<ThresholdImpl> {
 public:
  ThresholdImpl(double threshold, double value);
  explicit ThresholdImpl(const ThresholdOptions& opts);
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  ThresholdOptions options;
};
AMBIT_MODULE(Threshold);

/// Options of GLU.
class GLUOptions : public Options<GLUOptions> {
 public:
  GLUOptions(int64_t dim = -1) : dim_(dim) {}

  /// The dim that is split in half. Default: -1.
  AMBIT_OPTION(GLUOptions, int64_t, dim);
};

/// Compute a * sigmoid(b), where a and b are the halves of x along dim: the output has half the
/// size there; see glu(). Errors of forward: ShapeError, IndexError.
class AMBIT_API GLUImpl : public Cloneable<GLUImpl> {
 public:
  explicit GLUImpl(const GLUOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  GLUOptions options;
};
AMBIT_MODULE(GLU);

using SoftminOptions = SoftmaxOptions;

/// Compute softmax(-x) along dim. Errors of forward: IndexError.
class AMBIT_API SoftminImpl : public Cloneable<SoftminImpl> {
 public:
  explicit SoftminImpl(const SoftminOptions& opts);
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  SoftminOptions options;
};
AMBIT_MODULE(Softmin);

/// Softmax over the channels of x [N,C,H,W] or [C,H,W]. Errors of forward: ShapeError.
class AMBIT_API Softmax2dImpl : public Cloneable<Softmax2dImpl> {
 public:
  void reset() override;
  Tensor forward(const Tensor& input);
};
AMBIT_MODULE(Softmax2d);

}  // namespace ambit::nn
