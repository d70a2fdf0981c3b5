// AdaptiveLogSoftmaxWithLoss: a softmax over many classes that computes frequent classes cheaply.
#pragma once

#include <ambit/nn/cloneable.h>
#include <ambit/nn/linear.h>
#include <ambit/nn/module_list.h>
#include <ambit/nn/options.h>

#include <vector>

namespace ambit::nn {

/// Result of AdaptiveLogSoftmaxWithLoss::forward().
struct ASMoutput {
  /// Hold the log-probabilities and the loss of a batch.
  ASMoutput(Tensor output_, double loss_) : output(std::move(output_)), loss(loss_) {}
  Tensor output;  ///< log-probability of each target: [N], or [] for one example
  double loss;    ///< mean of -output, a number; to differentiate, compute it from output
};

/// Options of AdaptiveLogSoftmaxWithLoss.
class AdaptiveLogSoftmaxWithLossOptions : public Options<AdaptiveLogSoftmaxWithLossOptions> {
 public:
  AdaptiveLogSoftmaxWithLossOptions(int64_t in_features, int64_t n_classes,
                                    std::vector<int64_t> ends)
      : in_features_(in_features), n_classes_(n_classes), cutoffs_(std::move(ends)) {}

  /// Size of the last dim of the input.
  AMBIT_OPTION(AdaptiveLogSoftmaxWithLossOptions, int64_t, in_features);
  /// Number of classes; they are sorted by frequency, the most frequent first.
  AMBIT_OPTION(AdaptiveLogSoftmaxWithLossOptions, int64_t, n_classes);
  /// First class of each cluster, increasing; the head itself has the classes below cutoffs[0].
  AMBIT_OPTION(AdaptiveLogSoftmaxWithLossOptions, std::vector<int64_t>, cutoffs);
  /// Each cluster has this factor fewer features than the previous one.
  AMBIT_OPTION(AdaptiveLogSoftmaxWithLossOptions, double, div_value) = 4;
  /// Give the head a bias; the clusters have none.
  AMBIT_OPTION(AdaptiveLogSoftmaxWithLossOptions, bool, head_bias) = false;
};

/// A softmax in two steps. The head distinguishes the first cutoffs[0] classes and the clusters of
/// all other classes; tail[i] distinguishes the classes of cluster i, [cutoffs[i], cutoffs[i + 1]),
/// by two matrices with in_features / div_value^(i + 1) features in between.
///   log p(class c) = log_softmax(head(x))[c], or for a class of cluster k
///     log_softmax(head(x))[cutoffs[0] + k] + log_softmax(tail[k](x))[c - cutoffs[k]]
/// Only clusters that contain a target are computed; therefore all functions except log_prob() wait
/// for the device. Errors: Error for sizes below 1 and for cutoffs that do not increase within [1,
/// n_classes - 1]; of forward ShapeError, DTypeError, DeviceMismatchError; IndexError for a target
/// outside [0, n_classes). Source: Grave et al. 2016, arXiv:1609.04309.
class AMBIT_API AdaptiveLogSoftmaxWithLossImpl : public Cloneable<AdaptiveLogSoftmaxWithLossImpl> {
 public:
  AdaptiveLogSoftmaxWithLossImpl(int64_t in_features, int64_t n_classes, std::vector<int64_t> ends);
  explicit AdaptiveLogSoftmaxWithLossImpl(const AdaptiveLogSoftmaxWithLossOptions& opts);
  void reset() override;
  /// Reinitialise head and tail as Linear does.
  void reset_parameters();
  /// input [N, in_features], target int64 [N]; or [in_features] and [] for one example.
  ASMoutput forward(const Tensor& input, const Tensor& target);
  /// Return the log-probabilities of all classes: [N, in_features] -> [N, n_classes].
  Tensor log_prob(const Tensor& input);
  /// Like log_prob(), given the head's output for the input: [N, head_size].
  Tensor _get_full_log_prob(const Tensor& input, const Tensor& head_output);
  /// Return the most probable class: [N, in_features] -> int64 [N]. Same as
  /// log_prob(input).argmax(1), but clusters are computed only for examples whose most probable
  /// head output is a cluster.
  Tensor predict(const Tensor& input);

  AdaptiveLogSoftmaxWithLossOptions options;
  std::vector<int64_t> cutoffs;  ///< those of the options, and n_classes
  /// Classes of the head, number of clusters, and the sum of both, the size of the head's output.
  int64_t shortlist_size = 0, n_clusters = 0, head_size = 0;
  /// The first step of the softmax, in_features to head_size.
  Linear head{nullptr};
  /// For each cluster a Sequential of two Linears without bias.
  ModuleList tail{nullptr};

 private:
  void check(const Tensor& input) const;
};
AMBIT_MODULE(AdaptiveLogSoftmaxWithLoss);

}  // namespace ambit::nn
