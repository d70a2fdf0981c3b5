// Batch normalisation.
#include <ambit/backend/kernels.h>
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

// All dims except the channels.
Dims but_channels(const Tensor& x) {
  Dims dims;
  for (int64_t i = 0; i < x.dim(); ++i) {
    if (i != 1) dims.push_back(i);
  }
  return dims;
}

// Reshape [C] to [1,C,1,...], so that it broadcasts with x.
Tensor per_channel(const Tensor& v, const Tensor& x) {
  Dims sizes(static_cast<size_t>(x.dim()), 1);
  sizes[1] = v.numel();
  return reshape(v, sizes);
}

// xhat = (x - mean) * invstd, with mean and invstd as constants:
//   dw = sum(dy * xhat), db = sum(dy)
//   dx = w * invstd * (dy - mean(dy) - xhat * mean(dy * xhat)); without the means in evaluation
// Source: Ioffe & Szegedy 2015, section 3.
NormGrads batch_norm_grad_formula(const Tensor& dy, const Tensor& x, const Tensor& w,
                                  const Tensor& mean, const Tensor& invstd, bool training) {
  const Dims dims = but_channels(x);
  const Tensor scale = per_channel(invstd, x);
  const Tensor xhat = (x - per_channel(mean, x)) * scale;
  const Tensor dw = sum(dy * xhat, dims), db = sum(dy, dims);
  Tensor dx = dy;
  if (training) {
    const double n = static_cast<double>(x.numel()) / static_cast<double>(x.size(1));
    dx = dy - per_channel(db, x) / n - xhat * (per_channel(dw, x) / n);
  }
  return {dx * (w.defined() ? per_channel(w, x) * scale : scale), dw, db};
}

// Differentiable gradients: in training the statistics are recomputed, since they depend on x.
NormGrads differentiable_grads(const Tensor& dy, const Tensor& x, const Tensor& w,
                               const Tensor& mean, const Tensor& invstd, const BatchNormParams& p) {
  if (!p.training) return batch_norm_grad_formula(dy, x, w, mean, invstd, false);
  const Dims dims = but_channels(x);
  return batch_norm_grad_formula(dy, x, w, ambit::mean(x, dims), rsqrt(var(x, dims, false) + p.eps),
                                 true);
}

NormGrads run_grads(const Tensor& dy, const Tensor& x, const Tensor& w, const Tensor& mean,
                    const Tensor& invstd, const BatchNormParams& p) {
  const auto make = [&](IntArrayRef sizes, DType of) {
    return allocate("batch_norm_grad", sizes, of, x.device());
  };
  const DType parameters = w.defined() ? w.dtype() : mean.dtype();
  NormGrads out{make(x.sizes(), x.dtype()), make(mean.sizes(), parameters),
                make(mean.sizes(), parameters)};
  kernels::batch_norm_grad(out.dx, out.dw, out.db, dense(dy), dense(x), dense(w), mean, invstd, p);
  return out;
}

struct Parameter {
  const char* name;
  const Tensor& tensor;
};

// The first defined parameter determines the expected input.
Parameter first_of(const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                   const Tensor& running_var) {
  if (weight.defined()) return {"weight", weight};
  if (running_mean.defined()) return {"running_mean", running_mean};
  if (running_var.defined()) return {"running_var", running_var};
  return {"bias", bias};
}

void check_shapes(const Tensor& input, const Tensor& weight, const Tensor& bias,
                  const Tensor& running_mean, const Tensor& running_var, bool training) {
  constexpr const char* kOp = "batch_norm";
  if (input.dim() < 2) throw_dim(kOp, "input", "[N, C, ...]", input.sizes());
  const int64_t c = input.sizes()[1];
  if (const Parameter p = first_of(weight, bias, running_mean, running_var);
      p.tensor.defined() && p.tensor.dim() == 1 && p.tensor.numel() != c) {
    throw ShapeError(fmt::format("batch_norm: expected input with {} channels, as {} has, got {}",
                                 p.tensor.numel(), p.name, str(input.sizes())));
  }
  expect_sizes(kOp, "weight", weight, {c});
  expect_sizes(kOp, "bias", bias, {c});
  expect_sizes(kOp, "running_mean", running_mean, {c});
  expect_sizes(kOp, "running_var", running_var, {c});
  if (!training && !(running_mean.defined() && running_var.defined())) {
    throw Error("batch_norm: expected running_mean and running_var in evaluation, got none");
  }
}

// An empty input has no statistics; the result only has the shape and a graph to w and b.
Tensor batch_norm_of_nothing(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  Tensor out = clone(input);
  if (weight.defined()) out = out * per_channel(weight, input);
  if (bias.defined()) out = out + per_channel(bias, input);
  return out;
}

// The running statistics, contiguous and perhaps upcast for the kernel; training updates them.
struct Running {
  Running(const Tensor& s, bool training) : stored(s), value(dense(s)) {
    if (!s.defined()) return;
    if (training) check_in_place("batch_norm", s);
    if (!is_reduced_floating(s.dtype())) return;
    value = allocate("batch_norm", s.sizes(), statistics_dtype(s.dtype()), s.device());
    kernels::copy(value, s);
  }
  void written() {
    if (!stored.defined()) return;
    if (Tensor to = stored; !value.is_same(stored)) kernels::copy(to, value);
    stored.bump_version();
  }
  const Tensor& stored;
  Tensor value;
};

}  // namespace

