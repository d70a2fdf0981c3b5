// Linear, Bilinear, and the modules that only reshape or return their input.
#pragma once

#include <ambit/function_table.h>
#include <ambit/nn/cloneable.h>
#include <ambit/nn/options.h>
#include <ambit/nn/quantizable.h>

#include <vector>

namespace ambit::nn {

/// Options of Linear.
class LinearOptions : public Options<LinearOptions> {
 public:
  LinearOptions(int64_t in_features, int64_t out_features)
      : in_features_(in_features), out_features_(out_features) {}
  /// Size of the last dim of the input.
  LinearOptions& in_features(int64_t n) { return set(in_features_, n); }
  /// Size of the last dim of the output; 0 is allowed.
  LinearOptions& out_features(int64_t n) { return set(out_features_, n); }
  /// Add a learned bias. Default: true.
  LinearOptions& bias(bool on) { return set(bias_, on); }
  int64_t in_features() const { return in_features_; }
  int64_t out_features() const { return out_features_; }
  bool bias() const { return bias_; }

 private:
  int64_t in_features_, out_features_;
  bool bias_ = true;
};

/// y = x weight^T + bias: x [..., in_features] -> y [..., out_features]. weight [out_features,
/// in_features] and bias [out_features] are initialised uniformly in +-1/sqrt(in_features), as in
/// torch.nn.Linear. Errors: Error for negative sizes; of forward those of linear().
class AMBIT_API LinearImpl : public Cloneable<LinearImpl>, public Quantizable {
 public:
  LinearImpl(int64_t in_features, int64_t out_features);
  explicit LinearImpl(const LinearOptions& opts);
  void reset() override;
  /// Reinitialise weight and bias with random values.
  void reset_parameters();
  Tensor forward(const Tensor& input);
  /// Like forward(), followed by a fused activation as in linear_map(): UnaryOp::relu, gelu,
  /// gelu_tanh.
  Tensor forward_map(const Tensor& input, UnaryOp activation);
  std::vector<QuantizableWeight> quantizable_weights() override {
    return {{"weight", weight, weight_scale}};
  }
  void pretty_print(std::ostream& os) const override;

  LinearOptions options;
  /// [out_features, in_features] and [out_features]; the bias is undefined without that
  /// option.
  Tensor weight, bias;
  Tensor weight_scale;  ///< row scales [out_features] of an int8 weight, else undefined; quantize.h
};
AMBIT_MODULE(Linear);

/// Options of Flatten; negative dims count from the end.
class FlattenOptions : public Options<FlattenOptions> {
 public:
  /// First dim that is joined. Default: 1, so the batch dim remains.
  FlattenOptions& start_dim(int64_t dim) { return set(start_dim_, dim); }
  /// Last dim that is joined. Default: -1.
  FlattenOptions& end_dim(int64_t dim) { return set(end_dim_, dim); }
  int64_t start_dim() const { return start_dim_; }
  int64_t end_dim() const { return end_dim_; }

 private:
  int64_t start_dim_ = 1, end_dim_ = -1;
};

/// Join dims start_dim to end_dim into one; the default keeps only the batch dim: [N,C,H,W] -> [N,
/// C H W]; see flatten(). Errors of forward: IndexError; ShapeError if start_dim > end_dim.
class AMBIT_API FlattenImpl : public Cloneable<FlattenImpl> {
 public:
  explicit FlattenImpl(const FlattenOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  FlattenOptions options;
};
AMBIT_MODULE(Flatten);

/// Options of Unflatten.
class UnflattenOptions : public Options<UnflattenOptions> {
 public:
  UnflattenOptions(int64_t dim, std::vector<int64_t> sizes) : dim_(dim), sizes_(std::move(sizes)) {}

  /// The dim to split; negative values count from the end.
  AMBIT_OPTION(UnflattenOptions, int64_t, dim);
  /// Sizes that replace the dim; one may be -1 and follows from the others.
  AMBIT_OPTION(UnflattenOptions, std::vector<int64_t>, sizes);
};

/// Split one dim into several, the inverse of Flatten. Errors of forward: IndexError, ShapeError.
class AMBIT_API UnflattenImpl : public Cloneable<UnflattenImpl> {
 public:
  UnflattenImpl(int64_t dim, std::vector<int64_t> sizes);
  explicit UnflattenImpl(const UnflattenOptions& opts);
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  UnflattenOptions options;
};
AMBIT_MODULE(Unflatten);

/// Options of Bilinear.
class BilinearOptions : public Options<BilinearOptions> {
 public:
  BilinearOptions(int64_t in1_features, int64_t in2_features, int64_t out_features)
      : in1_features_(in1_features), in2_features_(in2_features), out_features_(out_features) {}

  /// Size of the last dim of the first input.
  AMBIT_OPTION(BilinearOptions, int64_t, in1_features);
  /// Size of the last dim of the second input.
  AMBIT_OPTION(BilinearOptions, int64_t, in2_features);
  /// Size of the last dim of the output.
  AMBIT_OPTION(BilinearOptions, int64_t, out_features);
  /// Add a learned bias.
  AMBIT_OPTION(BilinearOptions, bool, bias) = true;
};

/// y[k] = x1^T weight[k] x2 + bias[k]: x1 [..., in1_features], x2 [..., in2_features] -> [...,
/// out_features]. weight [out, in1, in2] and bias [out] are initialised uniformly in
/// +-1/sqrt(in1_features). Errors: Error for features below 1; of forward ShapeError,
/// DeviceMismatchError.
class AMBIT_API BilinearImpl : public Cloneable<BilinearImpl> {
 public:
  BilinearImpl(int64_t in1_features, int64_t in2_features, int64_t out_features);
  explicit BilinearImpl(const BilinearOptions& opts);
  void reset() override;
  /// Reinitialise weight and bias with random values.
  void reset_parameters();
  /// The inputs have equal sizes except for the last.
  Tensor forward(const Tensor& input1, const Tensor& input2);
  void pretty_print(std::ostream& os) const override;

  BilinearOptions options;
  /// [out, in1, in2] and [out]; the bias is undefined without that option.
  Tensor weight, bias;
};
AMBIT_MODULE(Bilinear);

/// Return the input itself.
class AMBIT_API IdentityImpl : public Cloneable<IdentityImpl> {
 public:
  void reset() override;
  Tensor forward(const Tensor& input);
};
AMBIT_MODULE(Identity);

}  // namespace ambit::nn
