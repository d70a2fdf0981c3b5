// AdaptiveLogSoftmaxWithLoss: a softmax over very many classes, of which frequent ones are cheap.
#pragma once

#include <ambit/nn/cloneable.h>
#include <ambit/nn/linear.h>
#include <ambit/nn/module_list.h>
#include <ambit/nn/options.h>

#include <vector>

namespace ambit::nn {

/// What AdaptiveLogSoftmaxWithLoss returns.
struct ASMoutput {
  ASMoutput(Tensor output_, double loss_) : output(std::move(output_)), loss(loss_) {}
  Tensor output;  ///< the log-probability of each target: [N], or [] of one example
  double loss;    ///< the mean of -output; to differentiate take that of output
};

/// Options of AdaptiveLogSoftmaxWithLoss. cutoffs: the classes where clusters begin, the first of
/// which also ends the head's own; div_value: by how much each cluster has fewer features than the
/// one before; head_bias: whether the head has a bias.
class AdaptiveLogSoftmaxWithLossOptions : public Options<AdaptiveLogSoftmaxWithLossOptions> {
 public:
  AdaptiveLogSoftmaxWithLossOptions(int64_t in_features, int64_t n_classes,
                                    std::vector<int64_t> ends)
      : in_features_(in_features), n_classes_(n_classes), cutoffs_(std::move(ends)) {}

  AMBIT_OPTION(AdaptiveLogSoftmaxWithLossOptions, int64_t, in_features);
  AMBIT_OPTION(AdaptiveLogSoftmaxWithLossOptions, int64_t, n_classes);
  AMBIT_OPTION(AdaptiveLogSoftmaxWithLossOptions, std::vector<int64_t>, cutoffs);
  AMBIT_OPTION(AdaptiveLogSoftmaxWithLossOptions, double, div_value) = 4;
  AMBIT_OPTION(AdaptiveLogSoftmaxWithLossOptions, bool, head_bias) = false;
};

/// A softmax in two steps: the head tells the first cutoffs[0] classes and the clusters of the
/// others apart, tail[i] the classes of cluster i, from cutoffs[i] to below cutoffs[i + 1], by a
/// product with in_features / div_value^(i + 1) features between.
///   log p(class c) = log_softmax(head(x))[c], or of a cluster k
///                    log_softmax(head(x))[cutoffs[0] + k] + log_softmax(tail[k](x))[c -
///                    cutoffs[k]]
/// Only the clusters that targets are in are computed, so that all its functions but log_prob()
/// wait for the device. Errors: Error for sizes below 1, and cutoffs that do not rise within [1,
/// n_classes - 1]; of forward ShapeError, DTypeError, DeviceMismatchError; IndexError for a target
/// outside [0, n_classes). Source: Grave et al. 2016, arXiv:1609.04309.
class AMBIT_API AdaptiveLogSoftmaxWithLossImpl : public Cloneable<AdaptiveLogSoftmaxWithLossImpl> {
 public:
  AdaptiveLogSoftmaxWithLossImpl(int64_t in_features, int64_t n_classes, std::vector<int64_t> ends);
  explicit AdaptiveLogSoftmaxWithLossImpl(const AdaptiveLogSoftmaxWithLossOptions& opts);
  void reset() override;
  void reset_parameters();
  /// input [N, in_features], target int64 [N]; or [in_features] and [].
  ASMoutput forward(const Tensor& input, const Tensor& target);
  /// The log-probabilities of all classes: [N, in_features] -> [N, n_classes].
  Tensor log_prob(const Tensor& input);
  /// The same of what head gives for the input: [N, head_size].
  Tensor _get_full_log_prob(const Tensor& input, const Tensor& head_output);
  /// The likeliest class: [N, in_features] -> int64 [N]. As log_prob(input).argmax(1), but clusters
  /// are computed only for examples whose likeliest one is a cluster.
  Tensor predict(const Tensor& input);

  AdaptiveLogSoftmaxWithLossOptions options;
  std::vector<int64_t> cutoffs;  // the options', and n_classes
  int64_t shortlist_size = 0, n_clusters = 0, head_size = 0;
  Linear head{nullptr};
  ModuleList tail{nullptr};

 private:
  void check(const Tensor& input) const;
};
AMBIT_MODULE(AdaptiveLogSoftmaxWithLoss);

}  // namespace ambit::nn
