// Losses of pairs and triplets as modules.
#include <ambit/nn/functional.h>
#include <ambit/nn/functional/loss.h>
#include <ambit/nn/pair_loss.h>

namespace ambit::nn {

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

KLDivLossImpl::KLDivLossImpl(const KLDivLossOptions& opts) : options(opts) {}
void KLDivLossImpl::reset() {}
Tensor KLDivLossImpl::forward(const Tensor& input, const Tensor& target) {
  return functional::kl_div(input, target, options);
}

}  // namespace ambit::nn
