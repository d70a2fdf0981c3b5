// Losses of pairs and triplets as modules, in addition to loss.h. Formulas, errors and gradients:
// those of the functions in functional/loss.h. reduction: default mean, in all options.
#pragma once

#include <ambit/nn/cloneable.h>
#include <ambit/nn/loss.h>
#include <ambit/nn/options.h>

#include <functional>

namespace ambit {
/// Tag type of libtorch's reduction kBatchMean: KLDivLoss divided by the batch size.
struct BatchMean {};
/// The reduction "batchmean" of PyTorch.
inline constexpr BatchMean kBatchMean;
}  // namespace ambit

namespace ambit::nn {

/// Options of L1Loss.
class L1LossOptions : public Options<L1LossOptions> {
 public:
  L1LossOptions(Reduction reduction = Reduction::mean) : reduction_(reduction) {}

  AMBIT_OPTION(L1LossOptions, Reduction, reduction);
};

/// Compute |x - y|; see l1_loss().
class AMBIT_API L1LossImpl : public Cloneable<L1LossImpl> {
 public:
  explicit L1LossImpl(const L1LossOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& input, const Tensor& target);

  L1LossOptions options;
};
AMBIT_MODULE(L1Loss);

/// Options of SmoothL1Loss.
class SmoothL1LossOptions : public Options<SmoothL1LossOptions> {
 public:
  SmoothL1LossOptions(Reduction reduction = Reduction::mean) : reduction_(reduction) {}

  AMBIT_OPTION(SmoothL1LossOptions, Reduction, reduction);
  /// |x - y| at which the loss becomes linear; not negative.
  AMBIT_OPTION(SmoothL1LossOptions, double, beta) = 1;
};

/// Compute d < beta ? d^2 / (2 beta) : d - beta / 2, d = |x - y|; see smooth_l1_loss(). Errors of
/// forward: Error for a negative beta.
class AMBIT_API SmoothL1LossImpl : public Cloneable<SmoothL1LossImpl> {
 public:
  explicit SmoothL1LossImpl(const SmoothL1LossOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& input, const Tensor& target);

  SmoothL1LossOptions options;
};
AMBIT_MODULE(SmoothL1Loss);

/// Options of HuberLoss.
class HuberLossOptions : public Options<HuberLossOptions> {
 public:
  HuberLossOptions(Reduction reduction = Reduction::mean) : reduction_(reduction) {}

  AMBIT_OPTION(HuberLossOptions, Reduction, reduction);
  /// |x - y| at which the loss becomes linear; positive.
  AMBIT_OPTION(HuberLossOptions, double, delta) = 1;
};

/// Compute d < delta ? d^2 / 2 : delta (d - delta / 2), d = |x - y|; see huber_loss(). Errors of
/// forward: Error unless delta > 0.
class AMBIT_API HuberLossImpl : public Cloneable<HuberLossImpl> {
 public:
  explicit HuberLossImpl(const HuberLossOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& input, const Tensor& target);

  HuberLossOptions options;
};
AMBIT_MODULE(HuberLoss);

/// Options of HingeEmbeddingLoss.
class HingeEmbeddingLossOptions : public Options<HingeEmbeddingLossOptions> {
  /// Input above which a pair of y = -1 has no loss.
  AMBIT_OPTION(HingeEmbeddingLossOptions, double, margin) = 1;
  AMBIT_OPTION(HingeEmbeddingLossOptions, Reduction, reduction) = Reduction::mean;
};

/// Compute x where y is 1, max(0, margin - x) where y is -1; see hinge_embedding_loss().
class AMBIT_API HingeEmbeddingLossImpl : public Cloneable<HingeEmbeddingLossImpl> {
 public:
  explicit HingeEmbeddingLossImpl(const HingeEmbeddingLossOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& input, const Tensor& target);

