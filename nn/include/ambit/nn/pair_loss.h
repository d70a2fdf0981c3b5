// Losses of pairs and triples as modules, beside those of loss.h: the functions of
// functional/loss.h, which say what they compute. Errors and gradients: those of the functions.
#pragma once

#include <ambit/nn/cloneable.h>
#include <ambit/nn/loss.h>
#include <ambit/nn/options.h>

#include <functional>

namespace ambit {
/// libtorch's name of KLDivLoss's reduction by the number of rows.
struct BatchMean {};
inline constexpr BatchMean kBatchMean;
}  // namespace ambit

namespace ambit::nn {

/// Options of L1Loss, with their defaults.
class L1LossOptions : public Options<L1LossOptions> {
 public:
  L1LossOptions(Reduction reduction = Reduction::mean) : reduction_(reduction) {}

  AMBIT_OPTION(L1LossOptions, Reduction, reduction);
};

/// l1_loss(): |x - y|.
class AMBIT_API L1LossImpl : public Cloneable<L1LossImpl> {
 public:
  explicit L1LossImpl(const L1LossOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& input, const Tensor& target);

  L1LossOptions options;
};
AMBIT_MODULE(L1Loss);

/// Options of SmoothL1Loss, with their defaults.
class SmoothL1LossOptions : public Options<SmoothL1LossOptions> {
 public:
  SmoothL1LossOptions(Reduction reduction = Reduction::mean) : reduction_(reduction) {}

  AMBIT_OPTION(SmoothL1LossOptions, Reduction, reduction);
  AMBIT_OPTION(SmoothL1LossOptions, double, beta) = 1;
};

/// smooth_l1_loss(): d = |x - y|; d < beta ? d^2 / (2 beta) : d - beta / 2. Errors of forward:
/// Error for a negative beta.
class AMBIT_API SmoothL1LossImpl : public Cloneable<SmoothL1LossImpl> {
 public:
  explicit SmoothL1LossImpl(const SmoothL1LossOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& input, const Tensor& target);

  SmoothL1LossOptions options;
};
AMBIT_MODULE(SmoothL1Loss);

/// Options of HuberLoss, with their defaults.
class HuberLossOptions : public Options<HuberLossOptions> {
 public:
  HuberLossOptions(Reduction reduction = Reduction::mean) : reduction_(reduction) {}

  AMBIT_OPTION(HuberLossOptions, Reduction, reduction);
  AMBIT_OPTION(HuberLossOptions, double, delta) = 1;
};

/// huber_loss(): d = |x - y|; d < delta ? d^2 / 2 : delta (d - delta / 2). Errors of forward: Error
/// unless delta > 0.
class AMBIT_API HuberLossImpl : public Cloneable<HuberLossImpl> {
 public:
  explicit HuberLossImpl(const HuberLossOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& input, const Tensor& target);

  HuberLossOptions options;
};
AMBIT_MODULE(HuberLoss);

/// Options of HingeEmbeddingLoss, with their defaults.
class HingeEmbeddingLossOptions : public Options<HingeEmbeddingLossOptions> {
  AMBIT_OPTION(HingeEmbeddingLossOptions, double, margin) = 1;
  AMBIT_OPTION(HingeEmbeddingLossOptions, Reduction, reduction) = Reduction::mean;
};

/// hinge_embedding_loss(): x where y is 1, max(0, margin - x) where y is -1.
class AMBIT_API HingeEmbeddingLossImpl : public Cloneable<HingeEmbeddingLossImpl> {
 public:
  explicit HingeEmbeddingLossImpl(const HingeEmbeddingLossOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& input, const Tensor& target);

  HingeEmbeddingLossOptions options;
};
AMBIT_MODULE(HingeEmbeddingLoss);

/// Options of MarginRankingLoss, with their defaults.
class MarginRankingLossOptions : public Options<MarginRankingLossOptions> {
  AMBIT_OPTION(MarginRankingLossOptions, double, margin) = 0;
  AMBIT_OPTION(MarginRankingLossOptions, Reduction, reduction) = Reduction::mean;
};

/// margin_ranking_loss(): max(0, -y (x1 - x2) + margin).
class AMBIT_API MarginRankingLossImpl : public Cloneable<MarginRankingLossImpl> {
 public:
  explicit MarginRankingLossImpl(const MarginRankingLossOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& input1, const Tensor& input2, const Tensor& target);

  MarginRankingLossOptions options;
};
AMBIT_MODULE(MarginRankingLoss);

/// Options of CosineEmbeddingLoss, with their defaults.
class CosineEmbeddingLossOptions : public Options<CosineEmbeddingLossOptions> {
  AMBIT_OPTION(CosineEmbeddingLossOptions, double, margin) = 0;
  AMBIT_OPTION(CosineEmbeddingLossOptions, Reduction, reduction) = Reduction::mean;
};

/// cosine_embedding_loss(): 1 - cos where y is 1, max(0, cos - margin) where it is -1; x1, x2
/// [N,D], y [N].
class AMBIT_API CosineEmbeddingLossImpl : public Cloneable<CosineEmbeddingLossImpl> {
 public:
  explicit CosineEmbeddingLossImpl(const CosineEmbeddingLossOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& input1, const Tensor& input2, const Tensor& target);

