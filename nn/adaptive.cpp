// AdaptiveLogSoftmaxWithLoss, composed of ops.
#include <ambit/autograd.h>
#include <ambit/nn/adaptive.h>
#include <ambit/nn/sequential.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/norm.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>

#include <cmath>

#include "nn/functional/check.h"

namespace ambit::nn {
namespace {

constexpr const char* kName = "adaptive_log_softmax";

void check_input(const Tensor& input, int64_t features, bool one_example) {
  if (input.dim() != (one_example ? 1 : 2) || input.size(-1) != features) {
    throw ShapeError(fmt::format("{}: expected an input of shape [{}{}], got {}", kName,
                                 one_example ? "" : "N, ", features, str(input.sizes())));
  }
}

void check_target(const Tensor& input, const Tensor& target) {
  if (target.dtype() != kInt64) {
    throw DTypeError(fmt::format("{}: expected a target of dtype int64, got {}", kName,
                                 ambit::name(target.dtype())));
  }
  if (target.dim() > 1 || (target.dim() == 1 && target.size(0) != input.size(0))) {
    throw ShapeError(fmt::format("{}: expected a target of shape [N] or [], got {} of an input {}",
                                 kName, str(target.sizes()), str(input.sizes())));
  }
}

// Return the positions, int64 [n], where a mask is true.
Tensor rows_of(const Tensor& mask) { return nonzero(mask).squeeze(1); }

}  // namespace

AdaptiveLogSoftmaxWithLossImpl::AdaptiveLogSoftmaxWithLossImpl(int64_t in_features,
                                                               int64_t n_classes,
                                                               std::vector<int64_t> ends)
    : AdaptiveLogSoftmaxWithLossImpl(
          AdaptiveLogSoftmaxWithLossOptions(in_features, n_classes, std::move(ends))) {}
AdaptiveLogSoftmaxWithLossImpl::AdaptiveLogSoftmaxWithLossImpl(
    const AdaptiveLogSoftmaxWithLossOptions& opts)
    : options(opts) {
  int64_t least = 1;
  bool rises = !opts.cutoffs().empty();
  for (const int64_t cutoff : opts.cutoffs()) {
    rises = rises && cutoff >= least && cutoff < opts.n_classes();
    least = cutoff + 1;
  }
  if (!rises) {
    throw Error(
        fmt::format("AdaptiveLogSoftmaxWithLoss: expected increasing cutoffs in [1, {}], got [{}]",
                    opts.n_classes() - 1, fmt::join(opts.cutoffs(), ", ")));
  }
  if (opts.in_features() < 1 || !(opts.div_value() > 0)) {
    throw Error(fmt::format(
        "AdaptiveLogSoftmaxWithLoss: expected in_features >= 1 and div_value > 0, got {} and {}",
        opts.in_features(), opts.div_value()));
  }
  AdaptiveLogSoftmaxWithLossImpl::reset();
}

void AdaptiveLogSoftmaxWithLossImpl::reset() {
  cutoffs = options.cutoffs();
  cutoffs.push_back(options.n_classes());
  shortlist_size = cutoffs[0];
  n_clusters = static_cast<int64_t>(cutoffs.size()) - 1;
  head_size = shortlist_size + n_clusters;
  const int64_t features = options.in_features();
  head = Linear(LinearOptions(features, head_size).bias(options.head_bias()));
  register_module("head", head);
  tail = ModuleList();
  for (size_t i = 0; i + 1 < cutoffs.size(); ++i) {
    const double width = static_cast<double>(features) / std::pow(options.div_value(), i + 1);
    if (!(width < 0x1p63)) {
      throw Error(fmt::format(
          "AdaptiveLogSoftmaxWithLoss: expected a div_value that makes fewer than 2^63 features, "
          "got {}",
          options.div_value()));
    }
    const auto between = static_cast<int64_t>(width);
    tail->push_back(
        Sequential(Linear(LinearOptions(features, between).bias(false)),
                   Linear(LinearOptions(between, cutoffs[i + 1] - cutoffs[i]).bias(false))));
  }
  register_module("tail", tail);
}

void AdaptiveLogSoftmaxWithLossImpl::reset_parameters() {
  head->reset_parameters();
  for (const auto& cluster : *tail) {
    for (const auto& layer : cluster->children()) layer->as<Linear>()->reset_parameters();
  }
}

ASMoutput AdaptiveLogSoftmaxWithLossImpl::forward(const Tensor& input, const Tensor& target) {
  functional::check_floating(kName, input);
  if (!target.defined()) {
    throw Error(fmt::format("{}: expected a target, got an undefined tensor", kName));
  }
  functional::check_same_device(kName,
                                {{"input", input}, {"target", target}, {"weights", parameters()}});
  const bool single = target.dim() == 0;
  check_input(input, options.in_features(), single);
  check_target(input, target);
  const Tensor x = single ? input.unsqueeze(0) : input;
  const Tensor classes = single ? target.unsqueeze(0) : target;
  if (logical_or(classes < 0, classes >= options.n_classes()).any().item<bool>()) {
    throw IndexError(fmt::format("{}: expected targets in [0, {}), got one outside", kName,
                                 options.n_classes()));
  }
  Tensor part = classes;  // classes in terms of the head's output
  Tensor inside = zeros({x.size(0)}, x.options());
  for (size_t i = 0; i + 1 < cutoffs.size(); ++i) {
    const Tensor in_cluster = logical_and(classes >= cutoffs[i], classes < cutoffs[i + 1]);
    part = part.masked_fill(in_cluster, shortlist_size + static_cast<int64_t>(i));
    const Tensor rows = rows_of(in_cluster);
    if (rows.numel() == 0) continue;
    const Tensor scores = tail->at<Sequential>(i).forward(index_select(x, 0, rows));
    const Tensor place = index_select(classes, 0, rows) - cutoffs[i];
    inside = index_add(inside, 0, rows,
                       gather(log_softmax(scores, 1), 1, place.unsqueeze(1)).squeeze(1));
  }
  const Tensor output = inside + gather(log_softmax(head(x), 1), 1, part.unsqueeze(1)).squeeze(1);
  const auto loss = -output.detach().mean().item<double>();
  return {single ? output.squeeze(0) : output, loss};
}

Tensor AdaptiveLogSoftmaxWithLossImpl::_get_full_log_prob(const Tensor& input,
                                                          const Tensor& head_output) {
  const Tensor by_head = log_softmax(head_output, 1);
  std::vector<Tensor> parts{by_head.narrow(1, 0, shortlist_size)};
  for (int64_t i = 0; i < n_clusters; ++i) {
    const Tensor scores = tail->at<Sequential>(static_cast<size_t>(i)).forward(input);
    parts.push_back(log_softmax(scores, 1) + by_head.narrow(1, shortlist_size + i, 1));
  }
  return cat(parts, 1);
}

void AdaptiveLogSoftmaxWithLossImpl::check(const Tensor& input) const {
  functional::check_floating(kName, input);
  functional::check_same_device(kName, {{"input", input}, {"weights", parameters()}});
  check_input(input, options.in_features(), false);
}

Tensor AdaptiveLogSoftmaxWithLossImpl::log_prob(const Tensor& input) {
  check(input);
  return _get_full_log_prob(input, head(input));
}

Tensor AdaptiveLogSoftmaxWithLossImpl::predict(const Tensor& input) {
  check(input);
  const NoGradGuard no_grad;  // class indices have no gradient
  const Tensor scores = head(input);
  const Tensor likeliest = scores.argmax(1);
  const Tensor rows = rows_of(likeliest >= shortlist_size);
  if (rows.numel() == 0) return likeliest;
  const Tensor all =
      _get_full_log_prob(index_select(input, 0, rows), index_select(scores, 0, rows));
  return index_copy(likeliest, 0, rows, all.argmax(1));
}

}  // namespace ambit::nn
