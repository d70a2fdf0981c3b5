// Losses as modules: CrossEntropyLoss, NLLLoss, MSELoss. Class weights are a buffer, so they move
// with the module: `loss_fn = loss_fn.to(device);`.
#pragma once

#include <ambit/nn/cloneable.h>
#include <ambit/nn/options.h>
#include <ambit/ops/loss.h>

namespace ambit {
// Names of libtorch.
/// libtorch's names of the reductions.
inline constexpr Reduction kNone = Reduction::none, kMean = Reduction::mean, kSum = Reduction::sum;
}  // namespace ambit

namespace ambit::nn {

/// Options of CrossEntropyLoss.
class CrossEntropyLossOptions : public Options<CrossEntropyLossOptions> {
 public:
  /// Factor of each class, [C]. Default: undefined (1).
  CrossEntropyLossOptions& weight(Tensor v) { return set(weight_, std::move(v)); }
  /// Target class that does not contribute. Default: -100.
  CrossEntropyLossOptions& ignore_index(int64_t i) { return set(ignore_index_, i); }
  CrossEntropyLossOptions& reduction(Reduction r) { return set(reduction_, r); }
  /// Fraction of each target that is spread over all classes, in [0, 1]. Default: 0.
  CrossEntropyLossOptions& label_smoothing(double v) { return set(label_smoothing_, v); }
  const Tensor& weight() const { return weight_; }
  int64_t ignore_index() const { return ignore_index_; }
  Reduction reduction() const { return reduction_; }
  double label_smoothing() const { return label_smoothing_; }

 private:
  Tensor weight_;  // [C], factor of each class; undefined: 1
  int64_t ignore_index_ = -100;
  Reduction reduction_ = Reduction::mean;
  double label_smoothing_ = 0;
};

/// Compute cross_entropy(): logits [N,C,...] or [C]; targets are int64 class indices [N,...] or
/// probabilities of the logits' shape -> [], or with kNone the logits' shape without C.
///   class t: -weight[t] log(softmax(x[n])[t]); the mean divides by the sum of these weights
/// Errors: Error for label_smoothing outside [0, 1]; ShapeError for a weight that is not 1-D; of
/// forward those of cross_entropy().
class AMBIT_API CrossEntropyLossImpl : public Cloneable<CrossEntropyLossImpl> {
 public:
  explicit CrossEntropyLossImpl(const CrossEntropyLossOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& input, const Tensor& target);

  CrossEntropyLossOptions options;
  /// The option, as a buffer.
  Tensor weight;
};
AMBIT_MODULE(CrossEntropyLoss);

/// Options of NLLLoss.
class NLLLossOptions : public Options<NLLLossOptions> {
 public:
  /// Factor of each class, [C]. Default: undefined (1).
  NLLLossOptions& weight(Tensor v) { return set(weight_, std::move(v)); }
  /// Target class that does not contribute. Default: -100.
  NLLLossOptions& ignore_index(int64_t i) { return set(ignore_index_, i); }
  NLLLossOptions& reduction(Reduction r) { return set(reduction_, r); }
  const Tensor& weight() const { return weight_; }
  int64_t ignore_index() const { return ignore_index_; }
  Reduction reduction() const { return reduction_; }

 private:
  Tensor weight_;  // [C], factor of each class; undefined: 1
  int64_t ignore_index_ = -100;
  Reduction reduction_ = Reduction::mean;
};

/// Compute nll_loss(): log-probabilities [N,C,...] or [C] and int64 class indices [N,...] -> [], or
/// with kNone the targets' shape.
///   class t: -weight[t] x[n,t]; the mean divides by the sum of these weights
/// Errors: ShapeError for a weight that is not 1-D; of forward those of nll_loss().
class AMBIT_API NLLLossImpl : public Cloneable<NLLLossImpl> {
 public:
  explicit NLLLossImpl(const NLLLossOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& input, const Tensor& target);

  NLLLossOptions options;
  /// The option, as a buffer.
  Tensor weight;
};
AMBIT_MODULE(NLLLoss);

/// Options of MSELoss.
class MSELossOptions : public Options<MSELossOptions> {
 public:
  MSELossOptions(Reduction reduction = Reduction::mean) : reduction_(reduction) {}
  MSELossOptions& reduction(Reduction r) { return set(reduction_, r); }
  Reduction reduction() const { return reduction_; }

 private:
  Reduction reduction_;
};

/// Compute mse_loss(): (x - target)^2 of tensors of the same shape -> [], or with kNone that shape.
/// Errors of forward: ShapeError, DTypeError, DeviceMismatchError.
class AMBIT_API MSELossImpl : public Cloneable<MSELossImpl> {
 public:
  explicit MSELossImpl(const MSELossOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& input, const Tensor& target);

  MSELossOptions options;
};
AMBIT_MODULE(MSELoss);

}  // namespace ambit::nn
