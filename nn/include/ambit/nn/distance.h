// Distances between vectors as modules. Errors and gradients: those of the functions in
// functional/loss.h.
#pragma once

#include <ambit/nn/cloneable.h>
#include <ambit/nn/options.h>

namespace ambit::nn {

/// Options of CosineSimilarity.
class CosineSimilarityOptions : public Options<CosineSimilarityOptions> {
  /// The dim of the vectors, which is removed.
  AMBIT_OPTION(CosineSimilarityOptions, int64_t, dim) = 1;
  /// Lower bound of each norm, so that zero vectors give 0.
  AMBIT_OPTION(CosineSimilarityOptions, double, eps) = 1e-8;
};

/// Compute the cosine of x1 and x2 along dim, which is removed; see cosine_similarity().
class AMBIT_API CosineSimilarityImpl : public Cloneable<CosineSimilarityImpl> {
 public:
  explicit CosineSimilarityImpl(const CosineSimilarityOptions& opts = {});
  void reset() override;
  /// Return the cosines; x1 and x2 broadcast.
  Tensor forward(const Tensor& x1, const Tensor& x2);

  CosineSimilarityOptions options;
};
AMBIT_MODULE(CosineSimilarity);

/// Options of PairwiseDistance.
class PairwiseDistanceOptions : public Options<PairwiseDistanceOptions> {
  /// Order of the norm.
  AMBIT_OPTION(PairwiseDistanceOptions, double, p) = 2;
  /// Added to each difference.
  AMBIT_OPTION(PairwiseDistanceOptions, double, eps) = 1e-6;
  /// Keep the last dim with size 1.
  AMBIT_OPTION(PairwiseDistanceOptions, bool, keepdim) = false;
};

/// Compute ||x1 - x2 + eps||_p along the last dim; see pairwise_distance().
class AMBIT_API PairwiseDistanceImpl : public Cloneable<PairwiseDistanceImpl> {
 public:
  explicit PairwiseDistanceImpl(const PairwiseDistanceOptions& opts = {});
  void reset() override;
  /// [N,D] or [D] -> [N] or []; the inputs broadcast.
  Tensor forward(const Tensor& x1, const Tensor& x2);

  PairwiseDistanceOptions options;
};
AMBIT_MODULE(PairwiseDistance);

}  // namespace ambit::nn
