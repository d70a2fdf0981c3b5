// Losses. Losses of classes have kernels; the others are composed of ops.
#include <ambit/detail/autocast.h>
#include <ambit/ops/loss.h>

#include <ambit/backend/kernels.h>
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/norm.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include "core/ops/composite.h"
#include "core/ops/operands/allocate.h"
#include "core/ops/operands/broadcast.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/operand_grad.h"
#include "core/ops/operands/statistics.h"
#include "core/ops/operands/unrecorded.h"
#include "core/ops/reduce/reduce_shape.h"

namespace ambit {
namespace {

// In an unbatched input [C], the classes are dim 0.
int64_t class_dim(const Tensor& input) { return input.dim() == 1 ? 0 : 1; }

// The kernels have no gradient of the weight; throw instead of dropping it silently.
void expect_constant_weight(const char* op, const Tensor& weight) {
  if (weight.defined() && needs_gradient(weight)) {
    throw AutogradError(
        fmt::format("{}: expected a weight without gradient for a target of classes, got one that "
                    "requires grad; use weight.detach()",
                    op));
  }
}

void expect_class_weight(const char* op, const Tensor& input, const Tensor& weight) {
  expect_dtype_if_given(op, "weight", weight, input.dtype());
  expect_sizes(op, "weight", weight, {input.size(class_dim(input))});
}

// Return uint8 classes as int64, which kernels require.
Tensor as_classes(const Tensor& target) {
  return target.defined() && target.dtype() == kUInt8 ? target.to(kInt64) : target;
}

// Checks the shape first, which distinguishes classes from probabilities.
void expect_classes(const char* op, const Tensor& input, const Tensor& target) {
  if (input.dim() == 0) throw_dim(op, "input", "[N, C, ...] or [C]", input.sizes());
  Dims sizes = input.sizes();
  sizes.erase(static_cast<size_t>(class_dim(input)));
  expect_sizes(op, "target", target, sizes);
  expect_dtype(op, "target", target, kInt64);
}

Tensor reduced(const Tensor& each, Reduction reduction) {
  switch (reduction) {
    case Reduction::none:
      return each;
    case Reduction::sum:
      return sum(each);
    case Reduction::mean:
      break;
  }
  return mean(each);
}

struct ClassLoss {
  Tensor loss, weight_sum;
};

// The gradient is -weight / divisor at each target that is not ignored; `share` is g / divisor.
Tensor nll_loss_grad(const Tensor& share, const Tensor& target, const Tensor& weight,
                     const Dims& sizes, DType dtype, int64_t ignore_index) {
  const Tensor ignored = target == ignore_index;
  const Tensor class_index = where(ignored, 0, target);
  Tensor loss_grad = neg(share);
  // share is [] for the mean and has the statistics' dtype: convert weight, so that promotion does
  // not reduce it.
  if (weight.defined()) loss_grad = loss_grad * gather(weight, 0, class_index).to(share.dtype());
  loss_grad = where(ignored, 0, loss_grad);
  const Tensor dx = zeros(sizes, share.options().dtype(dtype));
  return dx.scatter_(1, unsqueeze(class_index, 1), unsqueeze(loss_grad.to(dtype), 1));
}

// As nll_loss_grad, for cross_entropy; it is also the differentiable formula.
Tensor cross_entropy_grad_formula(const Tensor& share, const Tensor& x, const Tensor& target,
                                  const Tensor& weight, int64_t ignore_index) {
  const Tensor onehot =
      nll_loss_grad(share, target, weight, Dims(x.sizes()), share.dtype(), ignore_index);
  const Tensor slope = neg(sum(onehot, {1}, true));
  // where, not a product with 0: an ignored row may contain infinities.
  return where(unsqueeze(target == ignore_index, 1), 0, softmax(x, 1) * slope) + onehot;
}

Tensor cross_entropy_grad(const Tensor& share, const Tensor& x, const Tensor& target,
                          const Tensor& weight, int64_t ignore_index) {
  if (GradMode::is_enabled()) {
    return cross_entropy_grad_formula(share, x, target, weight, ignore_index).to(x.dtype());
  }
  Tensor dx = allocate("cross_entropy", x.sizes(), x.dtype(), x.device());
  kernels::cross_entropy_grad(dx, expanded(share, target.sizes()), dense(x), dense(target),
                              dense(weight), ignore_index);
  return dx;
}

// Run the kernel, with one loss per row of x [N,C], and reduce.
template <class Kernel>
ClassLoss run_class_loss(const Kernel& kernel, const Tensor& x, const Tensor& target,
                         const Tensor& weight, Reduction reduction, int64_t ignore_index) {
  // In a reduced floating-point type the sum could overflow or lose precision; the mean does not.
  const DType dtype = statistics_dtype(x.dtype());
  Tensor out = allocate(kernel.name(), target.sizes(), dtype, x.device());
  Tensor weight_sum = allocate(kernel.name(), {}, dtype, x.device());
  kernel(out, weight_sum, dense(x), dense(target), dense(weight), ignore_index);
  if (reduction != Reduction::none) {
    out = run_reduce(out, {kernel.name(), out.sizes(), {}, false}, ReduceOp::sum, out.dtype());
  }
  if (reduction == Reduction::mean) out.div_(weight_sum);
  if (dtype != x.dtype()) out = out.to(x.dtype());
  return {out, weight_sum};
}

// x [N,C], target [N].
ClassLoss nll_loss_rows(const Tensor& x, const Tensor& target, const Tensor& weight,
                        Reduction reduction, int64_t ignore_index) {
  auto [out, weight_sum] =
      run_class_loss(kernels::nll_loss, x, target, weight, reduction, ignore_index);
  const bool is_mean = reduction == Reduction::mean;
  out = record("nll_loss", out,
               wrt(x, [target = saved(target), weight = saved(weight), sum = saved(weight_sum),
                       sizes = Dims(x.sizes()), is_mean, ignore_index](const Tensor& g) {
                 return nll_loss_grad(is_mean ? g / sum() : g, target(), weight(), sizes, g.dtype(),
                                      ignore_index);
               }));
  return {out, weight_sum};
}

ClassLoss cross_entropy_rows(const Tensor& x, const Tensor& target, const Tensor& weight,
                             Reduction reduction, int64_t ignore_index) {
  auto [out, weight_sum] =
      run_class_loss(kernels::cross_entropy, x, target, weight, reduction, ignore_index);
  const bool is_mean = reduction == Reduction::mean;
  out = record("cross_entropy", out,
               wrt(x, [x = saved(x), target = saved(target), weight = saved(weight),
                       sum = saved(weight_sum), is_mean, ignore_index](const Tensor& g) {
                 return cross_entropy_grad(is_mean ? g / sum() : g, x(), target(), weight(),
                                           ignore_index);
               }));
  return {out, weight_sum};
}

// Flatten any number of dims to rows: [N,C,d1,...] -> [N*d1*...,C].
ClassLoss by_rows(decltype(nll_loss_rows)& loss_of_rows, const Tensor& input, const Tensor& target,
                  const Tensor& weight, Reduction reduction, int64_t ignore_index) {
  if (input.dim() == 2) return loss_of_rows(input, target, weight, reduction, ignore_index);
  const int64_t classes = class_dim(input);
  Dims order;
  for (int64_t i = 0; i < input.dim(); ++i) {
    if (i != classes) order.push_back(i);
  }
  order.push_back(classes);
  const Tensor rows = reshape(permute(input, order), {target.numel(), input.size(classes)});
  ClassLoss l =
      loss_of_rows(rows, reshape(target, {target.numel()}), weight, reduction, ignore_index);
  if (reduction == Reduction::none) l.loss = reshape(l.loss, target.sizes());
  return l;
}

}  // namespace

Tensor nll_loss(const Tensor& input, const Tensor& classes, const Tensor& weight,
                Reduction reduction, int64_t ignore_index) {
  AMBIT_AUTOCAST(nll_loss, input, classes, weight, reduction, ignore_index)
  const Tensor target = as_classes(classes);
  check_devices("nll_loss", {{"input", input}, {"target", target}, {"weight", weight}});
  expect_floating("nll_loss", input);
  expect_classes("nll_loss", input, target);
  expect_class_weight("nll_loss", input, weight);
  expect_constant_weight("nll_loss", weight);
  return by_rows(nll_loss_rows, input, target, weight, reduction, ignore_index).loss;
}

namespace {

// Multiply by the class weights [C], broadcast to the input.
Tensor weighted(const Tensor& log_p, const Tensor& weight) {
  if (!weight.defined()) return log_p;
  Dims sizes(static_cast<size_t>(log_p.dim()), 1);
  sizes[static_cast<size_t>(class_dim(log_p))] = weight.numel();
  return log_p * reshape(weight, sizes);
}

Tensor cross_entropy_of_probabilities(const Tensor& input, const Tensor& target,
                                      const Tensor& weight, Reduction reduction, double smoothing) {
  const int64_t dim = class_dim(input);
  Tensor p = target;
  if (smoothing > 0) p = p * (1 - smoothing) + smoothing / static_cast<double>(input.size(dim));
  const Tensor each = -sum(weighted(log_softmax(input, dim), weight) * p, {dim});
  return reduced(each, reduction);
}

// Return (1 - smoothing) times the loss of the targets plus `smoothing` times the mean of the
// losses with each class as the target.
Tensor smooth_cross_entropy(const Tensor& log_p, const Tensor& target, const Tensor& weight,
                            Reduction reduction, int64_t ignore_index, double smoothing) {
  const int64_t dim = class_dim(log_p);
  const ClassLoss l = by_rows(nll_loss_rows, log_p, target, weight, reduction, ignore_index);
  const Tensor each = -sum(weighted(log_p, weight), {dim});
  Tensor uniform = masked_fill(each, target == ignore_index, 0);
  if (reduction != Reduction::none) uniform = sum(uniform);
  if (reduction == Reduction::mean) uniform = uniform / l.weight_sum;
  return l.loss * (1 - smoothing) + uniform * (smoothing / static_cast<double>(log_p.size(dim)));
}

}  // namespace

Tensor cross_entropy(const Tensor& input, const Tensor& target, const Tensor& weight,
                     Reduction reduction, int64_t ignore_index, double label_smoothing) {
  AMBIT_AUTOCAST(cross_entropy, input, target, weight, reduction, ignore_index, label_smoothing)
  constexpr const char* kOp = "cross_entropy";
  check_devices(kOp, {{"input", input}, {"target", target}, {"weight", weight}});
  expect_floating(kOp, input);
  expect_defined(kOp, "target", target);
  if (!(label_smoothing >= 0 && label_smoothing <= 1)) {
    throw Error(
        fmt::format("cross_entropy: expected label_smoothing in [0, 1], got {}", label_smoothing));
  }
  const bool probabilities = input.dim() > 0 && target.sizes() == input.sizes();
  if (!probabilities && target.dtype() == kUInt8) {
    return cross_entropy(input, as_classes(target), weight, reduction, ignore_index,
                         label_smoothing);
  }
  if (probabilities) {
    expect_dtype(kOp, "target (probabilities)", target, input.dtype());
  } else {
    expect_classes(kOp, input, target);
  }
  expect_class_weight(kOp, input, weight);
  if (is_reduced_floating(input.dtype()) && (probabilities || label_smoothing > 0)) {
    const auto wide = [](const Tensor& t) { return t.defined() ? t.to(kFloat32) : t; };
    return cross_entropy(wide(input), probabilities ? wide(target) : target, wide(weight),
                         reduction, ignore_index, label_smoothing)
        .to(input.dtype());
  }
  if (probabilities) {
    return cross_entropy_of_probabilities(input, target, weight, reduction, label_smoothing);
  }
  expect_constant_weight(kOp, weight);
  if (label_smoothing > 0) {
    return smooth_cross_entropy(log_softmax(input, class_dim(input)), target, weight, reduction,
                                ignore_index, label_smoothing);
  }
  return by_rows(cross_entropy_rows, input, target, weight, reduction, ignore_index).loss;
}

Tensor mse_loss(const Tensor& input, const Tensor& target, Reduction reduction) {
  AMBIT_AUTOCAST(mse_loss, input, target, reduction)
  check_devices("mse_loss", {{"input", input}, {"target", target}});
  expect_defined("mse_loss", "input", input);
  expect_defined("mse_loss", "target", target);
  if (!input.is_floating_point()) expect_floating("mse_loss", target);
  const DType dtype = result_type(input, target);
  broadcast("mse_loss", input.sizes(), target.sizes());
  const DType wide = statistics_dtype(dtype);  // squares of float16 may overflow
  return reduced(square(input.to(wide) - target.to(wide)), reduction).to(dtype);
}

void composite::nll_loss(Tensor& y, Tensor& weight_sum, const Tensor& x, const Tensor& target,
                         const Tensor& w, int64_t ignore_index) {
  const Tensor ignored = target == ignore_index;
  const Tensor class_index = where(ignored, 0, target);
  const Tensor weight = w.defined() ? gather(w, 0, class_index) : ones_like(y);
  const Tensor picked = squeeze(gather(x, 1, unsqueeze(class_index, 1)), 1);
  // where, not a product with 0: an ignored row may contain infinities.
  y.copy_(where(ignored, 0, neg(picked * weight)));
  weight_sum.copy_(sum(where(ignored, 0, weight)));
}

void composite::cross_entropy(Tensor& y, Tensor& weight_sum, const Tensor& x, const Tensor& target,
                              const Tensor& w, int64_t ignore_index) {
  kernels::nll_loss(y, weight_sum, log_softmax(x, 1), target, w, ignore_index);
}

void composite::cross_entropy_grad(Tensor& dx, const Tensor& g, const Tensor& x,
                                   const Tensor& target, const Tensor& w, int64_t ignore_index) {
  dx.copy_(cross_entropy_grad_formula(g, x, target, w, ignore_index));
}

}  // namespace ambit
