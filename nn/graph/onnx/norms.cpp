// Operators: normalization and softmax.
#include <ambit/error.h>
#include <ambit/nn/functional/aten.h>
#include <ambit/ops/arrange.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/norm.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>

#include "operators.h"

namespace ambit::graph::onnx {
namespace {

// ONNX's momentum is the weight of the old statistics, and its variance is biased. If the model has
// the call in evaluation mode but the module is in training mode, statistics change in place, as in
// PyTorch.
void batch_normed(Call& c) {
  const Tensor& x = c.tensor(0);
  const Tensor scale = c.tensor(1).to(x.dtype()), bias = c.tensor(2).to(x.dtype());
  const Tensor &mean = c.tensor(3), &var = c.tensor(4);
  const double eps = c.real(5), momentum = c.real(6);
  const bool trains = c.training(7);
  const bool is_functional = trains && c.flag(7);
  if (!is_functional) {
    const bool fits = mean.dtype() == x.dtype();
    c.give(batch_norm(x, scale, bias, fits ? mean : mean.to(x.dtype()),
                      fits ? var : var.to(x.dtype()), {trains, 1 - momentum, eps}));
    c.give(mean);
    return c.give(var);
  }
  Dims dims;
  for (int64_t i = 0; i < x.dim(); ++i) {
    if (i != 1) dims.push_back(i);
  }
  const auto [batch_var, batch_mean] = var_mean(x.detach(), dims, Scalar(0));
  c.give(batch_norm(x, scale, bias, {}, {}, {true, 0, eps}));
  c.give(mean * momentum + batch_mean.to(mean.dtype()) * (1 - momentum));
  c.give(var * momentum + batch_var.to(var.dtype()) * (1 - momentum));
}

Dims from_axis(const Tensor& x, int64_t first) {
  Dims out;
  for (int64_t i = axis(first, x.dim()); i < x.dim(); ++i) out.push_back(i);
  return out;
}

Dims sizes_of(const Tensor& x, IntArrayRef dims) {
  Dims out;
  for (const int64_t d : dims) out.push_back(x.size(d));
  return out;
}

void layer_normed(Call& c) {
  const Tensor &x = c.tensor(0), &scale = c.tensor(1), &bias = c.optional_tensor(2);
  const Dims dims = from_axis(x, c.integer(3)), shape = sizes_of(x, dims);
  const double eps = c.real(4);
  expect_same_dtype(x, scale);
  const bool fits = scale.sizes() == IntArrayRef(shape) &&
                    (!bias.defined() || bias.sizes() == IntArrayRef(shape));
  Tensor y = layer_norm(x, shape, fits ? scale : Tensor(), fits ? bias : Tensor(), eps);
  if (!fits) y = bias.defined() ? y * scale + bias : y * scale;
  c.give(y);
  if (c.outputs() < 2) return;
  const DType wide = x.dtype() == kFloat64 ? kFloat64 : kFloat32;
  const auto [var, mean] = var_mean(x.to(wide), dims, Scalar(0), true);
  c.give(mean);
  c.give(rsqrt(var + eps));
}

Tensor rms_normed(const Call& c) {
  const Tensor &x = c.tensor(0), &scale = c.tensor(1);
  const Dims shape = sizes_of(x, from_axis(x, c.integer(2)));
  const bool fits = scale.sizes() == IntArrayRef(shape) && scale.dtype() == x.dtype();
  const Tensor y = rms_norm(x, shape, fits ? scale : Tensor(), c.real(3));
  return fits ? y : y * scale.to(x.dtype());
}

// Scale and bias are per group up to opset 20.
Tensor group_normed(const Call& c, bool is_per_group) {
  const Tensor &x = c.tensor(0), &scale = c.tensor(1), &bias = c.tensor(2);
  const int64_t groups = c.integer(4);
  const auto per_channel = [&](const Tensor& t) {
    return is_per_group && groups > 0 ? repeat_interleave(t, x.size(1) / groups, 0) : t;
  };
  return nn::functional::group_norm(x, groups, per_channel(scale), per_channel(bias), c.real(3));
}

Tensor lp_normed(const Call& c) {
  const Tensor& x = c.tensor(0);
  const int64_t dim = axis(c.integer(1), x.dim()), p = c.integer(2);
  const Tensor size = p == 1 ? sum(abs(x), {dim}, true) : sqrt(sum(square(x), {dim}, true));
  return where(size.eq(0), zeros_like(x), x / size);
}

// Sums over neighbouring channels.
Tensor locally_normed(const Call& c) {
  const Tensor& x = c.tensor(0);
  const int64_t size = c.integer(4), before = (size - 1) / 2;
  Dims pads(static_cast<size_t>(2 * (x.dim() - 1)), 0);
  pads[pads.size() - 2] = before;
  pads[pads.size() - 1] = size - 1 - before;
  const Tensor sums = sum(unfold(constant_pad_nd(square(x), pads), 1, size, 1), {-1});
  return x / pow(sums * (c.real(1) / static_cast<double>(size)) + c.real(3), c.real(2));
}

Tensor standardized(const Call& c) {
  const Tensor& x = c.tensor(0);
  const Dims dims = axes(c.integers(1), x.dim());
  const auto [var, mean] = var_mean(x, dims, Scalar(0), true);
  return (x - mean) / (sqrt(var) + 1e-9);
}

// Return 1 at the first of the largest elements, 0 elsewhere.
Tensor hard_max(const Call& c) {
  const Tensor& x = c.tensor(0);
  const int64_t dim = axis(c.integer(1), x.dim());
  Dims sizes(static_cast<size_t>(x.dim()), 1);
  sizes[static_cast<size_t>(dim)] = x.size(dim);
  const Tensor classes = arange(x.size(dim), TensorOptions(kInt64).device(x.device()));
  return argmax(x, dim, true).eq(classes.reshape(sizes)).to(x.dtype());
}

constexpr Operator kRows[] = {
    // clang-format off
    {{"Softmax", "input axis=-1", one([](Call& c) {
       return softmax(c.tensor(0), c.integer(1)); })}, 1},
    {{"LogSoftmax", "input axis=-1", one([](Call& c) {
       return log_softmax(c.tensor(0), c.integer(1)); })}, 1},
    {{"Hardmax", "input axis=-1", one([](Call& c) { return hard_max(c); })}, 1},
    {{"BatchNormalization", "X scale B input_mean input_var epsilon=1e-05 momentum=0.9 "
      "training_mode=0", many(batch_normed)}, 5},
    {{"InstanceNormalization", "input scale B epsilon=1e-05", one([](Call& c) {
       return instance_norm(c.tensor(0), c.tensor(1), c.tensor(2), Tensor(), Tensor(), true, 0,
                            c.real(3), true); })}, 3},
    {{"LayerNormalization", "X Scale B=None axis=-1 epsilon=1e-05 stash_type=1",
      many(layer_normed)}, 3},
    {{"RMSNormalization", "X scale axis=-1 epsilon=1e-05 stash_type=1", one([](Call& c) {
       return rms_normed(c); })}, 2},
    {{"GroupNormalization", "X scale bias epsilon=1e-05 num_groups stash_type=1",
      one([](Call& c) { return group_normed(c, true); })}, 3, 0, 18},
    {{"GroupNormalization", "X scale bias epsilon=1e-05 num_groups stash_type=1",
      one([](Call& c) { return group_normed(c, false); })}, 3, 0, 21},
    {{"LpNormalization", "input axis=-1 p=2", one([](Call& c) { return lp_normed(c); })}, 1},
    {{"LRN", "X alpha=0.0001 beta=0.75 bias=1.0 size", one([](Call& c) {
       return locally_normed(c); })}, 1},
    {{"MeanVarianceNormalization", "X axes=[0,2,3]", one([](Call& c) {
       return standardized(c); })}, 1},
    // clang-format on
};

}  // namespace

constinit const std::span<const Operator> kNormOperators = kRows;

}  // namespace ambit::graph::onnx
