// Losses as modules: CrossEntropyLoss, NLLLoss, MSELoss. Class weights are a buffer, which moves
// with the module: `loss_fn = loss_fn.to(device);`.
#pragma once

#include <ambit/nn/cloneable.h>
#include <ambit/nn/options.h>

namespace ambit {
// libtorch's names of the reductions.
inline constexpr Reduction kNone = Reduction::none, kMean = Reduction::mean, kSum = Reduction::sum;
}  // namespace ambit

namespace ambit::nn {

class CrossEntropyLossOptions : public Options<CrossEntropyLossOptions> {
 public:
  CrossEntropyLossOptions& weight(Tensor v) { return set(weight_, std::move(v)); }
  CrossEntropyLossOptions& ignore_index(int64_t i) { return set(ignore_index_, i); }
  CrossEntropyLossOptions& reduction(Reduction r) { return set(reduction_, r); }
  CrossEntropyLossOptions& label_smoothing(double v) { return set(label_smoothing_, v); }
  const Tensor& weight() const { return weight_; }
  int64_t ignore_index() const { return ignore_index_; }
  Reduction reduction() const { return reduction_; }
  double label_smoothing() const { return label_smoothing_; }

 private:
  Tensor weight_;  // [C], of each class; undefined: ones
  int64_t ignore_index_ = -100;
  Reduction reduction_ = Reduction::mean;
  double label_smoothing_ = 0;
};

/// cross_entropy() of logits [N,C,...] and targets, classes or probabilities.
/// Errors: Error for label_smoothing outside [0, 1]; ShapeError for a weight that is not 1-D.
class AMBIT_API CrossEntropyLossImpl : public Cloneable<CrossEntropyLossImpl> {
 public:
  explicit CrossEntropyLossImpl(const CrossEntropyLossOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& input, const Tensor& target);

  CrossEntropyLossOptions options;
  Tensor weight;
};
AMBIT_MODULE(CrossEntropyLoss);

class NLLLossOptions : public Options<NLLLossOptions> {
 public:
  NLLLossOptions& weight(Tensor v) { return set(weight_, std::move(v)); }
  NLLLossOptions& ignore_index(int64_t i) { return set(ignore_index_, i); }
  NLLLossOptions& reduction(Reduction r) { return set(reduction_, r); }
  const Tensor& weight() const { return weight_; }
  int64_t ignore_index() const { return ignore_index_; }
  Reduction reduction() const { return reduction_; }

 private:
  Tensor weight_;  // [C], of each class; undefined: ones
  int64_t ignore_index_ = -100;
  Reduction reduction_ = Reduction::mean;
};

/// nll_loss() of log-probabilities [N,C,...] and classes. Errors: ShapeError for a weight that is
/// not 1-D.
class AMBIT_API NLLLossImpl : public Cloneable<NLLLossImpl> {
 public:
  explicit NLLLossImpl(const NLLLossOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& input, const Tensor& target);

  NLLLossOptions options;
  Tensor weight;
};
AMBIT_MODULE(NLLLoss);

class MSELossOptions : public Options<MSELossOptions> {
 public:
  MSELossOptions(Reduction reduction = Reduction::mean) : reduction_(reduction) {}
  MSELossOptions& reduction(Reduction r) { return set(reduction_, r); }
  Reduction reduction() const { return reduction_; }

 private:
  Reduction reduction_;
};

/// mse_loss() of tensors of one shape.
class AMBIT_API MSELossImpl : public Cloneable<MSELossImpl> {
 public:
  explicit MSELossImpl(const MSELossOptions& opts = {}) : options(opts) {}
  void reset() override;
  Tensor forward(const Tensor& input, const Tensor& target);

  MSELossOptions options;
};
AMBIT_MODULE(MSELoss);

}  // namespace ambit::nn
