// Losses with labels as modules.
#include <ambit/nn/functional/loss.h>
#include <ambit/nn/label_loss.h>
#include <ambit/ops/loss.h>

namespace ambit::nn {
namespace {

// An alias, so that moving the module does not move the user's tensor.
Tensor alias(const Tensor& weight) { return weight.defined() ? weight.detach() : Tensor(); }

}  // namespace

BCELossImpl::BCELossImpl(const BCELossOptions& opts) : options(opts) { BCELossImpl::reset(); }
void BCELossImpl::reset() { weight = register_buffer("weight", alias(options.weight())); }
Tensor BCELossImpl::forward(const Tensor& input, const Tensor& target) {
  return functional::binary_cross_entropy(input, target, weight, options.reduction());
}

BCEWithLogitsLossImpl::BCEWithLogitsLossImpl(const BCEWithLogitsLossOptions& opts) : options(opts) {
  BCEWithLogitsLossImpl::reset();
}
void BCEWithLogitsLossImpl::reset() {
  weight = register_buffer("weight", alias(options.weight()));
  pos_weight = register_buffer("pos_weight", alias(options.pos_weight()));
}
Tensor BCEWithLogitsLossImpl::forward(const Tensor& input, const Tensor& target) {
  return functional::binary_cross_entropy_with_logits(input, target, weight, options.reduction(),
                                                      pos_weight);
}

MultiLabelMarginLossImpl::MultiLabelMarginLossImpl(const MultiLabelMarginLossOptions& opts)
    : options(opts) {}
void MultiLabelMarginLossImpl::reset() {}
Tensor MultiLabelMarginLossImpl::forward(const Tensor& input, const Tensor& target) {
  return functional::multilabel_margin_loss(input, target, options.reduction());
}

MultiLabelSoftMarginLossImpl::MultiLabelSoftMarginLossImpl(
    const MultiLabelSoftMarginLossOptions& opts)
    : options(opts) {
  MultiLabelSoftMarginLossImpl::reset();
}
void MultiLabelSoftMarginLossImpl::reset() {
  weight = register_buffer("weight", alias(options.weight()));
}
Tensor MultiLabelSoftMarginLossImpl::forward(const Tensor& input, const Tensor& target) {
  return functional::multilabel_soft_margin_loss(input, target, weight, options.reduction());
}

MultiMarginLossImpl::MultiMarginLossImpl(const MultiMarginLossOptions& opts) : options(opts) {
  MultiMarginLossImpl::reset();
}
void MultiMarginLossImpl::reset() { weight = register_buffer("weight", alias(options.weight())); }
Tensor MultiMarginLossImpl::forward(const Tensor& input, const Tensor& target) {
  return functional::multi_margin_loss(input, target, options.p(), options.margin(), weight,
                                       options.reduction());
}

CTCLossImpl::CTCLossImpl(const CTCLossOptions& opts) : options(opts) {}
void CTCLossImpl::reset() {}
Tensor CTCLossImpl::forward(const Tensor& log_probs, const Tensor& targets,
                            const Tensor& input_lengths, const Tensor& target_lengths) {
  return ctc_loss(log_probs, targets, input_lengths, target_lengths, options.blank(),
                  options.reduction(), options.zero_infinity());
}

}  // namespace ambit::nn
