// Losses with labels as modules, in addition to loss.h: multi-label, probabilities, sequences. For
// the formulas see the functions in functional/loss.h and ops/loss.h, also for errors and
// gradients. Weights are buffers. reduction: default mean, in all options.
#pragma once

#include <ambit/nn/cloneable.h>
#include <ambit/nn/loss.h>
#include <ambit/nn/options.h>

namespace ambit::nn {

/// Options of BCELoss.
class BCELossOptions : public Options<BCELossOptions> {
  /// Factor of each element, broadcast to the input. Default: undefined (1).
  AMBIT_OPTION(BCELossOptions, Tensor, weight);
  AMBIT_OPTION(BCELossOptions, Reduction, reduction) = Reduction::mean;
};

/// Compute -(y log(x) + (1 - y) log(1 - x)) of probabilities x; see binary_cross_entropy().
class AMBIT_API BCELossImpl : public Cloneable<BCELossImpl> {
 public:
  explicit BCELossImpl(const BCELossOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& input, const Tensor& target);

  BCELossOptions options;
  /// The option, as a buffer.
  Tensor weight;
};
AMBIT_MODULE(BCELoss);

/// Options of BCEWithLogitsLoss.
class BCEWithLogitsLossOptions : public Options<BCEWithLogitsLossOptions> {
  /// Factor of each element, broadcast to the input. Default: undefined (1).
  AMBIT_OPTION(BCEWithLogitsLossOptions, Tensor, weight);
  AMBIT_OPTION(BCEWithLogitsLossOptions, Reduction, reduction) = Reduction::mean;
  /// Factor of the positive targets of each class, [C]. Default: undefined (1).
  AMBIT_OPTION(BCEWithLogitsLossOptions, Tensor, pos_weight);
};

/// BCELoss of logits, without overflow; see binary_cross_entropy_with_logits().
class AMBIT_API BCEWithLogitsLossImpl : public Cloneable<BCEWithLogitsLossImpl> {
 public:
  explicit BCEWithLogitsLossImpl(const BCEWithLogitsLossOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& input, const Tensor& target);

  BCEWithLogitsLossOptions options;
  /// The options, as buffers.
  Tensor weight, pos_weight;
};
AMBIT_MODULE(BCEWithLogitsLoss);

/// Options of MultiLabelMarginLoss.
class MultiLabelMarginLossOptions : public Options<MultiLabelMarginLossOptions> {
 public:
  MultiLabelMarginLossOptions(Reduction reduction = Reduction::mean) : reduction_(reduction) {}

  AMBIT_OPTION(MultiLabelMarginLossOptions, Reduction, reduction);
};

/// x [N,C] and y int64 [N,C], whose labels end at the first negative number; see
/// multilabel_margin_loss().
class AMBIT_API MultiLabelMarginLossImpl : public Cloneable<MultiLabelMarginLossImpl> {
 public:
  explicit MultiLabelMarginLossImpl(const MultiLabelMarginLossOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& input, const Tensor& target);

  MultiLabelMarginLossOptions options;
};
AMBIT_MODULE(MultiLabelMarginLoss);

/// Options of MultiLabelSoftMarginLoss.
class MultiLabelSoftMarginLossOptions : public Options<MultiLabelSoftMarginLossOptions> {
  /// Factor of each class, [C]. Default: undefined (1).
  AMBIT_OPTION(MultiLabelSoftMarginLossOptions, Tensor, weight);
  AMBIT_OPTION(MultiLabelSoftMarginLossOptions, Reduction, reduction) = Reduction::mean;
};

/// x and y [N,C] with y 0 or 1; see multilabel_soft_margin_loss().
class AMBIT_API MultiLabelSoftMarginLossImpl : public Cloneable<MultiLabelSoftMarginLossImpl> {
 public:
  explicit MultiLabelSoftMarginLossImpl(const MultiLabelSoftMarginLossOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& input, const Tensor& target);

  MultiLabelSoftMarginLossOptions options;
  /// The option, as a buffer.
  Tensor weight;
};
AMBIT_MODULE(MultiLabelSoftMarginLoss);

/// Options of MultiMarginLoss.
class MultiMarginLossOptions : public Options<MultiMarginLossOptions> {
  /// Exponent of each term, 1 or 2.
  AMBIT_OPTION(MultiMarginLossOptions, int64_t, p) = 1;
  /// Distance by which the correct class should exceed the others.
  AMBIT_OPTION(MultiMarginLossOptions, double, margin) = 1;
  /// Factor of each class, [C]. Default: undefined (1).
  AMBIT_OPTION(MultiMarginLossOptions, Tensor, weight);
  AMBIT_OPTION(MultiMarginLossOptions, Reduction, reduction) = Reduction::mean;
};

/// x [N,C], y int64 [N] class indices; see multi_margin_loss(). Errors of forward: Error unless p
/// is 1 or 2.
class AMBIT_API MultiMarginLossImpl : public Cloneable<MultiMarginLossImpl> {
 public:
  explicit MultiMarginLossImpl(const MultiMarginLossOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& input, const Tensor& target);

  MultiMarginLossOptions options;
  /// The option, as a buffer.
  Tensor weight;
};
AMBIT_MODULE(MultiMarginLoss);

/// Options of CTCLoss.
class CTCLossOptions : public Options<CTCLossOptions> {
  /// Class of the blank label.
  AMBIT_OPTION(CTCLossOptions, int64_t, blank) = 0;
  AMBIT_OPTION(CTCLossOptions, Reduction, reduction) = Reduction::mean;
  /// Replace infinite losses, of targets longer than their input, and their gradients by 0.
  AMBIT_OPTION(CTCLossOptions, bool, zero_infinity) = false;
};

/// log_probs [T,N,C] or [T,C], targets [N,S] or [sum of target_lengths], both lengths [N]; see
/// ctc_loss(). Errors of forward: also IndexError.
class AMBIT_API CTCLossImpl : public Cloneable<CTCLossImpl> {
 public:
  explicit CTCLossImpl(const CTCLossOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                 const Tensor& target_lengths);

  CTCLossOptions options;
};
AMBIT_MODULE(CTCLoss);

}  // namespace ambit::nn
