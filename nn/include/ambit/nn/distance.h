// Distances of vectors as modules: the functions of functional/loss.h. Errors and gradients: those
// of the functions.
#pragma once

#include <ambit/nn/cloneable.h>
#include <ambit/nn/options.h>

namespace ambit::nn {

/// Options of CosineSimilarity, with their defaults.
class CosineSimilarityOptions : public Options<CosineSimilarityOptions> {
  AMBIT_OPTION(CosineSimilarityOptions, int64_t, dim) = 1;
  AMBIT_OPTION(CosineSimilarityOptions, double, eps) = 1e-8;
};

/// cosine_similarity(): the cosine of x1 and x2 along dim, which goes.
class AMBIT_API CosineSimilarityImpl : public Cloneable<CosineSimilarityImpl> {
 public:
  explicit CosineSimilarityImpl(const CosineSimilarityOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& x1, const Tensor& x2);

  CosineSimilarityOptions options;
};
AMBIT_MODULE(CosineSimilarity);

/// Options of PairwiseDistance, with their defaults.
class PairwiseDistanceOptions : public Options<PairwiseDistanceOptions> {
  AMBIT_OPTION(PairwiseDistanceOptions, double, p) = 2;
  AMBIT_OPTION(PairwiseDistanceOptions, double, eps) = 1e-6;
  AMBIT_OPTION(PairwiseDistanceOptions, bool, keepdim) = false;
};

/// pairwise_distance(): ||x1 - x2 + eps||_p along the last dim.
class AMBIT_API PairwiseDistanceImpl : public Cloneable<PairwiseDistanceImpl> {
 public:
  explicit PairwiseDistanceImpl(const PairwiseDistanceOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& x1, const Tensor& x2);

  PairwiseDistanceOptions options;
};
AMBIT_MODULE(PairwiseDistance);

}  // namespace ambit::nn
