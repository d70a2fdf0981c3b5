// Losses and distances of nn::functional, composed of ops.
#include <ambit/autograd.h>
#include <ambit/detail/activation.h>
#include <ambit/detail/autocast.h>
#include <ambit/detail/by_float32.h>
#include <ambit/detail/expect_all.h>
#include <ambit/detail/record.h>
#include <ambit/detail/ternary_grad.h>
#include <ambit/nn/functional/activation.h>
#include <ambit/nn/functional/loss.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>

#include <numbers>

#include "nn/functional/check.h"

namespace ambit::nn::functional {
namespace {

Tensor reduced(const Tensor& losses, Reduction reduction) {
  switch (reduction) {
    case Reduction::none:
      return losses;
    case Reduction::mean:
      return losses.mean();
    case Reduction::sum:
      return losses.sum();
  }
  return losses;
}

void check_pair(const char* loss, const Tensor& input, const Tensor& target,
                bool any_number = false) {
  if (any_number) {
    check_floating_or_complex(loss, input);
  } else {
    check_floating(loss, input);
  }
  check_same_device(loss, {{"input", input}, {"target", target}});
}

// Errors: ShapeError unless both have the same shape.
void check_one_shape(const char* loss, const Tensor& input, const Tensor& target) {
  check_pair(loss, input, target);
  if (input.sizes() != target.sizes()) {
    throw ShapeError(fmt::format("{}: expected a target of shape {}, got {}", loss,
                                 str(input.sizes()), str(target.sizes())));
  }
}

void check_positive(const char* loss, const char* what, double value, bool or_zero = false) {
  if (value > 0 || (or_zero && value == 0)) return;
  throw Error(fmt::format("{}: expected {} {} 0, got {}", loss, what, or_zero ? ">=" : ">", value));
}

Tensor weighted(const Tensor& losses, const Tensor& weight) {
  return weight.defined() ? losses * weight : losses;
}

// At target 0, the loss and its gradient are 0.
Tensor kl_divergence(const Tensor& x, const Tensor& target, bool log_target) {
  if (log_target) return exp(target) * (target - x);
  const Tensor none = target == 0, some = where(none, 1, target);
  return where(none, 0, some * (log(some) - x));
}

}  // namespace

Tensor l1_loss(const Tensor& input, const Tensor& target, Reduction reduction) {
  AMBIT_AUTOCAST(l1_loss, input, target, reduction)
  check_floating_or_complex("l1_loss", input);
  check_same_device("l1_loss", {{"input", input}, {"target", target}});
  if (const DType dtype = result_type(input, target); is_reduced_floating(dtype)) {
    return by_float32(dtype, l1_loss, input, target, reduction);
  }
  return reduced(abs(input - target), reduction);
}

Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, Reduction reduction, double beta) {
  AMBIT_AUTOCAST(smooth_l1_loss, input, target, reduction, beta)
  check_pair("smooth_l1_loss", input, target);
  check_positive("smooth_l1_loss", "beta", beta, /*or_zero=*/true);
  if (const DType dtype = result_type(input, target); is_reduced_floating(dtype)) {
    return by_float32(dtype, smooth_l1_loss, input, target, reduction, beta);
  }
  if (beta == 0) return l1_loss(input, target, reduction);
  return reduced(activated(input - target, BinaryOp::smooth_l1, beta), reduction);
}

Tensor huber_loss(const Tensor& input, const Tensor& target, Reduction reduction, double delta) {
  AMBIT_AUTOCAST(huber_loss, input, target, reduction, delta)
  check_pair("huber_loss", input, target);
  check_positive("huber_loss", "delta", delta);
  if (const DType dtype = result_type(input, target); is_reduced_floating(dtype)) {
    return by_float32(dtype, huber_loss, input, target, reduction, delta);
  }
  return reduced(activated(input - target, BinaryOp::huber, delta), reduction);
}

