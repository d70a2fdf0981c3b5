// Layer and RMS normalisation over rows of all normalised dims, with one pair of kernels for both.
#include <ambit/backend/kernels.h>
#include <ambit/detail/autocast.h>
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/complex.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/norm.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "core/ops/composite.h"
#include "core/ops/operands/allocate.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/operand_grad.h"
#include "core/ops/operands/statistics.h"
#include "core/ops/operands/unrecorded.h"
#include "norm_node.h"

namespace ambit {
namespace {

/// Parameters of the gradients besides the tensors.
struct Kind {
  const char* op;
  double eps;
  bool centered;
};

Tensor column(const Tensor& v) { return unsqueeze(v, 1); }
Tensor mean_of_rows(const Tensor& x) { return mean(x, IntArrayRef{1}, true); }

// u = (x - mean) * invstd, for rows x [M,N] with mean and invstd [M,1]; an undefined mean is 0:
//   dx = invstd * (g - mean(g) - u * mean(g * u)) with g = dy * w, mean(g) only if centered
//   dw = sum(dy * u), db = sum(dy)
// Source: Ba, Kiros & Hinton 2016, arXiv:1607.06450; Zhang & Sennrich 2019, arXiv:1910.07467.
NormGrads layer_norm_grad_formula(const Tensor& dy, const Tensor& x, const Tensor& w,
                                  const Tensor& mean, const Tensor& invstd, bool centered) {
  const Tensor u = (mean.defined() ? x - mean : x) * invstd;
  const Tensor g = w.defined() ? dy * w : dy;
  Tensor dx = g - u * mean_of_rows(g * u);
  if (centered) dx = dx - mean_of_rows(g);
  return {dx * invstd, sum(dy * u, {0}), sum(dy, {0})};
}

// Differentiable gradients: the statistics are recomputed, since they depend on x.
NormGrads differentiable_grads(const Tensor& dy, const Tensor& x, const Tensor& w, const Tensor&,
                               const Tensor&, const Kind& kind) {
  const Tensor mean = kind.centered ? mean_of_rows(x) : Tensor();
  const Tensor variance = kind.centered ? var(x, {1}, false, true) : mean_of_rows(square(x));
  return layer_norm_grad_formula(dy, x, w, mean, rsqrt(variance + kind.eps), kind.centered);
}

NormGrads run_grads(const Tensor& dy, const Tensor& x, const Tensor& w, const Tensor& mean,
                    const Tensor& invstd, const Kind& kind) {
  const auto make = [&](IntArrayRef sizes) {
    return allocate(kind.op, sizes, x.dtype(), x.device());
  };
  NormGrads out{make(x.sizes()), make({x.size(1)}), make({x.size(1)})};
  kernels::layer_norm_grad(out.dx, out.dw, out.db, dense(dy), dense(x), dense(w), mean, invstd,
                           kind.centered);
  return out;
}

/// A result and the statistics of its rows.
struct Normalized {
  Tensor out, mean, invstd;
};

// x [M,N], w and b [N] or undefined -> [M,N], [M], [M].
Normalized normalize_rows(const char* op, const Tensor& x, const Tensor& w, const Tensor& b,
                          double eps, bool centered) {
  const DType statistics = statistics_dtype(x.dtype());
  const auto make = [&](IntArrayRef sizes, DType of) {
    return allocate(op, sizes, of, x.device());
  };
  Tensor out = make(x.sizes(), x.dtype());
  Tensor mean = make({x.size(0)}, statistics), invstd = make({x.size(0)}, statistics);
  kernels::layer_norm(out, mean, invstd, dense(x), dense(w), dense(b), eps, centered);
  if (needs_gradient(x, w, b)) {
    set_history(out,
                intrusive_ptr<Node>(new NormNode(op, x, w, b, mean, invstd, Kind{op, eps, centered},
                                                 run_grads, differentiable_grads)));
  }
  return {std::move(out), std::move(mean), std::move(invstd)};
}

void check(const char* op, const Tensor& input, IntArrayRef shape, const Tensor& weight,
           const Tensor& bias) {
  expect_floating(op, input);
  if (weight.defined()) expect_input_dtype(op, input, "weight", weight);
  expect_dtype_if_given(op, "bias", bias, input.dtype());
  const IntArrayRef sizes = input.sizes();
  const bool fits = !shape.empty() && shape.size() <= sizes.size() &&
                    std::equal(shape.begin(), shape.end(), sizes.end() - shape.size());
  if (!fits) {
    throw ShapeError(
        fmt::format("{}: expected a normalized_shape of the input's last sizes, got {} "
                    "for input of sizes {}",
                    op, str(shape), str(sizes)));
  }
  expect_sizes(op, "weight", weight, shape);
  expect_sizes(op, "bias", bias, shape);
}

Tensor reshaped(const Tensor& t, IntArrayRef sizes) {
  return !t.defined() || t.sizes() == sizes ? t : reshape(t, sizes);
}

Normalized normalize(const char* op, const Tensor& input, IntArrayRef shape, const Tensor& weight,
                     const Tensor& bias, double eps, bool centered) {
  naming("weight", weight, [&] { check(op, input, shape, weight, bias); });
  const int64_t length = count(op, shape), rows = length == 0 ? 0 : input.numel() / length;
  if (input.numel() == 0) {  // no rows, or empty ones
    Tensor out = clone(input);
    if (weight.defined()) out = out * weight;
    if (bias.defined()) out = out + bias;
    return {std::move(out), {}, {}};
  }
  Normalized all = normalize_rows(op, reshaped(input, {rows, length}), reshaped(weight, {length}),
                                  reshaped(bias, {length}), eps, centered);
  all.out = reshaped(all.out, input.sizes());
  return all;
}

// As in PyTorch, reduced floating-point types use float32's epsilon, since they are computed in
// float32.
double default_eps(DType dtype) {
  return visit<dtypes::kFloating>(statistics_dtype(dtype), []<class T>() -> double {
    return static_cast<double>(std::numeric_limits<T>::epsilon());
  });
}

}  // namespace

Tensor layer_norm(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight,
                  const Tensor& bias, double eps) {
  AMBIT_AUTOCAST(layer_norm, input, normalized_shape, weight, bias, eps)
  check_devices("layer_norm", {{"input", input}, {"weight", weight}, {"bias", bias}});
  return normalize("layer_norm", input, normalized_shape, weight, bias, eps, true).out;
}

std::tuple<Tensor, Tensor, Tensor> native_layer_norm(const Tensor& input,
                                                     IntArrayRef normalized_shape,
                                                     const Tensor& weight, const Tensor& bias,
                                                     double eps) {
  AMBIT_AUTOCAST(native_layer_norm, input, normalized_shape, weight, bias, eps)
  constexpr const char* kOp = "native_layer_norm";
  check_devices(kOp, {{"input", input}, {"weight", weight}, {"bias", bias}});
  const Normalized all = normalize(kOp, input, normalized_shape, weight, bias, eps, true);
  Dims sizes(input.sizes());
  for (size_t i = sizes.size() - normalized_shape.size(); i < sizes.size(); ++i) sizes[i] = 1;
  const auto statistic = [&](const Tensor& of_rows, double of_none) {
    if (of_rows.defined()) return reshape(of_rows, sizes).to(input.dtype());
    return full(sizes, of_none, input.options());
  };
  return {all.out, statistic(all.mean, 0), statistic(all.invstd, NAN)};
}

namespace {

// x / sqrt(mean(x^2) + eps), where x^2 is complex, as in PyTorch.
Tensor complex_rms_norm(const Tensor& x, IntArrayRef shape, const Tensor& weight,
                        std::optional<double> eps) {
  Dims dims;
  const auto rank = static_cast<int64_t>(shape.size());
  bool fits = rank > 0 && rank <= x.dim();
  for (int64_t i = 0; i < rank && fits; ++i) {
    dims.push_back(x.dim() - rank + i);
    fits = x.size(dims.back()) == shape[static_cast<size_t>(i)];
  }
  if (!fits) {
    throw ShapeError(
        fmt::format("rms_norm: expected input of shape [..., *normalized_shape], "
                    "got {} and {}",
                    str(x.sizes()), str(shape)));
  }
  expect_sizes("rms_norm", "weight", weight, shape);
  const double least = eps.value_or(default_eps(real_dtype(x.dtype())));
  const Tensor out = x * rsqrt(mean(square(x), dims, true) + least);
  return weight.defined() ? out * weight : out;
}

}  // namespace

Tensor rms_norm(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight,
                std::optional<double> eps) {
  AMBIT_AUTOCAST(rms_norm, input, normalized_shape, weight, eps)
  check_devices("rms_norm", {{"input", input}, {"weight", weight}});
  expect_inexact("rms_norm", input);
  if (input.is_complex()) return complex_rms_norm(input, normalized_shape, weight, eps);
  return normalize("rms_norm", input, normalized_shape, weight, {},
                   eps.value_or(default_eps(input.dtype())), false)
      .out;
}

void composite::layer_norm(Tensor& y, Tensor& mean, Tensor& invstd, const Tensor& x,
                           const Tensor& w, const Tensor& b, double eps, bool centered) {
  if (centered) {
    mean.copy_(ambit::mean(x, IntArrayRef{1}));
  } else {
    mean.zero_();
  }
  const Tensor from_mean = x - column(mean);
  // Subtract the rounding error of the mean, which may be large relative to the differences.
  if (centered) from_mean.sub_(mean_of_rows(from_mean));
  invstd.copy_(rsqrt(ambit::mean(square(from_mean), IntArrayRef{1}) + eps));
  y.copy_(from_mean * column(invstd));
  if (w.defined()) y.mul_(w);
  if (b.defined()) y.add_(b);
}

void composite::layer_norm_grad(Tensor& dx, Tensor& dw, Tensor& db, const Tensor& dy,
                                const Tensor& x, const Tensor& w, const Tensor& mean,
                                const Tensor& invstd, bool centered) {
  const NormGrads g = layer_norm_grad_formula(dy, x, w, column(mean), column(invstd), centered);
  dx.copy_(g.dx);
  dw.copy_(g.dw);
  db.copy_(g.db);
}

}  // namespace ambit