  HingeEmbeddingLossOptions options;
};
AMBIT_MODULE(HingeEmbeddingLoss);

/// Options of MarginRankingLoss.
class MarginRankingLossOptions : public Options<MarginRankingLossOptions> {
  /// Distance between x1 and x2 above which a pair in the right order has no loss.
  AMBIT_OPTION(MarginRankingLossOptions, double, margin) = 0;
  AMBIT_OPTION(MarginRankingLossOptions, Reduction, reduction) = Reduction::mean;
};

/// Compute max(0, -y (x1 - x2) + margin), y 1 or -1; see margin_ranking_loss().
class AMBIT_API MarginRankingLossImpl : public Cloneable<MarginRankingLossImpl> {
 public:
  explicit MarginRankingLossImpl(const MarginRankingLossOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& input1, const Tensor& input2, const Tensor& target);

  MarginRankingLossOptions options;
};
AMBIT_MODULE(MarginRankingLoss);

/// Options of CosineEmbeddingLoss.
class CosineEmbeddingLossOptions : public Options<CosineEmbeddingLossOptions> {
  /// Cosine below which a pair of y = -1 has no loss.
  AMBIT_OPTION(CosineEmbeddingLossOptions, double, margin) = 0;
  AMBIT_OPTION(CosineEmbeddingLossOptions, Reduction, reduction) = Reduction::mean;
};

/// Compute 1 - cos(x1, x2) where y is 1, max(0, cos(x1, x2) - margin) where y is -1; x1, x2 [N,D],
/// y [N]; see cosine_embedding_loss().
class AMBIT_API CosineEmbeddingLossImpl : public Cloneable<CosineEmbeddingLossImpl> {
 public:
  explicit CosineEmbeddingLossImpl(const CosineEmbeddingLossOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& input1, const Tensor& input2, const Tensor& target);

  CosineEmbeddingLossOptions options;
};
AMBIT_MODULE(CosineEmbeddingLoss);

/// Options of SoftMarginLoss.
class SoftMarginLossOptions : public Options<SoftMarginLossOptions> {
 public:
  SoftMarginLossOptions(Reduction reduction = Reduction::mean) : reduction_(reduction) {}

  AMBIT_OPTION(SoftMarginLossOptions, Reduction, reduction);
};

/// Compute log(1 + e^(-y x)), y 1 or -1; see soft_margin_loss().
class AMBIT_API SoftMarginLossImpl : public Cloneable<SoftMarginLossImpl> {
 public:
  explicit SoftMarginLossImpl(const SoftMarginLossOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& input, const Tensor& target);

  SoftMarginLossOptions options;
};
AMBIT_MODULE(SoftMarginLoss);

/// Options of PoissonNLLLoss.
class PoissonNLLLossOptions : public Options<PoissonNLLLossOptions> {
  /// The input is the logarithm of the rate, not the rate.
  AMBIT_OPTION(PoissonNLLLossOptions, bool, log_input) = true;
  /// Add Stirling's approximation of log(y!) for targets above 1.
  AMBIT_OPTION(PoissonNLLLossOptions, bool, full) = false;
  /// Added to the rate in its logarithm; unused with log_input.
  AMBIT_OPTION(PoissonNLLLossOptions, double, eps) = 1e-8;
  AMBIT_OPTION(PoissonNLLLossOptions, Reduction, reduction) = Reduction::mean;
};

/// Compute e^x - y x, or x - y log(x + eps) if log_input is false; see poisson_nll_loss().
class AMBIT_API PoissonNLLLossImpl : public Cloneable<PoissonNLLLossImpl> {
 public:
  explicit PoissonNLLLossImpl(const PoissonNLLLossOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& input, const Tensor& target);