Tensor binary_cross_entropy(const Tensor& input, const Tensor& target, const Tensor& weight,
                            Reduction reduction) {
  AMBIT_AUTOCAST(binary_cross_entropy, input, target, weight, reduction)
  check_floating("binary_cross_entropy", input);
  check_same_device("binary_cross_entropy",
                    {{"input", input}, {"target", target}, {"weight", weight}});
  check_one_shape("binary_cross_entropy", input, target);
  if (const DType dtype = result_type(input, target); is_reduced_floating(dtype)) {
    return by_float32(dtype, binary_cross_entropy, input, target, weight, reduction);
  }
  Tensor losses;
  {
    const NoGradGuard no_grad;
    expect_all((input >= 0) & (input <= 1),
               "binary_cross_entropy: expected all elements of input in [0, 1]");
    losses = -(target * log(input).clamp_min(-100) + (1 - target) * log1p(-input).clamp_min(-100));
  }
  // A kernel computes the gradient, because the gradient of log is infinite at x = 0 and 1, which
  // occur if the network's answers are exact.
  losses = record("binary_cross_entropy", losses,
                  wrt(input,
                      [x = saved(input), t = saved(target)](const Tensor& g) {
                        return ternary_grad(TernaryOp::binary_cross_entropy_grad, g, x(), t());
                      }),
                  wrt(target, [x = saved(input)](const Tensor& g) {
                    return g * (log1p(-x()).clamp_min(-100) - log(x()).clamp_min(-100));
                  }));
  return reduced(weighted(losses, weight), reduction);
}

Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target,
                                        const Tensor& weight, Reduction reduction,
                                        const Tensor& pos_weight) {
  AMBIT_AUTOCAST(binary_cross_entropy_with_logits, input, target, weight, reduction, pos_weight)
  constexpr const char* kName = "binary_cross_entropy_with_logits";
  check_floating(kName, input);
  check_same_device(
      kName,
      {{"input", input}, {"target", target}, {"weight", weight}, {"pos_weight", pos_weight}});
  check_one_shape(kName, input, target);
  if (const DType dtype = result_type(input, target); is_reduced_floating(dtype)) {
    return by_float32(dtype, binary_cross_entropy_with_logits, input, target, weight, reduction,
                      pos_weight);
  }
  Tensor losses;
  if (pos_weight.defined()) {
    const Tensor positive = logsigmoid(input);  // log(1 - s) = positive - x
    losses = (1 - target) * input - (1 + (pos_weight - 1) * target) * positive;
  } else {
    losses = logit_loss(input, target);
  }
  return reduced(weighted(losses, weight), reduction);
}

