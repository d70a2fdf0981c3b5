// Losses as functions, each with options other than the defaults.
#include "layers.h"

using namespace parity;

namespace F = torch::nn::functional;

namespace {

Tensor other() { return wave({3, 4}, 0.37, torch::kDouble); }
Tensor positive() { return torch::sigmoid(other()).detach(); }
Tensor signs(torch::IntArrayRef sizes) {
  return torch::sign(wave(sizes, 1.3, torch::kDouble) + 0.01);
}
Tensor classes() { return torch::tensor({3, 0, 1}, torch::kLong); }
Tensor weight() { return y({4}); }

}  // namespace

PARITY(functional_losses) {
  const Tensor a0 = x({3, 4}), b0 = other();
  const Call calls[] = {
      {CALL(F::l1_loss(a[0], a[1], F::L1LossFuncOptions(torch::kSum))), {a0, b0}, 64},
      {CALL(F::mse_loss(a[0], a[1], F::MSELossFuncOptions(torch::kNone))), {a0, b0}, 64},
      {CALL(F::smooth_l1_loss(a[0], a[1], F::SmoothL1LossFuncOptions(torch::kSum))), {a0, b0}, 64},
      {CALL(F::smooth_l1_loss(a[0], a[1], F::SmoothL1LossFuncOptions(torch::kNone), 0.4)),
       {a0, b0},
       64},
      {CALL(F::huber_loss(a[0], a[1], F::HuberLossFuncOptions().delta(0.4))), {a0, b0}, 64},
      {CALL(F::kl_div(a[0], a[1].exp(), F::KLDivFuncOptions().reduction(torch::kBatchMean))),
       {a0, b0},
       64},
      {CALL(F::kl_div(a[0], a[1], F::KLDivFuncOptions().log_target(true).reduction(torch::kSum))),
       {a0, b0},
       64},
      {CALL(F::binary_cross_entropy(
           torch::sigmoid(a[0]), positive(),
           F::BinaryCrossEntropyFuncOptions().weight(weight()).reduction(torch::kSum))),
       {a0},
       64},
      {CALL(F::binary_cross_entropy_with_logits(
           a[0], positive(),
           F::BinaryCrossEntropyWithLogitsFuncOptions().weight(weight()).pos_weight(weight() * 2))),
       {a0},
       64},
      {CALL(F::poisson_nll_loss(
           a[0].abs() + 0.1, positive() * 3,
           F::PoissonNLLLossFuncOptions().log_input(false).full(true).eps(1e-4))),
       {a0},
       64},
      {CALL(F::soft_margin_loss(a[0], signs({3, 4}), F::SoftMarginLossFuncOptions(torch::kSum))),
       {a0},
       64},
      {CALL(F::hinge_embedding_loss(a[0], signs({3, 4}),
                                    F::HingeEmbeddingLossFuncOptions().margin(0.6))),
       {a0},
       64},
      {CALL(F::margin_ranking_loss(a[0], a[1], signs({3, 4}),
                                   F::MarginRankingLossFuncOptions().margin(0.3))),
       {a0, b0},
       64},
      {CALL(F::cosine_embedding_loss(
           a[0], a[1], signs({3}),
           F::CosineEmbeddingLossFuncOptions().margin(-0.5).reduction(torch::kSum))),
       {a0, b0},
       64},
      {CALL(F::triplet_margin_loss(a[0], a[1], a[2],
                                   F::TripletMarginLossFuncOptions().margin(0.7).p(3).swap(true))),
       {a0, b0, y({3, 4})},
       128},
      {CALL(F::triplet_margin_with_distance_loss(
           a[0], a[1], a[2],
           F::TripletMarginWithDistanceLossFuncOptions()
               .distance_function(
                   [](const Tensor& p, const Tensor& q) { return (p - q).abs().sum(-1); })
               .margin(2))),
       {a0, b0, y({3, 4})},
       128},
  };
  for (const Call& call : calls) run(call);
}

PARITY(functional_losses_of_classes) {
  const Tensor a0 = x({3, 4});
  const Call calls[] = {
      {CALL(F::nll_loss(a[0], classes(), F::NLLLossFuncOptions().weight(weight()).ignore_index(1))),
       {a0},
       64},
      {CALL(F::cross_entropy(a[0], classes(),
                             F::CrossEntropyFuncOptions().label_smoothing(0.2).weight(weight()))),
       {a0},
       64},
      {CALL(
           F::cross_entropy(a[0], positive(), F::CrossEntropyFuncOptions().reduction(torch::kSum))),
       {a0},
       64},
      {CALL(F::multi_margin_loss(
           a[0], classes(), F::MultiMarginLossFuncOptions().p(2).margin(0.8).weight(weight()))),
       {a0},
       64},
      {CALL(F::multilabel_margin_loss(
           a[0], torch::tensor({{3, 0, -1, 1}, {1, -1, 0, 0}, {0, 1, 2, 3}}, torch::kLong),
           F::MultilabelMarginLossFuncOptions(torch::kSum))),
       {a0},
       64},
      {CALL(F::multilabel_soft_margin_loss(
           a[0], (signs({3, 4}) + 1) / 2,
           F::MultilabelSoftMarginLossFuncOptions().weight(weight()).reduction(torch::kSum))),
       {a0},
       64},
  };
  for (const Call& call : calls) run(call);
}
