// Bounds of layers, losses and optimizer steps, from the largest magnitudes of their operands.
#include <algorithm>

#include "bound.h"

namespace ambit::shadow {
namespace {

double euclidean(const Operand& o) {
  double sum = 0;
  for (const double x : o.values_before()) sum += std::isfinite(x) ? x * x : 0;
  return std::sqrt(sum);
}

double size_along(const Operand& o, int64_t dim) {
  return o.tensor.dim() == 0 ? 1 : static_cast<double>(std::max<int64_t>(1, o.size(dim)));
}

// Return the largest magnitude of an optional operand that is a factor; 1 if it is absent.
double factor(const Call& call, size_t argument) {
  return call.operand(argument).is_defined() ? call.largest(argument) : 1;
}

// Return the number of elements for each statistic of a norm of x.
double normalised(const Operand& x, const Operand& statistics) {
  return static_cast<double>(x.numel()) /
         static_cast<double>(std::max<int64_t>(1, statistics.numel()));
}

double window_size(const PoolParams& p, const Operand& image, const Operand& pooled) {
  double n = 1;
  for (int64_t d = 2; d < image.tensor.dim(); ++d) {
    const auto i = static_cast<size_t>(d - 2);
    const auto in = static_cast<double>(image.size(d)), out = static_cast<double>(pooled.size(d));
    n *= p.adaptive ? std::ceil(std::max(in, out) / std::max(1., std::min(in, out))) + 2
                    : static_cast<double>(p.kernel[i]);
  }
  return n;
}

}  // namespace

// max_pool_grad, avg_pool and avg_pool_grad.
Bound pool_bound(const Call& call, const Operand& y) {
  const Operand& x = call.operand(1);
  const bool is_forward = x.tensor.numel() >= y.tensor.numel() && &call.op() == &kernels::avg_pool;
  const auto& p = call.parameter<PoolParams>(0);
  const double n = is_forward ? window_size(p, x, y) : window_size(p, y, x);
  return {2, sum_error(n, n * call.largest(1), y.dtype())};
}

Bound interpolate_bound(const Call& call, const Operand& y) {
  const Operand& x = call.operand(1);
  const auto& p = call.parameter<InterpolateParams>(0);
  const auto dims = static_cast<double>(y.tensor.dim() - 2);
  const double weights = p.mode == InterpolateParams::Mode::cubic ? std::pow(1.4, dims) : 1;
  double terms = 4;
  if (&call.op() == &kernels::interpolate_grad) {
    terms = 1;
    for (int64_t d = 2; d < y.tensor.dim(); ++d) {
      const auto in = static_cast<double>(y.size(d)), out = static_cast<double>(x.size(d));
      terms *= p.scale[0] != 0 ? out : std::min(out, 4 * std::ceil(out / std::max(1., in)) + 1);
    }
  }
  return {2, call.largest(1) * weights * terms * (4 * dims + terms) * epsilon(y.dtype())};
}

Bound softmax_bound(const Call& call, const Operand& y) {
  const double n = size_along(y, call.parameter<int64_t>(0));
  const double range = std::max(1., call.largest(1) / 3);
  return {12 + std::sqrt(n), 16 * epsilon(y.dtype()) * (call.parameter<bool>(1) ? range : 1)};
}

Bound softmax_grad_bound(const Call& call, const Operand& dx) {
  const double n = size_along(dx, call.parameter<int64_t>(0)), dy = call.largest(1);
  // The gradient contains a sum of dy * y, with probabilities y, or a sum of dy.
  if (!call.parameter<bool>(1)) {
    return {12, (12 + roundings(n)) * dy * std::max(1., call.largest(2)) * epsilon(dx.dtype())};
  }
  return {12, (12 + roundings(n)) * std::min(n * dy, euclidean(call.operand(1)) * std::sqrt(n)) *
                  epsilon(dx.dtype())};
}

// batch_norm, layer_norm, group_norm: y, mean, invstd and running statistics.
Bound norm_bound(const Call& call, size_t argument, const Operand& y) {
  const bool is_batch = &call.op() == &kernels::batch_norm;
  const size_t x_at = is_batch ? 5 : 3;
  const Operand &x = call.operand(x_at), &invstd = call.operand(2);
  const bool has_statistics = !is_batch || call.parameter<BatchNormParams>(0).training;
  const double n = has_statistics ? normalised(x, invstd) : 1;
  const double eps = epsilon(y.dtype()), largest = x.largest();
  const double terms = 8 + roundings(n) / 2;
  // The largest magnitude of x, which bounds the rounding error of its mean, relative to the
  // deviation.
  const double ratio = (largest + call.operand(1).largest_expected()) * invstd.largest_expected();
  const double relative = terms * eps + terms * eps * ratio * terms * eps * ratio;
  switch (argument) {
    case 0:
      return {4, (4 * terms * eps + relative) * ratio * factor(call, x_at + 1) +
                     2 * eps * call.largest(x_at + 2)};
    case 1:
      return {4, terms * eps * largest};
    case 2:
      return {4 + relative / eps};
    case 3:
      return {4, terms * eps * std::max(largest, call.largest(3))};
    default:
      return {4, terms * eps * std::max(largest * largest, call.largest(4))};
  }
}

// dx, dw and db of the norms from dy, x, w, mean, invstd.
Bound norm_grad_bound(const Call& call, size_t argument, const Operand& y) {
  const Operand &dy = call.operand(3), &x = call.operand(4), &invstd = call.operand(7);
  const double eps = epsilon(y.dtype()), g = dy.largest() * factor(call, 5);
  const double ratio = (x.largest() + call.largest(6)) * invstd.largest();
  if (argument == 0) {
    const double terms = 16 + roundings(normalised(x, invstd)) / 2;
    return {2, 2 * terms * eps * invstd.largest() * g * (1 + ratio) * (1 + ratio)};
  }
  const double n =
      static_cast<double>(x.numel()) / static_cast<double>(std::max<int64_t>(1, y.numel()));
  const double sum = euclidean(dy) * std::sqrt(n);
  const double spread = argument == 1 ? std::max(1., std::min(ratio, std::sqrt(n))) : 1;
  return {2, (roundings(n) + 8 + 4 * ratio) * eps * sum * spread};
}

// y and lse of attention, whose scores are scaled sums of E products.
Bound attention_bound(const Call& call, size_t argument, const Operand& y) {
  const Operand &q = call.operand(2), &k = call.operand(3);
  const double eps = epsilon(y.dtype());
  const double E = size_along(q, 3), S = size_along(k, 2);
  const double score =
      call.parameter<AttentionParams>(0).scale * E * q.largest() * k.largest() + call.largest(5);
  const double error = sum_error(E + 4, std::abs(score), y.dtype());
  const double weight = 2 * error + (8 + roundings(S)) * eps;
  if (argument == 1) return {4, weight + 4 * eps * std::log(S + 1)};
  return {4, 2 * weight * call.largest(4)};
}

Bound attention_grad_bound(const Call& call, size_t argument, const Operand& y) {
  const Operand &dy = call.operand(3), &q = call.operand(4), &k = call.operand(5),
                &v = call.operand(6);
  const double eps = epsilon(y.dtype()), scale = std::abs(call.parameter<AttentionParams>(0).scale);
  const double E = size_along(q, 3), S = size_along(k, 2), L = size_along(q, 2),
               F = size_along(v, 3);
  const double score = scale * E * q.largest() * k.largest() + call.largest(7);
  const double weight = 2 * sum_error(E + 4, score, y.dtype()) + (8 + roundings(S)) * eps;
  if (argument == 2) return {4, (weight + roundings(L) * eps) * L * dy.largest()};
  const double ds = 2 * F * dy.largest() * v.largest();
  const double relative = 2 * weight + (roundings(F) + roundings(S) + roundings(L) + 8) * eps;
  if (argument == 0) return {4, scale * ds * k.largest() * relative};
  return {4, scale * ds * q.largest() * L * relative};
}

// lstm_cell, gru_cell and their gradients.
Bound cell_bound(const Call& call, const Operand& y) {
  double largest = 1;
  for (size_t i = 0; i < call.arguments().size(); ++i) {
    if (call.operand(i).role == Role::input) largest = std::max(largest, call.largest(i));
  }
  const bool is_forward = &call.op() == &kernels::lstm_cell || &call.op() == &kernels::gru_cell;
  if (is_forward) return {8, 32 * largest * epsilon(y.dtype())};
  double gradient = 0;  // the largest magnitude of dh and dc
  const size_t first = &call.op() == &kernels::gru_cell_grad ? 3 : 2;
  const size_t last = &call.op() == &kernels::gru_cell_grad ? 3 : 3;
  for (size_t i = first; i <= last; ++i) gradient += call.largest(i);
  double state = 1;
  for (size_t i = last + 1; i < call.arguments().size(); ++i) {
    state = std::max(state, call.largest(i));
  }
  return {8, 64 * gradient * state * epsilon(y.dtype())};
}

// nll_loss, cross_entropy, cross_entropy_grad.
Bound loss_bound(const Call& call, size_t argument, const Operand& y) {
  const double eps = epsilon(y.dtype()), w = factor(call, 4);
  if (&call.op() == &kernels::cross_entropy_grad) {
    const Operand& x = call.operand(2);
    const double n = size_along(x, 1), range = 2 * x.largest() + std::log(n + 1);
    return {1, call.largest(1) * w * (11 + roundings(n) + range) * eps};
  }
  if (argument == 1) {
    const double n = size_along(call.operand(3), 0);
    return {1, sum_error(n, n * w, y.dtype())};
  }
  if (&call.op() == &kernels::nll_loss) return {1};
  const double n = size_along(call.operand(2), 1);
  const double range = 2 * call.largest(2) + std::log(n + 1);
  return {1, w * (7 + roundings(n) + 4 * std::log(n + 1) + 2 * range) * eps};
}

Bound ctc_bound(const Call& call, size_t argument, const Operand& y) {
  const double eps = epsilon(y.dtype());
  if (&call.op() == &kernels::ctc_loss) {
    const double T = size_along(call.operand(2), 0);
    const double largest = call.operand(1).largest_expected();
    (void)argument;
    return {8, 16 * T * eps * std::max(1., largest)};
  }
  const double T = size_along(call.operand(2), 0);
  return {8, call.largest(1) * 64 * T * eps * std::max(1., call.largest(7))};
}

Bound sgd_bound(const Call& call, size_t argument, const Operand& y) {
  const auto& p = call.parameter<SgdParams>(0);
  const double eps = epsilon(y.dtype());
  const double parameter = call.largest(0);
  double gradient = call.largest(2) + std::abs(p.weight_decay) * parameter;
  if (p.momentum != 0) {
    gradient *= 1 + std::abs(p.momentum);
    if (!p.first_step) gradient += (1 + std::abs(p.momentum)) * call.largest(1);
  }
  return {1, 6 * eps * (argument == 0 ? parameter + std::abs(p.lr) * gradient : gradient)};
}

// The first moment divided by the square root of the second is at most 1 / sqrt(1 - beta2), about
// 32, if both have been updated with the same gradients.
Bound adam_bound(const Call& call, size_t argument, const Operand& y) {
  const auto& p = call.parameter<AdamParams>(0);
  const double eps = epsilon(y.dtype());
  const double parameter = call.largest(0);
  const double gradient = call.largest(4) + std::abs(p.weight_decay) * parameter;
  if (argument == 0) {
    return {12, 12 * eps * (parameter + 2 * std::abs(p.lr) / std::sqrt(1 - p.beta2))};
  }
  if (argument == 1) return {2, 6 * eps * (call.largest(1) + gradient)};
  return {2, 6 * eps * (call.largest(2) + gradient * gradient)};
}

// Factorisations and solutions. They are not compared: correct factors of one matrix may differ in
// proportion to its condition number, correct vectors by their signs and by rotations among equal
// eigenvalues or singular values, and the eigenvalues of eig() by their order.
Bound factor_bound(const Call& call, size_t argument, const Operand& y) {
  if (!is_floating_point(y.dtype())) {
    // Only info is compared. The choice of a pivot among nearly equal elements depends on
    // roundings.
    return {.is_compared = !(&call.op() == &kernels::lu_factor && argument == 1)};
  }
  const bool is_values = (&call.op() == &kernels::eigh && argument == 0) ||
                         (&call.op() == &kernels::svd && argument == 1);
  if (!is_values) return {.is_compared = false};
  const Operand& x = call.operand(&call.op() == &kernels::eigh ? 3 : 4);
  const double n = std::max({4., size_along(x, 1), size_along(x, 2)});
  return {0, 8 * n * n * epsilon(y.dtype()) * x.largest()};
}

}  // namespace ambit::shadow