Tensor kl_div(const Tensor& input, const Tensor& target, Reduction reduction, bool log_target) {
  AMBIT_AUTOCAST(kl_div, input, target, reduction, log_target)
  check_pair("kl_div", input, target);
  const DType dtype = result_type(input, target);
  if (is_reduced_floating(dtype))
    return by_float32(dtype, kl_div, input, target, reduction, log_target);
  const Dims sizes = broadcast("kl_div", input.sizes(), target.sizes());
  const Tensor x = input.to(dtype).expand(sizes), t = target.to(dtype).expand(sizes);
  Tensor probability, losses;
  {
    const NoGradGuard no_grad;
    probability = log_target ? exp(t) : t;
    losses = kl_divergence(x, t, log_target);
  }
  losses = record("kl_div", losses,
                  wrt(x,
                      [p = saved(probability), t = saved(t), log_target](const Tensor& g) {
                        const bool again = log_target && GradMode::is_enabled();
                        return ternary_grad(TernaryOp::square_grad, g, again ? exp(t()) : p(), -1);
                      }),
                  wrt(t, [x = saved(x), t = saved(t), log_target](const Tensor& g) {
                    if (log_target) return g * (exp(t()) * (t() - x() + 1));
                    const Tensor none = t() == 0;
                    return masked_fill(g * (log(masked_fill(t(), none, 1)) + 1 - x()), none, 0);
                  }));
  return reduced(losses, reduction);
}

Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target, double margin,
                            Reduction reduction) {
  AMBIT_AUTOCAST(hinge_embedding_loss, input, target, margin, reduction)
  check_pair("hinge_embedding_loss", input, target);
  if (const DType dtype = result_type(input, target); is_reduced_floating(dtype)) {
    return by_float32(dtype, hinge_embedding_loss, input, target, margin, reduction);
  }
  const Tensor far = clamp_min(margin - input, 0);
  return reduced(where(target != 1, far, 0) + where(target != -1, input, 0), reduction);
}

Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                           double margin, Reduction reduction) {
  AMBIT_AUTOCAST(margin_ranking_loss, input1, input2, target, margin, reduction)
  check_floating("margin_ranking_loss", input1);
  check_same_device("margin_ranking_loss",
                    {{"input1", input1}, {"input2", input2}, {"target", target}});
  if (const DType dtype = result_type(input1, input2); is_reduced_floating(dtype)) {
    return by_float32(dtype, margin_ranking_loss, input1, input2, target, margin, reduction);
  }
  return reduced(clamp_min(-target * (input1 - input2) + margin, 0), reduction);
}

Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                             double margin, Reduction reduction) {
  AMBIT_AUTOCAST(cosine_embedding_loss, input1, input2, target, margin, reduction)
  check_floating("cosine_embedding_loss", input1);
  check_same_device("cosine_embedding_loss",
                    {{"input1", input1}, {"input2", input2}, {"target", target}});
  const int64_t dim = target.dim();
  if (input1.dim() != dim + 1 || dim > 1 || input1.sizes() != input2.sizes()) {
    throw ShapeError(fmt::format(
        "cosine_embedding_loss: expected inputs [N,D] with targets [N], or [D] with [], got {}, {} "
        "and {}",
        str(input1.sizes()), str(input2.sizes()), str(target.sizes())));
  }
  if (const DType dtype = result_type(input1, input2); is_reduced_floating(dtype)) {
    return by_float32(dtype, cosine_embedding_loss, input1, input2, target, margin, reduction);
  }
  constexpr double kEps = 1e-12;
  const auto length = [&](const Tensor& x) { return sqrt(square(x).sum(dim) + kEps); };
  // Divide twice, because the product of the lengths may overflow.
  const Tensor cosine = (input1 * input2).sum(dim) / length(input1) / length(input2);
  const Tensor near = clamp_min(cosine - margin, 0);
  return reduced(where(target == 1, 1 - cosine, 0) + where(target == -1, near, 0), reduction);
}

Tensor soft_margin_loss(const Tensor& input, const Tensor& target, Reduction reduction) {
  AMBIT_AUTOCAST(soft_margin_loss, input, target, reduction)
  check_pair("soft_margin_loss", input, target, /*any_number=*/true);
  if (const DType dtype = result_type(input, target); is_reduced_floating(dtype)) {
    return by_float32(dtype, soft_margin_loss, input, target, reduction);
  }
  const Tensor x = target * input;
  return reduced(x.is_complex() ? log1p(exp(-x)) : -logsigmoid(x), reduction);
}

Tensor multilabel_soft_margin_loss(const Tensor& input, const Tensor& target, const Tensor& weight,
                                   Reduction reduction) {
  check_floating("multilabel_soft_margin_loss", input);
  check_same_device("multilabel_soft_margin_loss",
                    {{"input", input}, {"target", target}, {"weight", weight}});
  check_one_shape("multilabel_soft_margin_loss", input, target);
  if (const DType dtype = result_type(input, target); is_reduced_floating(dtype)) {
    return by_float32(dtype, multilabel_soft_margin_loss, input, target, weight, reduction);
  }
  const Tensor losses = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input));
  return reduced(weighted(losses, weight).mean(-1), reduction);
}

