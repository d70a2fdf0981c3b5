// Operators: pooling.
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/pool.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>

#include <limits>

#include "operators.h"
#include "windows.h"

namespace ambit::graph::onnx {
namespace {

Dims after_all(const Windows& w) {
  Dims out = w.after;
  for (size_t i = 0; i < out.size(); ++i) out[i] += w.extra[i];
  return out;
}

Dims last_dims(size_t n) {
  Dims out;
  for (size_t i = 1; i <= n; ++i) out.push_back(-static_cast<int64_t>(i));
  return out;
}

Scalar lowest(DType d) {
  if (is_floating_point(d)) return -std::numeric_limits<double>::infinity();
  return d == kUInt8 ? 0 : d == kInt8 ? INT8_MIN : d == kInt16 ? INT16_MIN : INT32_MIN;
}

PoolParams params_of(const Windows& w, bool keeps_padding) {
  PoolParams params{.kernel = w.kernel, .stride = w.stride, .dilation = w.dilation};
  if (keeps_padding) params.padding = w.before;
  return params;
}

std::tuple<Tensor, Tensor> max_with_indices(const Tensor& x, const PoolParams& params) {
  if (x.dim() == 3) return max_pool1d_with_indices(x, params);
  return x.dim() == 4 ? max_pool2d_with_indices(x, params) : max_pool3d_with_indices(x, params);
}

Tensor max_of(const Tensor& x, const PoolParams& params) {
  if (x.dim() == 3) return max_pool1d(x, params);
  return x.dim() == 4 ? max_pool2d(x, params) : max_pool3d(x, params);
}

// Indices of one padded plane become indices of the whole tensor.
Tensor whole_indices(const Tensor& index, const Tensor& x, const Windows& w, bool column_major) {
  const int64_t n = x.dim() - 2;
  Tensor left = index.to(kInt64), out = zeros_like(left);
  int64_t step = 1;
  std::vector<Tensor> coordinates(static_cast<size_t>(n));
  for (int64_t i = n; i-- > 0;) {
    const auto at = static_cast<size_t>(i);
    const int64_t size = x.size(i + 2) + w.before[at] + w.after[at] + w.extra[at];
    coordinates[at] = remainder(left, size) - w.before[at];
    left = floor_divide(left, size);
  }
  for (int64_t i = 0; i < n; ++i) {
    const int64_t dim = column_major ? i : n - 1 - i;
    out = out + coordinates[static_cast<size_t>(dim)] * step;
    step *= x.size(dim + 2);
  }
  Dims planes(static_cast<size_t>(x.dim()), 1);
  planes[0] = x.size(0);
  planes[1] = x.size(1);
  const Tensor plane = arange(x.size(0) * x.size(1), TensorOptions(kInt64).device(x.device()));
  return out + plane.reshape(planes) * step;
}

void max_pool(Call& c) {
  const Tensor& x = c.tensor(0);
  const Windows w = windows_of(x.sizes(), c.integers(4), c.integers(7), c.integers(3),
                               c.integers(5), c.text(1), c.flag(2));
  if (w.kernel.size() > 3) throw Error("expected at most 3 spatial dims, got more");
  const bool is_plain = w.is_plain();
  const Tensor p = is_plain ? x : padded(x, w.before, after_all(w), lowest(x.dtype()));
  if (c.outputs() < 2) return c.give(max_of(p, params_of(w, is_plain)));
  const auto [out, index] = max_with_indices(p, params_of(w, is_plain));
  Windows shift = w;  // if the op pads, its indices already refer to x
  if (is_plain) shift.before = shift.after = shift.extra = Dims(w.kernel.size(), 0);
  c.give(out);
  c.give(whole_indices(index, x, shift, c.flag(6)));
}

// Sum each window and divide by its number of elements.
Tensor average_pool(const Call& c) {
  const Tensor& x = c.tensor(0);
  const bool counts_padding = c.flag(3);
  const Windows w = windows_of(x.sizes(), c.integers(5), c.integers(7), c.integers(4),
                               c.integers(6), c.text(1), c.flag(2));
  const size_t n = w.kernel.size();
  const bool is_dense = w.dilation == Dims(n, 1);
  if (w.is_plain() && is_dense) {
    PoolParams params = params_of(w, true);
    params.count_include_pad = counts_padding;
    return n == 1 ? avg_pool1d(x, params) : n == 2 ? avg_pool2d(x, params) : avg_pool3d(x, params);
  }
  const Tensor p = padded(x, w.before, after_all(w), 0);
  Dims one(x.sizes());
  one[0] = one[1] = 1;
  const Tensor element = ones(one, x.options());
  const Tensor counted = counts_padding
                             ? padded(padded(element, w.before, w.after, 1), Dims(n, 0), w.extra, 0)
                             : padded(element, w.before, after_all(w), 0);
  const Dims last = last_dims(n);
  return sum(unfolded(p, w), last) / sum(unfolded(counted, w), last);
}

Tensor lp_pool(const Call& c) {
  const Tensor& x = c.tensor(0);
  const Windows w = windows_of(x.sizes(), c.integers(4), c.integers(7), c.integers(3),
                               c.integers(6), c.text(1), c.flag(2));
  const Tensor p = padded(x, w.before, after_all(w), 0);
  const double power = c.real(5);
  return pow(sum(pow(abs(unfolded(p, w)), power), last_dims(w.kernel.size())), 1 / power);
}

Dims spatial(const Tensor& x) {
  Dims out;
  for (int64_t i = 2; i < x.dim(); ++i) out.push_back(i);
  return out;
}

Tensor global_lp(const Call& c) {
  const double power = c.real(1);
  const Tensor& x = c.tensor(0);
  return pow(sum(pow(abs(x), power), spatial(x), true), 1 / power);
}

// The indices refer to a tensor of the attributes' sizes; output_shape only enlarges the result.
Tensor max_unpool(const Call& c) {
  const Tensor &x = c.tensor(0), &index = c.tensor(1);
  const auto n = static_cast<size_t>(x.dim() - 2);
  const Dims kernel = c.integers(3), pads = c.has(4) ? Dims(c.integers(4)) : Dims(2 * n, 0);
  const Dims stride = c.has(5) ? Dims(c.integers(5)) : Dims(n, 1);
  if (kernel.size() != n || stride.size() != n || pads.size() != 2 * n) {
    throw Error("expected a kernel, strides and pads for each spatial dim");
  }
  Dims sizes(x.sizes());
  for (size_t i = 0; i < n; ++i) {
    sizes[i + 2] = (sizes[i + 2] - 1) * stride[i] + kernel[i] - pads[i] - pads[n + i];
  }
  int64_t total = 1;
  for (const int64_t size : sizes) total *= size;
  const Tensor out =
      scatter(zeros({total}, x.options()), 0, index.to(kInt64).reshape({-1}), x.reshape({-1}))
          .reshape(sizes);
  if (!c.has(2)) return out;
  const Dims wanted = host_integers(c, 2);
  if (wanted.size() != sizes.size()) throw Error("expected an output_shape for each dim");
  Dims after;
  for (size_t i = 0; i < n; ++i) after.push_back(wanted[i + 2] - sizes[i + 2]);
  return padded(out, Dims(n, 0), after, 0);
}

#define ONNX_POOL "X auto_pad=NOTSET ceil_mode=0 "

constexpr Operator kRows[] = {
    // clang-format off
    {{"MaxPool", ONNX_POOL "dilations=[] kernel_shape pads=[] storage_order=0 strides=[]",
      many(max_pool)}, 1},
    {{"AveragePool", ONNX_POOL "count_include_pad=0 dilations=[] kernel_shape pads=[] strides=[]",
      one([](Call& c) { return average_pool(c); })}, 1},
    {{"LpPool", ONNX_POOL "dilations=[] kernel_shape p=2 pads=[] strides=[]", one([](Call& c) {
       return lp_pool(c); })}, 1},
    {{"GlobalAveragePool", "X", one([](Call& c) {
       return mean(c.tensor(0), spatial(c.tensor(0)), true); })}, 1},
    {{"GlobalMaxPool", "X", one([](Call& c) {
       return amax(c.tensor(0), spatial(c.tensor(0)), true); })}, 1},
    {{"GlobalLpPool", "X p=2", one([](Call& c) { return global_lp(c); })}, 1},
    {{"MaxUnpool", "X I output_shape=None kernel_shape pads=None strides=None", one([](Call& c) {
       return max_unpool(c); })}, 3, 0b100},
    // clang-format on
};

}  // namespace

constinit const std::span<const Operator> kPoolOperators = kRows;

}  // namespace ambit::graph::onnx