  CosineEmbeddingLossOptions options;
};
AMBIT_MODULE(CosineEmbeddingLoss);

/// Options of SoftMarginLoss, with their defaults.
class SoftMarginLossOptions : public Options<SoftMarginLossOptions> {
 public:
  SoftMarginLossOptions(Reduction reduction = Reduction::mean) : reduction_(reduction) {}

  AMBIT_OPTION(SoftMarginLossOptions, Reduction, reduction);
};

/// soft_margin_loss(): log(1 + e^(-y x)).
class AMBIT_API SoftMarginLossImpl : public Cloneable<SoftMarginLossImpl> {
 public:
  explicit SoftMarginLossImpl(const SoftMarginLossOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& input, const Tensor& target);

  SoftMarginLossOptions options;
};
AMBIT_MODULE(SoftMarginLoss);

/// Options of PoissonNLLLoss, with their defaults.
class PoissonNLLLossOptions : public Options<PoissonNLLLossOptions> {
  AMBIT_OPTION(PoissonNLLLossOptions, bool, log_input) = true;
  AMBIT_OPTION(PoissonNLLLossOptions, bool, full) = false;
  AMBIT_OPTION(PoissonNLLLossOptions, double, eps) = 1e-8;
  AMBIT_OPTION(PoissonNLLLossOptions, Reduction, reduction) = Reduction::mean;
};

/// poisson_nll_loss(): e^x - y x, x the logarithm of the rate.
class AMBIT_API PoissonNLLLossImpl : public Cloneable<PoissonNLLLossImpl> {
 public:
  explicit PoissonNLLLossImpl(const PoissonNLLLossOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& input, const Tensor& target);

  PoissonNLLLossOptions options;
};
AMBIT_MODULE(PoissonNLLLoss);

/// Options of TripletMarginLoss, with their defaults.
class TripletMarginLossOptions : public Options<TripletMarginLossOptions> {
  AMBIT_OPTION(TripletMarginLossOptions, double, margin) = 1;
  AMBIT_OPTION(TripletMarginLossOptions, double, p) = 2;
  AMBIT_OPTION(TripletMarginLossOptions, double, eps) = 1e-6;
  AMBIT_OPTION(TripletMarginLossOptions, bool, swap) = false;
  AMBIT_OPTION(TripletMarginLossOptions, Reduction, reduction) = Reduction::mean;
};

/// triplet_margin_loss(): max(0, d(a, p) - d(a, n) + margin), rows [N,D].
class AMBIT_API TripletMarginLossImpl : public Cloneable<TripletMarginLossImpl> {
 public:
  explicit TripletMarginLossImpl(const TripletMarginLossOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& anchor, const Tensor& positive, const Tensor& negative);

  TripletMarginLossOptions options;
};
AMBIT_MODULE(TripletMarginLoss);

/// A distance of rows: [N,D] and [N,D] -> [N].
using Distance = std::function<Tensor(const Tensor&, const Tensor&)>;

/// Options of TripletMarginWithDistanceLoss, with their defaults.
class TripletMarginWithDistanceLossOptions : public Options<TripletMarginWithDistanceLossOptions> {
 public:
  using distance_function_t = Distance;
  using reduction_t = Reduction;

  AMBIT_OPTION(TripletMarginWithDistanceLossOptions, Distance, distance_function);
  AMBIT_OPTION(TripletMarginWithDistanceLossOptions, double, margin) = 1;
  AMBIT_OPTION(TripletMarginWithDistanceLossOptions, bool, swap) = false;
  AMBIT_OPTION(TripletMarginWithDistanceLossOptions, Reduction, reduction) = Reduction::mean;
};

/// triplet_margin_with_distance_loss(): the same with a distance of one's own.
class AMBIT_API TripletMarginWithDistanceLossImpl
    : public Cloneable<TripletMarginWithDistanceLossImpl> {
 public:
  explicit TripletMarginWithDistanceLossImpl(const TripletMarginWithDistanceLossOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& anchor, const Tensor& positive, const Tensor& negative);

  TripletMarginWithDistanceLossOptions options;
};
AMBIT_MODULE(TripletMarginWithDistanceLoss);

/// Options of KLDivLoss. reduction: also kBatchMean, the sum divided by the size of dim 0, which is
/// the divergence; log_target: whether targets are log-probabilities.
class KLDivLossOptions : public Options<KLDivLossOptions> {
 public:
  KLDivLossOptions(Reduction reduction = Reduction::mean) : reduction_(reduction) {}
  KLDivLossOptions(BatchMean) { reduction(kBatchMean); }
  KLDivLossOptions& reduction(Reduction r) {
    batch_mean_ = false;
    return set(reduction_, r);
  }
  KLDivLossOptions& reduction(BatchMean) {
    batch_mean_ = true;
    return set(reduction_, Reduction::sum);
  }
  /// Return the sum where it is to be divided by the size of dim 0.
  Reduction reduction() const { return reduction_; }
  bool batch_mean() const { return batch_mean_; }

  AMBIT_OPTION(KLDivLossOptions, bool, log_target) = false;
  Reduction reduction_ = Reduction::mean;
  bool batch_mean_ = false;
};

/// kl_div(): y (log(y) - x), x log-probabilities.
class AMBIT_API KLDivLossImpl : public Cloneable<KLDivLossImpl> {
 public:
  explicit KLDivLossImpl(const KLDivLossOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& input, const Tensor& target);

  KLDivLossOptions options;
};
AMBIT_MODULE(KLDivLoss);

}  // namespace ambit::nn