Tensor multi_margin_loss(const Tensor& input, const Tensor& target, int64_t p, double margin,
                         const Tensor& weight, Reduction reduction) {
  AMBIT_AUTOCAST(multi_margin_loss, input, target, p, margin, weight, reduction)
  check_floating("multi_margin_loss", input);
  check_same_device("multi_margin_loss",
                    {{"input", input}, {"target", target}, {"weight", weight}});
  if (p != 1 && p != 2) throw Error(fmt::format("multi_margin_loss: expected p 1 or 2, got {}", p));
  if (input.dim() == 1 && target.numel() == 1 && target.dim() <= 1) {
    return multi_margin_loss(input.unsqueeze(0), target.reshape({1}), p, margin, weight,
                             reduction == Reduction::none ? Reduction::sum : reduction);
  }
  if (input.dim() != 2 || target.dim() != 1 || target.size(0) != input.size(0)) {
    throw ShapeError(fmt::format(
        "multi_margin_loss: expected input [N,C] and target [N], or [C] and [], got {} and {}",
        str(input.sizes()), str(target.sizes())));
  }
  if (const DType dtype = input.dtype(); is_reduced_floating(dtype)) {
    return by_float32(dtype, multi_margin_loss, input, target, p, margin, weight, reduction);
  }
  const Tensor own = target.unsqueeze(1);
  Tensor losses = relu(margin - input.gather(1, own) + input);
  if (p == 2) losses = square(losses);
  if (weight.defined()) losses = losses * weight.index_select(0, target).unsqueeze(1);
  losses = losses.scatter(1, own, zeros(own.sizes(), losses.options()));
  return reduced(losses.mean(1), reduction);
}

Tensor multilabel_margin_loss(const Tensor& input, const Tensor& target, Reduction reduction) {
  AMBIT_AUTOCAST(multilabel_margin_loss, input, target, reduction)
  check_one_shape("multilabel_margin_loss", input, target);
  if (const DType dtype = input.dtype(); is_reduced_floating(dtype)) {
    return by_float32(dtype, multilabel_margin_loss, input, target, reduction);
  }
  if (input.dim() == 1) {
    return multilabel_margin_loss(input.unsqueeze(0), target.unsqueeze(0),
                                  reduction == Reduction::none ? Reduction::sum : reduction);
  }
  if (input.dim() != 2) {
    throw ShapeError(fmt::format("multilabel_margin_loss: expected input [N,C] or [C], got {}",
                                 str(input.sizes())));
  }
  const Tensor counts = (target < 0).cumsum(1) == 0;  // labels before the first negative one
  const Tensor label = target.clamp_min(0);
  const Tensor given = counts.to(input.dtype());
  const Tensor is_label = zeros(input.sizes(), input.options()).scatter_add(1, label, given) > 0;
  // [N, labels, classes]
  const Tensor gaps =
      relu(1 - input.gather(1, label).unsqueeze(2) + input.unsqueeze(1)) * given.unsqueeze(2);
  const Tensor losses = where(is_label.unsqueeze(1), 0, gaps).sum({1, 2});
  return reduced(losses / static_cast<double>(input.size(1)), reduction);
}

Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, bool log_input, bool full,
                        double eps, Reduction reduction) {
  AMBIT_AUTOCAST(poisson_nll_loss, input, target, log_input, full, eps, reduction)
  check_pair("poisson_nll_loss", input, target, /*any_number=*/true);
  if (const DType dtype = result_type(input, target); is_reduced_floating(dtype)) {
    return by_float32(dtype, poisson_nll_loss, input, target, log_input, full, eps, reduction);
  }
  Tensor losses = log_input ? exp(input) - target * input : input - target * log(input + eps);
  if (full) {
    const Tensor many = where(target > 1, target, 1);
    const Tensor stirling = many * log(many) - many + 0.5 * log(2 * std::numbers::pi * many);
    losses = losses + where(target > 1, stirling, 0);
  }
  return reduced(losses, reduction);
}

Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, double p, double eps, bool keepdim) {
  check_floating_or_complex("pairwise_distance", x1);
  check_same_device("pairwise_distance", {{"x1", x1}, {"x2", x2}});
  if (const DType dtype = result_type(x1, x2); is_reduced_floating(dtype)) {
    return by_float32(dtype, pairwise_distance, x1, x2, p, eps, keepdim);
  }
  return norm(x1 - x2 + eps, p, {-1}, keepdim);
}

Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, int64_t dim, double eps) {
  AMBIT_AUTOCAST(cosine_similarity, x1, x2, dim, eps)
  check_floating("cosine_similarity", x1);
  check_same_device("cosine_similarity", {{"x1", x1}, {"x2", x2}});
  if (const DType dtype = result_type(x1, x2); is_reduced_floating(dtype)) {
    return by_float32(dtype, cosine_similarity, x1, x2, dim, eps);
  }
  const Dims sizes = broadcast("cosine_similarity", x1.sizes(), x2.sizes());
  const auto unit = [&](const Tensor& x) {
    const Tensor all = x.expand(sizes);
    const Tensor length = norm(all, 2, {dim}, /*keepdim=*/true), value = length.detach();
    // As in PyTorch, the bound affects the value but not the gradient.
    return all / (length + (value.clamp_min(eps) - value));
  };
  return (unit(x1) * unit(x2)).sum(dim);
}

