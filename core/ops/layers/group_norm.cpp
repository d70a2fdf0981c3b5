// Group normalisation: groups of a sample's channels with their own statistics.
#include <ambit/backend/kernels.h>
#include <ambit/detail/autocast.h>
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/norm.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include "core/ops/composite.h"
#include "core/ops/operands/allocate.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/operand_grad.h"
#include "core/ops/operands/statistics.h"
#include "core/ops/operands/unrecorded.h"
#include "norm_node.h"

namespace ambit {
namespace {

constexpr const char* kName = "group_norm";

/// Parameters of the gradients besides the tensors.
struct Groups {
  int64_t count;
  double eps;
};

// Reshape [C] to [1,C,1,...], so that it broadcasts with x.
Tensor per_channel(const Tensor& v, const Tensor& x) {
  Dims sizes(static_cast<size_t>(x.dim()), 1);
  sizes[1] = v.numel();
  return reshape(v, sizes);
}

// x [N,C,...] -> [N,G,everything else].
Tensor grouped(const Tensor& x, int64_t groups) { return reshape(x, {x.size(0), groups, -1}); }
Tensor group_mean(const Tensor& x) { return mean(x, IntArrayRef{2}, true); }

Dims but_channels(const Tensor& x) {
  Dims dims{0};
  for (int64_t i = 2; i < x.dim(); ++i) dims.push_back(i);
  return dims;
}

// u = (x - mean) * invstd, with mean and invstd [N,G,1]:
//   dx = invstd * (g - mean(g) - u * mean(g * u)) with g = dy * w, the means over a group
//   dw = sum(dy * u), db = sum(dy), over all but the channels
// Source: Wu & He 2018, arXiv:1803.08494.
NormGrads group_norm_grad_formula(const Tensor& dy, const Tensor& x, const Tensor& w,
                                  const Tensor& mean, const Tensor& invstd) {
  const int64_t groups = mean.size(1);
  const Tensor u = (grouped(x, groups) - mean) * invstd;
  const Tensor g = grouped(w.defined() ? dy * per_channel(w, x) : dy, groups);
  const Tensor dx = (g - group_mean(g) - u * group_mean(g * u)) * invstd;
  const Dims dims = but_channels(x);
  return {reshape(dx, x.sizes()), sum(dy * reshape(u, x.sizes()), dims), sum(dy, dims)};
}

// Differentiable gradients: the statistics are recomputed, since they depend on x.
NormGrads differentiable_grads(const Tensor& dy, const Tensor& x, const Tensor& w, const Tensor&,
                               const Tensor&, const Groups& groups) {
  const Tensor rows = grouped(x, groups.count);
  const Tensor variance = var(rows, {2}, false, true);
  return group_norm_grad_formula(dy, x, w, group_mean(rows), rsqrt(variance + groups.eps));
}

NormGrads run_grads(const Tensor& dy, const Tensor& x, const Tensor& w, const Tensor& mean,
                    const Tensor& invstd, const Groups&) {
  const auto make = [&](IntArrayRef sizes) {
    return allocate(kName, sizes, x.dtype(), x.device());
  };
  NormGrads out{make(x.sizes()), make({x.size(1)}), make({x.size(1)})};
  kernels::group_norm_grad(out.dx, out.dw, out.db, dense(dy), dense(x), dense(w), mean, invstd);
  return out;
}

void check(const Tensor& input, int64_t groups, const Tensor& weight, const Tensor& bias) {
  expect_floating(kName, input);
  if (weight.defined()) expect_input_dtype(kName, input, "weight", weight);
  expect_dtype_if_given(kName, "bias", bias, input.dtype());
  if (input.dim() < 2) throw_dim(kName, "input", "[N, C, ...]", input.sizes());
  const int64_t channels = input.size(1);
  if (groups < 1 || channels % groups != 0) {
    throw ShapeError(fmt::format("group_norm: expected groups that divide {} channels, got {}",
                                 channels, groups));
  }
  expect_sizes(kName, "weight", weight, {channels});
  expect_sizes(kName, "bias", bias, {channels});
}

}  // namespace

namespace {

/// A result and the statistics of its groups, which an empty input does not have.
struct Normalized {
  Tensor out, mean, invstd;
};

Normalized normalize(const Tensor& input, int64_t num_groups, const Tensor& weight,
                     const Tensor& bias, double eps) {
  check_devices(kName, {{"input", input}, {"weight", weight}, {"bias", bias}});
  naming("weight", weight, [&] { check(input, num_groups, weight, bias); });
  if (input.numel() == 0) {  // no groups, or empty ones
    Tensor out = clone(input);
    if (weight.defined()) out = out * per_channel(weight, input);
    if (bias.defined()) out = out + per_channel(bias, input);
    return {std::move(out), {}, {}};
  }
  const DType dtype = input.dtype(), statistics = statistics_dtype(dtype);
  const auto make = [&](IntArrayRef sizes, DType of) {
    return allocate(kName, sizes, of, input.device());
  };
  const Dims groups{input.size(0), num_groups};
  Tensor out = make(input.sizes(), dtype);
  Tensor mean = make(groups, statistics), invstd = make(groups, statistics);
  kernels::group_norm(out, mean, invstd, dense(input), dense(weight), dense(bias), eps);
  if (needs_gradient(input, weight, bias)) {
    set_history(out, intrusive_ptr<Node>(new NormNode(kName, input, weight, bias, mean, invstd,
                                                      Groups{num_groups, eps}, run_grads,
                                                      differentiable_grads)));
  }
  return {std::move(out), std::move(mean), std::move(invstd)};
}

}  // namespace

Tensor group_norm(const Tensor& input, int64_t num_groups, const Tensor& weight, const Tensor& bias,
                  double eps) {
  AMBIT_AUTOCAST(group_norm, input, num_groups, weight, bias, eps)
  return normalize(input, num_groups, weight, bias, eps).out;
}

std::tuple<Tensor, Tensor, Tensor> native_group_norm(const Tensor& input, const Tensor& weight,
                                                     const Tensor& bias, int64_t N, int64_t C,
                                                     int64_t HxW, int64_t group, double eps) {
  constexpr const char* kOp = "native_group_norm";
  check_devices(kOp, {{"input", input}, {"weight", weight}, {"bias", bias}});
  expect_defined(kOp, "input", input);
  if (input.numel() != count(kOp, {N, C, HxW})) {
    throw ShapeError(
        fmt::format("{}: expected an input of {} samples, {} channels and {} positions, got {}",
                    kOp, N, C, HxW, str(input.sizes())));
  }
  const Normalized all = normalize(reshape(input, {N, C, HxW}), group, weight, bias, eps);
  const auto statistic = [&](const Tensor& of_groups) {
    return of_groups.defined() ? of_groups.to(input.dtype()) : zeros({N, group}, input.options());
  };
  return {reshape(all.out, input.sizes()), statistic(all.mean), statistic(all.invstd)};
}

void composite::group_norm(Tensor& y, Tensor& mean, Tensor& invstd, const Tensor& x,
                           const Tensor& w, const Tensor& b, double eps) {
  const Tensor rows = grouped(x, mean.size(1));
  const Tensor center = group_mean(rows);
  mean.copy_(reshape(center, mean.sizes()));
  const Tensor from_mean = rows - center;
  // Subtract the rounding error of the mean, which may be large relative to the differences.
  from_mean.sub_(group_mean(from_mean));
  const Tensor inverse = rsqrt(group_mean(square(from_mean)) + eps);
  invstd.copy_(reshape(inverse, invstd.sizes()));
  y.copy_(reshape(from_mean * inverse, x.sizes()));
  if (w.defined()) y.mul_(per_channel(w, x));
  if (b.defined()) y.add_(per_channel(b, x));
}

void composite::group_norm_grad(Tensor& dx, Tensor& dw, Tensor& db, const Tensor& dy,
                                const Tensor& x, const Tensor& w, const Tensor& mean,
                                const Tensor& invstd) {
  const NormGrads g = group_norm_grad_formula(dy, x, w, unsqueeze(mean, 2), unsqueeze(invstd, 2));
  dx.copy_(g.dx);
  dw.copy_(g.dw);
  db.copy_(g.db);
}

}  // namespace ambit
