// Losses of pairs, triples and labels as modules.
#include <ambit/nn/functional.h>
#include <ambit/nn/functional/loss.h>
#include <ambit/nn/pair_loss.h>

namespace ambit::nn {
namespace {

// Moving the module must not move the tensor that the program holds.
Tensor alias(const Tensor& weight) { return weight.defined() ? weight.detach() : Tensor(); }

}  // namespace

L1LossImpl::L1LossImpl(const L1LossOptions& opts) : options(opts) {}
void L1LossImpl::reset() {}
Tensor L1LossImpl::forward(const Tensor& input, const Tensor& target) {
  return functional::l1_loss(input, target, options.reduction());
}

SmoothL1LossImpl::SmoothL1LossImpl(const SmoothL1LossOptions& opts) : options(opts) {}
void SmoothL1LossImpl::reset() {}
Tensor SmoothL1LossImpl::forward(const Tensor& input, const Tensor& target) {
  return functional::smooth_l1_loss(input, target, options.reduction(), options.beta());
}

HuberLossImpl::HuberLossImpl(const HuberLossOptions& opts) : options(opts) {}
void HuberLossImpl::reset() {}
Tensor HuberLossImpl::forward(const Tensor& input, const Tensor& target) {
  return functional::huber_loss(input, target, options.reduction(), options.delta());
}

HingeEmbeddingLossImpl::HingeEmbeddingLossImpl(const HingeEmbeddingLossOptions& opts)
    : options(opts) {}
void HingeEmbeddingLossImpl::reset() {}
Tensor HingeEmbeddingLossImpl::forward(const Tensor& input, const Tensor& target) {
  return functional::hinge_embedding_loss(input, target, options.margin(), options.reduction());
}

MarginRankingLossImpl::MarginRankingLossImpl(const MarginRankingLossOptions& opts)
    : options(opts) {}
void MarginRankingLossImpl::reset() {}
Tensor MarginRankingLossImpl::forward(const Tensor& input1, const Tensor& input2,
                                      const Tensor& target) {
  return functional::margin_ranking_loss(input1, input2, target, options.margin(),
                                         options.reduction());
}

CosineEmbeddingLossImpl::CosineEmbeddingLossImpl(const CosineEmbeddingLossOptions& opts)
    : options(opts) {}
void CosineEmbeddingLossImpl::reset() {}
Tensor CosineEmbeddingLossImpl::forward(const Tensor& input1, const Tensor& input2,
                                        const Tensor& target) {
  return functional::cosine_embedding_loss(input1, input2, target, options.margin(),
                                           options.reduction());
}

SoftMarginLossImpl::SoftMarginLossImpl(const SoftMarginLossOptions& opts) : options(opts) {}
void SoftMarginLossImpl::reset() {}
Tensor SoftMarginLossImpl::forward(const Tensor& input, const Tensor& target) {
  return functional::soft_margin_loss(input, target, options.reduction());
}

MultiLabelMarginLossImpl::MultiLabelMarginLossImpl(const MultiLabelMarginLossOptions& opts)
    : options(opts) {}
void MultiLabelMarginLossImpl::reset() {}
Tensor MultiLabelMarginLossImpl::forward(const Tensor& input, const Tensor& target) {
  return functional::multilabel_margin_loss(input, target, options.reduction());
}

PoissonNLLLossImpl::PoissonNLLLossImpl(const PoissonNLLLossOptions& opts) : options(opts) {}
void PoissonNLLLossImpl::reset() {}
Tensor PoissonNLLLossImpl::forward(const Tensor& input, const Tensor& target) {
  return functional::poisson_nll_loss(input, target, options.log_input(), options.full(),
                                      options.eps(), options.reduction());
}

TripletMarginLossImpl::TripletMarginLossImpl(const TripletMarginLossOptions& opts)
    : options(opts) {}
void TripletMarginLossImpl::reset() {}
Tensor TripletMarginLossImpl::forward(const Tensor& anchor, const Tensor& positive,
                                      const Tensor& negative) {
  return functional::triplet_margin_loss(anchor, positive, negative, options.margin(), options.p(),
                                         options.eps(), options.swap(), options.reduction());
}

TripletMarginWithDistanceLossImpl::TripletMarginWithDistanceLossImpl(
    const TripletMarginWithDistanceLossOptions& opts)
    : options(opts) {}
void TripletMarginWithDistanceLossImpl::reset() {}
Tensor TripletMarginWithDistanceLossImpl::forward(const Tensor& anchor, const Tensor& positive,
                                                  const Tensor& negative) {
  return functional::triplet_margin_with_distance_loss(
      anchor, positive, negative, options.distance_function(), options.margin(), options.swap(),
      options.reduction());
}

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

KLDivLossImpl::KLDivLossImpl(const KLDivLossOptions& opts) : options(opts) {}
void KLDivLossImpl::reset() {}
Tensor KLDivLossImpl::forward(const Tensor& input, const Tensor& target) {
  return functional::kl_div(input, target, options);
}

CosineSimilarityImpl::CosineSimilarityImpl(const CosineSimilarityOptions& opts) : options(opts) {}
void CosineSimilarityImpl::reset() {}
Tensor CosineSimilarityImpl::forward(const Tensor& x1, const Tensor& x2) {
  return functional::cosine_similarity(x1, x2, options.dim(), options.eps());
}

PairwiseDistanceImpl::PairwiseDistanceImpl(const PairwiseDistanceOptions& opts) : options(opts) {}
void PairwiseDistanceImpl::reset() {}
Tensor PairwiseDistanceImpl::forward(const Tensor& x1, const Tensor& x2) {
  return functional::pairwise_distance(x1, x2, options.p(), options.eps(), options.keepdim());
}

CTCLossImpl::CTCLossImpl(const CTCLossOptions& opts) : options(opts) {}
void CTCLossImpl::reset() {}
Tensor CTCLossImpl::forward(const Tensor& log_probs, const Tensor& targets,
                            const Tensor& input_lengths, const Tensor& target_lengths) {
  return ctc_loss(log_probs, targets, input_lengths, target_lengths, options.blank(),
                  options.reduction(), options.zero_infinity());
}

}  // namespace ambit::nn
