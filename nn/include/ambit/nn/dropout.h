// Dropout of elements, of channels, and for SELU networks.
#pragma once

#include <ambit/nn/cloneable.h>
#include <ambit/nn/options.h>

namespace ambit::nn {

/// Options of the dropout modules.
class DropoutOptions : public Options<DropoutOptions> {
 public:
  DropoutOptions(double p = 0.5) : p_(p) {}
  /// Probability of zeroing an element or channel, in [0, 1]. Default: 0.5.
  DropoutOptions& p(double v) { return set(p_, v); }
  /// In training overwrite the input and return it. Default: false.
  DropoutOptions& inplace(bool on) { return set(inplace_, on); }
  double p() const { return p_; }
  bool inplace() const { return inplace_; }

 private:
  double p_;
  bool inplace_ = false;
};

/// In training zero each element with probability p and scale the others by 1 / (1 - p); in
/// evaluation return the input. Any shape, floating point; see dropout(). Errors: Error for p
/// outside [0, 1]; of forward DTypeError.
class AMBIT_API DropoutImpl : public Cloneable<DropoutImpl> {
 public:
  explicit DropoutImpl(double p);
  explicit DropoutImpl(const DropoutOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  DropoutOptions options;
};
AMBIT_MODULE(Dropout);

using Dropout2dOptions = DropoutOptions;

/// In training zero whole channels [H,W] of x [N,C,H,W], each with probability p, and scale the
/// others by 1 / (1 - p). Errors: as Dropout; of forward ShapeError. Source: Tompson et al. 2014,
/// arXiv:1411.4280.
class AMBIT_API Dropout2dImpl : public Cloneable<Dropout2dImpl> {
 public:
  explicit Dropout2dImpl(double p);
  explicit Dropout2dImpl(const Dropout2dOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  Dropout2dOptions options;
};
AMBIT_MODULE(Dropout2d);

using Dropout3dOptions = DropoutOptions;

/// Like Dropout2d, for channels [D,H,W] of x [N,C,D,H,W].
class AMBIT_API Dropout3dImpl : public Cloneable<Dropout3dImpl> {
 public:
  explicit Dropout3dImpl(double p);
  explicit Dropout3dImpl(const Dropout3dOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  Dropout3dOptions options;
};
AMBIT_MODULE(Dropout3d);

using AlphaDropoutOptions = DropoutOptions;

/// Dropout that keeps mean and variance of SELU outputs: dropped elements become SELU's negative
/// limit alpha', then an affine map is applied to all. Source: Klambauer et al. 2017,
/// arXiv:1706.02515.
class AMBIT_API AlphaDropoutImpl : public Cloneable<AlphaDropoutImpl> {
 public:
  explicit AlphaDropoutImpl(double p);
  explicit AlphaDropoutImpl(const AlphaDropoutOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  AlphaDropoutOptions options;
};
AMBIT_MODULE(AlphaDropout);

using FeatureAlphaDropoutOptions = DropoutOptions;

/// Like AlphaDropout, for whole channels of x [N,C,...].
class AMBIT_API FeatureAlphaDropoutImpl : public Cloneable<FeatureAlphaDropoutImpl> {
 public:
  explicit FeatureAlphaDropoutImpl(double p);
  explicit FeatureAlphaDropoutImpl(const FeatureAlphaDropoutOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  FeatureAlphaDropoutOptions options;
};
AMBIT_MODULE(FeatureAlphaDropout);

}  // namespace ambit::nn
