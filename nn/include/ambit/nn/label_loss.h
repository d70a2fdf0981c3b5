// Losses of labels as modules, beside those of loss.h: several classes at once, probabilities,
// sequences. The functions of functional/loss.h and ops/loss.h say what they compute. Errors and
// gradients: those of the functions.
#pragma once

#include <ambit/nn/cloneable.h>
#include <ambit/nn/loss.h>
#include <ambit/nn/options.h>

namespace ambit::nn {

/// Options of BCELoss, with their defaults.
class BCELossOptions : public Options<BCELossOptions> {
  AMBIT_OPTION(BCELossOptions, Tensor, weight);
  AMBIT_OPTION(BCELossOptions, Reduction, reduction) = Reduction::mean;
};

/// binary_cross_entropy(): -(y log(x) + (1 - y) log(1 - x)) of probabilities. Weights are buffers.
class AMBIT_API BCELossImpl : public Cloneable<BCELossImpl> {
 public:
  explicit BCELossImpl(const BCELossOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& input, const Tensor& target);

  BCELossOptions options;
  Tensor weight;
};
AMBIT_MODULE(BCELoss);

/// Options of BCEWithLogitsLoss, with their defaults.
class BCEWithLogitsLossOptions : public Options<BCEWithLogitsLossOptions> {
  AMBIT_OPTION(BCEWithLogitsLossOptions, Tensor, weight);
  AMBIT_OPTION(BCEWithLogitsLossOptions, Reduction, reduction) = Reduction::mean;
  AMBIT_OPTION(BCEWithLogitsLossOptions, Tensor, pos_weight);
};

/// binary_cross_entropy_with_logits(): of logits, without overflow. Weights are buffers.
class AMBIT_API BCEWithLogitsLossImpl : public Cloneable<BCEWithLogitsLossImpl> {
 public:
  explicit BCEWithLogitsLossImpl(const BCEWithLogitsLossOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& input, const Tensor& target);

  BCEWithLogitsLossOptions options;
  Tensor weight, pos_weight;
};
AMBIT_MODULE(BCEWithLogitsLoss);

/// Options of MultiLabelMarginLoss, with their defaults.
class MultiLabelMarginLossOptions : public Options<MultiLabelMarginLossOptions> {
 public:
  MultiLabelMarginLossOptions(Reduction reduction = Reduction::mean) : reduction_(reduction) {}

  AMBIT_OPTION(MultiLabelMarginLossOptions, Reduction, reduction);
};

/// multilabel_margin_loss(): x [N,C], y int64 [N,C], labels up to the first negative number.
class AMBIT_API MultiLabelMarginLossImpl : public Cloneable<MultiLabelMarginLossImpl> {
 public:
  explicit MultiLabelMarginLossImpl(const MultiLabelMarginLossOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& input, const Tensor& target);

  MultiLabelMarginLossOptions options;
};
AMBIT_MODULE(MultiLabelMarginLoss);

/// Options of MultiLabelSoftMarginLoss, with their defaults.
class MultiLabelSoftMarginLossOptions : public Options<MultiLabelSoftMarginLossOptions> {
  AMBIT_OPTION(MultiLabelSoftMarginLossOptions, Tensor, weight);
  AMBIT_OPTION(MultiLabelSoftMarginLossOptions, Reduction, reduction) = Reduction::mean;
};

/// multilabel_soft_margin_loss(): x, y [N,C], weight [C]. Weights are buffers.
class AMBIT_API MultiLabelSoftMarginLossImpl : public Cloneable<MultiLabelSoftMarginLossImpl> {
 public:
  explicit MultiLabelSoftMarginLossImpl(const MultiLabelSoftMarginLossOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& input, const Tensor& target);

  MultiLabelSoftMarginLossOptions options;
  Tensor weight;
};
AMBIT_MODULE(MultiLabelSoftMarginLoss);

/// Options of MultiMarginLoss, with their defaults.
class MultiMarginLossOptions : public Options<MultiMarginLossOptions> {
  AMBIT_OPTION(MultiMarginLossOptions, int64_t, p) = 1;
  AMBIT_OPTION(MultiMarginLossOptions, double, margin) = 1;
  AMBIT_OPTION(MultiMarginLossOptions, Tensor, weight);
  AMBIT_OPTION(MultiMarginLossOptions, Reduction, reduction) = Reduction::mean;
};

/// multi_margin_loss(): x [N,C], y int64 [N], weight [C]. Errors of forward: Error unless p is 1
/// or 2. Weights are buffers.
class AMBIT_API MultiMarginLossImpl : public Cloneable<MultiMarginLossImpl> {
 public:
  explicit MultiMarginLossImpl(const MultiMarginLossOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& input, const Tensor& target);

  MultiMarginLossOptions options;
  Tensor weight;
};
AMBIT_MODULE(MultiMarginLoss);

/// Options of CTCLoss. blank: the class that is none; zero_infinity: 0 in place of losses of inf.
class CTCLossOptions : public Options<CTCLossOptions> {
  AMBIT_OPTION(CTCLossOptions, int64_t, blank) = 0;
  AMBIT_OPTION(CTCLossOptions, Reduction, reduction) = Reduction::mean;
  AMBIT_OPTION(CTCLossOptions, bool, zero_infinity) = false;
};

/// ctc_loss(): log_probs [T,N,C] or [T,C], targets [N,S] or [sum of target_lengths], both lengths
/// [N]. Errors of forward also: IndexError.
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