namespace {

/// A result and the statistics that normalised it; undefined statistics for an empty input.
struct Normalized {
  Tensor out, mean, invstd;
};

Normalized normalize(const Tensor& input, const Tensor& weight, const Tensor& bias,
                     const Tensor& running_mean, const Tensor& running_var,
                     const BatchNormParams& p) {
  check_devices("batch_norm", {{"input", input},
                               {"weight", weight},
                               {"bias", bias},
                               {"running_mean", running_mean},
                               {"running_var", running_var}});
  const Parameter first = first_of(weight, bias, running_mean, running_var);
  naming(first.name, first.tensor, [&] {
    expect_floating("batch_norm", input);
    // With reduced floating-point inputs all other operands may be float32.
    const bool mixed = is_reduced_floating(input.dtype()) && first.tensor.defined() &&
                       first.tensor.dtype() == kFloat32;
    const DType dtype = mixed ? kFloat32 : input.dtype();
    if (first.tensor.defined() && !mixed) {
      expect_input_dtype("batch_norm", input, first.name, first.tensor);
    }
    expect_dtype_if_given("batch_norm", "weight", weight, dtype);
    expect_dtype_if_given("batch_norm", "bias", bias, dtype);
    expect_dtype_if_given("batch_norm", "running_mean", running_mean, dtype);
    expect_dtype_if_given("batch_norm", "running_var", running_var, dtype);
    check_shapes(input, weight, bias, running_mean, running_var, p.training);
  });
  if (input.numel() == 0) return {batch_norm_of_nothing(input, weight, bias), {}, {}};

  Running r_mean(running_mean, p.training), r_var(running_var, p.training);
  const DType dtype = input.dtype(), statistics = statistics_dtype(dtype);
  const auto make = [&](IntArrayRef sizes, DType of) {
    return allocate("batch_norm", sizes, of, input.device());
  };
  const int64_t c = input.sizes()[1];
  Tensor out = make(input.sizes(), dtype);
  Tensor mean = make({c}, statistics), invstd = make({c}, statistics);
  kernels::batch_norm(out, mean, invstd, r_mean.value, r_var.value, dense(input), dense(weight),
                      dense(bias), p);
  if (p.training) {
    r_mean.written();
    r_var.written();
  }
  if (needs_gradient(input, weight, bias)) {
    set_history(out, intrusive_ptr<Node>(new NormNode("batch_norm", input, weight, bias, mean,
                                                      invstd, p, run_grads, differentiable_grads)));
  }
  return {std::move(out), std::move(mean), std::move(invstd)};
}

}  // namespace

Tensor batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias,
                  const Tensor& running_mean, const Tensor& running_var, const BatchNormParams& p) {
  return normalize(input, weight, bias, running_mean, running_var, p).out;
}

std::tuple<Tensor, Tensor, Tensor> native_batch_norm(const Tensor& input, const Tensor& weight,
                                                     const Tensor& bias, const Tensor& running_mean,
                                                     const Tensor& running_var, bool training,
                                                     double momentum, double eps) {
  constexpr const char* kOp = "native_batch_norm";
  check_devices(kOp, {{"input", input},
                      {"weight", weight},
                      {"bias", bias},
                      {"running_mean", running_mean},
                      {"running_var", running_var}});
  expect_defined(kOp, "input", input);
  const BatchNormParams params{.training = training, .momentum = momentum, .eps = eps};
  Normalized all = normalize(input, weight, bias, running_mean, running_var, params);
  const Tensor& first = first_of(weight, bias, running_mean, running_var).tensor;
  const TensorOptions options = first.defined() ? first.options() : input.options();
  if (!training) return {all.out, empty({0}, options), empty({0}, options)};
  const auto statistic = [&](const Tensor& t) {
    return t.defined() ? t.to(options.dtype()) : zeros({input.size(1)}, options);
  };
  return {all.out, statistic(all.mean), statistic(all.invstd)};
}

namespace {

// running = (1 - momentum) * running + momentum * batch.
void move_towards(const Tensor& running, const Tensor& batch, double momentum) {
  if (running.defined()) running.mul_(1 - momentum).add_(batch, momentum);
}

}  // namespace

void composite::batch_norm(Tensor& y, Tensor& mean, Tensor& invstd, Tensor& running_mean,
                           Tensor& running_var, const Tensor& x, const Tensor& w, const Tensor& b,
                           const BatchNormParams& p) {
  if (p.training) {
    const Dims dims = but_channels(x);
    const double n = static_cast<double>(x.numel()) / static_cast<double>(x.size(1));
    const Tensor variance = var(x, dims, false);
    mean.copy_(ambit::mean(x, dims));
    invstd.copy_(rsqrt(variance + p.eps));
    move_towards(running_mean, mean, p.momentum);
    move_towards(running_var, variance * (n / (n - 1)), p.momentum);
  } else {
    mean.copy_(running_mean);
    invstd.copy_(rsqrt(running_var + p.eps));
  }
  Tensor xhat = x - per_channel(mean, x);
  // Subtract the rounding error of the mean, which may be large relative to the differences.
  if (p.training) xhat.sub_(per_channel(ambit::mean(xhat, but_channels(x)), x));
  xhat.mul_(per_channel(invstd, x));
  y.copy_(xhat);
  if (w.defined()) y.mul_(per_channel(w, x));
  if (b.defined()) y.add_(per_channel(b, x));
}

void composite::batch_norm_grad(Tensor& dx, Tensor& dw, Tensor& db, const Tensor& dy,
                                const Tensor& x, const Tensor& w, const Tensor& mean,
                                const Tensor& invstd, const BatchNormParams& p) {
  const NormGrads g = batch_norm_grad_formula(dy, x, w, mean, invstd, p.training);
  dx.copy_(g.dx);
  dw.copy_(g.dw);
  db.copy_(g.db);
}

}  // namespace ambit
