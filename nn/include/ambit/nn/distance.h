// Distances of vectors as modules. Errors and gradients: those of the functions in
// functional/loss.h.
#pragma once

#include <ambit/nn/cloneable.h>
#include <ambit/nn/options.h>

namespace ambit::nn {

/// Options of CosineSimilarity. dim: default 1; eps: lower bound of each norm, default
/// 1e-8.
class CosineSimilarityOptions : public Options<CosineSimilarityOptions> {
  AMBIT_OPTION(CosineSimilarityOptions, int64_t, dim) = 1;
  AMBIT_OPTION(CosineSimilarityOptions, double, eps) = 1e-8;
};

/// Compute the cosine of x1 and x2 along dim, which is removed; see cosine_similarity().
class AMBIT_API CosineSimilarityImpl : public Cloneable<CosineSimilarityImpl> {
 public:
  explicit CosineSimilarityImpl(const CosineSimilarityOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& x1, const Tensor& x2);

  CosineSimilarityOptions options;
};
AMBIT_MODULE(CosineSimilarity);

/// Options of PairwiseDistance. p: order of the norm, default 2; eps: added to each difference,
/// default 1e-6; keepdim: keep the last dim with size 1, default false.
class PairwiseDistanceOptions : public Options<PairwiseDistanceOptions> {
  AMBIT_OPTION(PairwiseDistanceOptions, double, p) = 2;
  AMBIT_OPTION(PairwiseDistanceOptions, double, eps) = 1e-6;
  AMBIT_OPTION(PairwiseDistanceOptions, bool, keepdim) = false;
};

/// Compute ||x1 - x2 + eps||_p along the last dim; see pairwise_distance().
class AMBIT_API PairwiseDistanceImpl : public Cloneable<PairwiseDistanceImpl> {
 public:
  explicit PairwiseDistanceImpl(const PairwiseDistanceOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& x1, const Tensor& x2);

  PairwiseDistanceOptions options;
};
AMBIT_MODULE(PairwiseDistance);

}  // namespace ambit::nn