Tensor normalize(const Tensor& input, double p, int64_t dim, double eps) {
  check_floating_or_complex("normalize", input);
  if (const DType dtype = input.dtype(); is_reduced_floating(dtype)) {
    return by_float32(dtype, normalize, input, p, dim, eps);
  }
  return input / norm(input, p, {dim}, /*keepdim=*/true).clamp_min(eps);
}

Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           double margin, double p, double eps, bool swap, Reduction reduction) {
  AMBIT_AUTOCAST(triplet_margin_loss, anchor, positive, negative, margin, p, eps, swap, reduction)
  check_floating_or_complex("triplet_margin_loss", anchor);
  check_same_device("triplet_margin_loss",
                    {{"anchor", anchor}, {"positive", positive}, {"negative", negative}});
  if (const DType dtype = result_type(anchor, positive); is_reduced_floating(dtype)) {
    return by_float32(dtype, triplet_margin_loss, anchor, positive, negative, margin, p, eps, swap,
                      reduction);
  }
  return triplet_margin_with_distance_loss(

      anchor, positive, negative,
      [&](const Tensor& a, const Tensor& b) { return pairwise_distance(a, b, p, eps); }, margin,
      swap, reduction);
}

Tensor triplet_margin_with_distance_loss(
    const Tensor& anchor, const Tensor& positive, const Tensor& negative,
    const std::function<Tensor(const Tensor&, const Tensor&)>& distance, double margin, bool swap,
    Reduction reduction) {
  check_floating_or_complex("triplet_margin_with_distance_loss", anchor);
  check_same_device("triplet_margin_with_distance_loss",
                    {{"anchor", anchor}, {"positive", positive}, {"negative", negative}});
  // Do not convert for a user-defined distance, which gets the original dtype.
  if (const DType dtype = result_type(anchor, positive); !distance && is_reduced_floating(dtype)) {
    return by_float32(dtype, triplet_margin_with_distance_loss, anchor, positive, negative,
                      distance, margin, swap, reduction);
  }
  const auto d = [&](const Tensor& a, const Tensor& b) {
    return distance ? distance(a, b) : pairwise_distance(a, b);
  };
  const Tensor near = d(anchor, positive);
  Tensor far = d(anchor, negative);
  if (swap) far = minimum(far, d(positive, negative));
  return reduced(clamp_min(margin + near - far, 0), reduction);
}

}  // namespace ambit::nn::functional
