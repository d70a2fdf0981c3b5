// nn::functional: losses and distances, composed of ops. x and y have the same shape unless stated
// otherwise; they may broadcast. `reduction` returns the mean or the sum of the elementwise losses
// l, or l itself (none). Errors of all: DTypeError (floating point only), ShapeError,
// DeviceMismatchError; Error for an undefined tensor. Gradient: all floating-point operands.
#pragma once

#include <ambit/ops/loss.h>
#include <ambit/tensor.h>

#include <functional>
#include <optional>

namespace ambit::nn::functional {

/// l = |x - y|
AMBIT_API Tensor l1_loss(const Tensor& input, const Tensor& target,
                         Reduction reduction = Reduction::mean);
/// l = d < beta ? d^2 / (2 beta) : d - beta / 2, d = |x - y|. Errors: Error for a negative beta.
/// Source: Girshick 2015, arXiv:1504.08083.
AMBIT_API Tensor smooth_l1_loss(const Tensor& input, const Tensor& target,
                                Reduction reduction = Reduction::mean, double beta = 1);
/// l = d < delta ? d^2 / 2 : delta (d - delta / 2), d = |x - y|. Errors: Error unless delta > 0.
AMBIT_API Tensor huber_loss(const Tensor& input, const Tensor& target,
                            Reduction reduction = Reduction::mean, double delta = 1);
/// l = -w (y log(x) + (1 - y) log(1 - x)) of probabilities x and y; logarithms are clamped to >=
/// -100. weight w: broadcasts, undefined: 1. Errors: also Error for an x outside [0, 1].
AMBIT_API Tensor binary_cross_entropy(const Tensor& input, const Tensor& target,
                                      const Tensor& weight = {},
                                      Reduction reduction = Reduction::mean);
/// l = -w (p y log(s) + (1 - y) log(1 - s)), s = sigmoid(x), computed from the logits x without
/// overflow. pos_weight p: factor of positive targets, broadcasts, undefined: 1.
AMBIT_API Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target,
                                                  const Tensor& weight = {},
                                                  Reduction reduction = Reduction::mean,
                                                  const Tensor& pos_weight = {});
/// l = y (log(y) - x), x log-probabilities; with log_target, y is one too: l = e^y (y - x).
AMBIT_API Tensor kl_div(const Tensor& input, const Tensor& target,
                        Reduction reduction = Reduction::mean, bool log_target = false);
/// l = x where y is 1, max(0, margin - x) where y is -1.
AMBIT_API Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target, double margin = 1,
                                      Reduction reduction = Reduction::mean);
/// l = max(0, -y (x1 - x2) + margin), y 1 where x1 should be larger, else -1.
AMBIT_API Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2,
                                     const Tensor& target, double margin = 0,
                                     Reduction reduction = Reduction::mean);
/// l = 1 - c where y is 1, max(0, c - margin) where it is -1, c = cosine of x1 and x2 along dim 1;
/// x1, x2 [N,D] or [D], y [N] or [].
AMBIT_API Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2,
                                       const Tensor& target, double margin = 0,
                                       Reduction reduction = Reduction::mean);
/// l = log(1 + e^(-y x)), y 1 or -1.
AMBIT_API Tensor soft_margin_loss(const Tensor& input, const Tensor& target,
                                  Reduction reduction = Reduction::mean);
/// l = mean over classes of binary_cross_entropy_with_logits: x, y [N,C] or [C] -> l [N] or [];
/// weight [C].
AMBIT_API Tensor multilabel_soft_margin_loss(const Tensor& input, const Tensor& target,
                                             const Tensor& weight = {},
                                             Reduction reduction = Reduction::mean);
/// l = sum over classes i != y of w[y] max(0, margin - x[y] + x[i])^p / C; x [N,C] or [C], y int64
/// [N] or [], weight w [C]. The weight is outside the power, as in PyTorch. Errors: Error unless p
/// is 1 or 2; IndexError for a class outside [0, C).
AMBIT_API Tensor multi_margin_loss(const Tensor& input, const Tensor& target, int64_t p = 1,
                                   double margin = 1, const Tensor& weight = {},
                                   Reduction reduction = Reduction::mean);
/// l = sum over labels j, and classes i that are not labels, of max(0, 1 - (x[j] - x[i])) / C; x
/// [N,C] or [C], y int64 of the same shape; its labels end at the first negative number.
AMBIT_API Tensor multilabel_margin_loss(const Tensor& input, const Tensor& target,
                                        Reduction reduction = Reduction::mean);
/// l = e^x - y x, x the log of the rate; with log_input false: x - y log(x + eps), x the rate.
/// full: add Stirling's term y log(y) - y + log(2 pi y) / 2 where y > 1.
AMBIT_API Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, bool log_input = true,
                                  bool full = false, double eps = 1e-8,
                                  Reduction reduction = Reduction::mean);

/// ||x1 - x2 + eps||_p along the last dim, which is removed unless keepdim.
AMBIT_API Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, double p = 2,
                                   double eps = 1e-6, bool keepdim = false);
/// (x1 / max(|x1|, eps)) (x2 / max(|x2|, eps)) summed along dim, which is removed; they broadcast.
AMBIT_API Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, int64_t dim = 1,
                                   double eps = 1e-8);
/// x / max(||x||_p along dim, eps)
AMBIT_API Tensor normalize(const Tensor& input, double p = 2, int64_t dim = 1, double eps = 1e-12);
/// l = max(0, d(a, p) - d(a, n) + margin), d = pairwise_distance; swap: use min(d(a, n), d(p, n))
/// instead of d(a, n). a, p, n [N,D] -> l [N]. Source: Balntas et al. 2016.
AMBIT_API Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive,
                                     const Tensor& negative, double margin = 1, double p = 2,
                                     double eps = 1e-6, bool swap = false,
                                     Reduction reduction = Reduction::mean);
/// As triplet_margin_loss(), with a user-defined distance; if it is empty, pairwise_distance.
AMBIT_API Tensor triplet_margin_with_distance_loss(
    const Tensor& anchor, const Tensor& positive, const Tensor& negative,
    const std::function<Tensor(const Tensor&, const Tensor&)>& distance = {}, double margin = 1,
    bool swap = false, Reduction reduction = Reduction::mean);

}  // namespace ambit::nn::functional
