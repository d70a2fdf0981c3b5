// Distances of vectors as modules.
#include <ambit/nn/distance.h>
#include <ambit/nn/functional/loss.h>

namespace ambit::nn {

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

}  // namespace ambit::nn