  PoissonNLLLossOptions options;
};
AMBIT_MODULE(PoissonNLLLoss);

/// Options of TripletMarginLoss.
class TripletMarginLossOptions : public Options<TripletMarginLossOptions> {
  /// Distance by which the negative should be farther than the positive.
  AMBIT_OPTION(TripletMarginLossOptions, double, margin) = 1;
  /// Order of the distance's norm.
  AMBIT_OPTION(TripletMarginLossOptions, double, p) = 2;
  /// Added to differences before the norm.
  AMBIT_OPTION(TripletMarginLossOptions, double, eps) = 1e-6;
  /// Use min(d(a, n), d(p, n)) as the distance of the negative.
  AMBIT_OPTION(TripletMarginLossOptions, bool, swap) = false;
  AMBIT_OPTION(TripletMarginLossOptions, Reduction, reduction) = Reduction::mean;
};

/// Compute max(0, d(a, p) - d(a, n) + margin) of rows [N,D]; see triplet_margin_loss().
class AMBIT_API TripletMarginLossImpl : public Cloneable<TripletMarginLossImpl> {
 public:
  explicit TripletMarginLossImpl(const TripletMarginLossOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& anchor, const Tensor& positive, const Tensor& negative);

  TripletMarginLossOptions options;
};
AMBIT_MODULE(TripletMarginLoss);

/// A distance function of rows: [N,D] and [N,D] -> [N].
using Distance = std::function<Tensor(const Tensor&, const Tensor&)>;

/// Options of TripletMarginWithDistanceLoss.
class TripletMarginWithDistanceLossOptions : public Options<TripletMarginWithDistanceLossOptions> {
 public:
  using distance_function_t = Distance;
  using reduction_t = Reduction;

  /// Default: empty, which is pairwise_distance().
  AMBIT_OPTION(TripletMarginWithDistanceLossOptions, Distance, distance_function);
  /// Distance by which the negative should be farther than the positive.
  AMBIT_OPTION(TripletMarginWithDistanceLossOptions, double, margin) = 1;
  /// Use min(d(a, n), d(p, n)) as the distance of the negative.
  AMBIT_OPTION(TripletMarginWithDistanceLossOptions, bool, swap) = false;
  AMBIT_OPTION(TripletMarginWithDistanceLossOptions, Reduction, reduction) = Reduction::mean;
};

/// TripletMarginLoss with the distance function of the options.
class AMBIT_API TripletMarginWithDistanceLossImpl
    : public Cloneable<TripletMarginWithDistanceLossImpl> {
 public:
  explicit TripletMarginWithDistanceLossImpl(const TripletMarginWithDistanceLossOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& anchor, const Tensor& positive, const Tensor& negative);

  TripletMarginWithDistanceLossOptions options;
};
AMBIT_MODULE(TripletMarginWithDistanceLoss);

/// Options of KLDivLoss.
class KLDivLossOptions : public Options<KLDivLossOptions> {
 public:
  KLDivLossOptions(Reduction reduction = Reduction::mean) : reduction_(reduction) {}
  KLDivLossOptions(BatchMean) { reduction(kBatchMean); }
  /// kMean (default), kSum or kNone; or kBatchMean, the sum divided by the size of dim 0,
  /// which is the divergence per sample.
  KLDivLossOptions& reduction(Reduction r) {
    batch_mean_ = false;
    return set(reduction_, r);
  }
  KLDivLossOptions& reduction(BatchMean) {
    batch_mean_ = true;
    return set(reduction_, Reduction::sum);
  }
  /// Return the reduction; with kBatchMean, Reduction::sum.
  Reduction reduction() const { return reduction_; }
  /// Return whether the reduction is kBatchMean.
  bool batch_mean() const { return batch_mean_; }

  /// Targets are log-probabilities.
  AMBIT_OPTION(KLDivLossOptions, bool, log_target) = false;
  Reduction reduction_ = Reduction::mean;
  bool batch_mean_ = false;
};

/// Compute y (log(y) - x), x log-probabilities; see kl_div().
class AMBIT_API KLDivLossImpl : public Cloneable<KLDivLossImpl> {
 public:
  explicit KLDivLossImpl(const KLDivLossOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& input, const Tensor& target);

  KLDivLossOptions options;
};
AMBIT_MODULE(KLDivLoss);

}  // namespace ambit::nn
