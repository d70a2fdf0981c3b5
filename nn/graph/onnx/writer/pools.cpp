// Forms: pooling.
#include <ambit/ops/creation.h>

#include <algorithm>

#include "forms.h"

namespace ambit::graph::onnx {
namespace {

struct Pool {
  Dims kernel, stride, padding, dilation;
  Dims after{};      ///< padding at the end of each dim, so that rounding down gives the sizes
  Dims in{}, out{};  ///< sizes of the spatial dims, -1 for dynamic ones
  bool ceil = false;
};

Dims spatial(const Dims& sizes, size_t n) {
  Dims out;
  for (size_t i = sizes.size() - n; i < sizes.size(); ++i) out.push_back(sizes[i]);
  return out;
}

// PyTorch rounds up only if the last window begins before the padding at the end. More padding at
// the end with rounding down gives the same sizes; ONNX's own ceil_mode is used for dynamic sizes.
Pool pool_of(Site& s, size_t n, size_t dilation_at, size_t ceil_at) {
  const auto list = [&](size_t i, int64_t value) {
    const Dims given = s.integers(i);
    return given.size() == n ? given : Dims(n, given.empty() ? value : given[0]);
  };
  Pool p{list(1, 1), {}, list(3, 0), dilation_at == 0 ? Dims(n, 1) : list(dilation_at, 1)};
  p.stride = s.integers(2).empty() ? p.kernel : list(2, 1);
  p.in = spatial(s.sizes(0), n);
  p.out = spatial(s.result_sizes(), n);
  p.after = p.padding;
  for (size_t i = 0; i < n && s.flag(ceil_at); ++i) {
    if (p.in[i] < 0 || p.out[i] < 0) {
      p.ceil = true;
      continue;
    }
    const int64_t needed = (p.out[i] - 1) * p.stride[i] + p.dilation[i] * (p.kernel[i] - 1) + 1 -
                           p.in[i] - p.padding[i];
    p.after[i] = std::max(p.padding[i], needed);
  }
  return p;
}

Dims pads(const Pool& p) {
  Dims out = p.padding;
  for (const int64_t a : p.after) out.push_back(a);
  return out;
}

Attributes attributes_of(const Pool& p) {
  Attributes out{attribute("kernel_shape", p.kernel), attribute("strides", p.stride),
                 attribute("pads", pads(p))};
  if (p.ceil) out.push_back(attribute("ceil_mode", 1));
  return out;
}

// ONNX's indices count through the whole tensor, PyTorch's begin anew in each plane.
void max_pool(Site& s, size_t n) {
  Emitter& e = s.e;
  const auto rank = static_cast<int64_t>(n) + 2;
  const Pool p = pool_of(s, n, 4, 5);
  const Ref x = with_batch(s, s.tensor(0), rank);
  Attributes attributes = attributes_of(p);
  attributes.push_back(attribute("dilations", p.dilation));
  if (s.results() == 1 || !s.needs(1))
    return give_without_batch(s, e.op("MaxPool", {x}, attributes), rank);
  int64_t plane = 1;
  for (const int64_t size : p.in) {
    if (size < 0) Site::refuse("indices of dynamic sizes");
    plane *= size;
  }
  const std::vector<Ref> y = e.ops("MaxPool", {x}, attributes, {x.dtype, kInt64});
  give_without_batch(s, y[0], rank);
  give_without_batch(s, e.op("Mod", {y[1], e.integer(plane)}), rank);
}

// Return, for each window of one dim, the number of elements by which PyTorch divides.
std::vector<double> divisors(const Pool& p, size_t i, bool count_padding) {
  std::vector<double> out;
  for (int64_t j = 0; j < p.out[i]; ++j) {
    int64_t start = j * p.stride[i] - p.padding[i];
    int64_t end = std::min(start + p.kernel[i], p.in[i] + p.padding[i]);
    if (!count_padding) {
      start = std::max<int64_t>(start, 0);
      end = std::min(end, p.in[i]);
    }
    out.push_back(static_cast<double>(end - start));
  }
  return out;
}

void avg_pool(Site& s, size_t n, bool has_divisor) {
  Emitter& e = s.e;
  const auto rank = static_cast<int64_t>(n) + 2;
  const Pool p = pool_of(s, n, 0, 4);
  const Ref x = with_batch(s, s.tensor(0), rank);
  const bool count_padding = s.flag(5), divides = has_divisor && s.has(6);
  Attributes attributes = attributes_of(p);
  const bool is_direct = !divides && (p.after == p.padding || !count_padding);
  attributes.push_back(attribute("count_include_pad", int{count_padding || !is_direct}));
  Ref y = e.op("AveragePool", {x}, attributes);
  if (is_direct) return give_without_batch(s, y, rank);
  // Multiply means over all elements, padding included, by the ratio of the counts.
  if (p.ceil) Site::refuse("ceil_mode with dynamic sizes");
  double elements = 1;
  for (const int64_t k : p.kernel) elements *= static_cast<double>(k);
  if (divides) return give_without_batch(s, e.mul(y, elements / s.real(6)), rank);
  for (size_t i = 0; i < n; ++i) {
    std::vector<double> ratios = divisors(p, i, true);
    for (double& r : ratios) r = static_cast<double>(p.kernel[i]) / r;
    Dims sizes(n - i, 1);
    sizes[0] = p.out[i];
    y = e.mul(y, e.constant(tensor(ratios, TensorOptions(x.dtype)).reshape(sizes)));
  }
  give_without_batch(s, y, rank);
}

int64_t window_start(int64_t j, int64_t in, int64_t out) { return j * in / out; }
int64_t window_end(int64_t j, int64_t in, int64_t out) { return ((j + 1) * in + out - 1) / out; }

// Return the kernel if all windows have one size and do not overlap; empty otherwise.
Dims even_windows(const Dims& in, const Dims& out) {
  Dims kernel;
  for (size_t i = 0; i < in.size(); ++i) {
    if (in[i] <= 0 || in[i] % out[i] != 0) return {};
    kernel.push_back(in[i] / out[i]);
  }
  return kernel;
}

Dims swapped_with_last(int64_t rank, int64_t dim) {
  Dims order;
  for (int64_t d = 0; d < rank; ++d) order.push_back(d == dim ? rank - 1 : d == rank - 1 ? dim : d);
  return order;
}

// Windows of different sizes are computed as a product with their weights along each dim.
void adaptive_avg_pool(Site& s, size_t n) {
  Emitter& e = s.e;
  const Dims in = spatial(s.sizes(0), n), out = spatial(s.result_sizes(), n);
  const int64_t rank = s.rank(0), with = static_cast<int64_t>(n) + 2;
  Ref x = s.tensor(0);
  if (std::count(out.begin(), out.end(), 1) == static_cast<int64_t>(n)) {
    return give_without_batch(s, e.op("GlobalAveragePool", {with_batch(s, x, with)}), with);
  }
  const Dims kernel = even_windows(in, out);
  if (!kernel.empty()) {
    const Ref y = e.op("AveragePool", {with_batch(s, x, with)},
                       {attribute("kernel_shape", kernel), attribute("strides", kernel)});
    return give_without_batch(s, y, with);
  }
  for (size_t i = 0; i < n; ++i) {
    if (in[i] == out[i]) continue;
    if (in[i] < 0 || out[i] < 0) Site::refuse("windows of dynamic sizes");
    std::vector<double> weights(static_cast<size_t>(in[i] * out[i]));
    for (int64_t j = 0; j < out[i]; ++j) {
      const int64_t start = window_start(j, in[i], out[i]), end = window_end(j, in[i], out[i]);
      for (int64_t k = start; k < end; ++k) {
        weights[static_cast<size_t>(k * out[i] + j)] = 1 / static_cast<double>(end - start);
      }
    }
    const Ref w = e.constant(tensor(weights, TensorOptions(x.dtype)).reshape({in[i], out[i]}));
    const Dims order = swapped_with_last(rank, rank - static_cast<int64_t>(n - i));
    x = e.transpose(e.op("MatMul", {e.transpose(x, order), w}), order);
  }
  s.give(x);
}

// For windows of different sizes, gather their elements along each dim, with the last element
// repeated.
void adaptive_max_pool(Site& s, size_t n) {
  Emitter& e = s.e;
  const Dims in = spatial(s.fixed_sizes(0), n), out = spatial(s.result_sizes(), n);
  const int64_t rank = s.rank(0), with = static_cast<int64_t>(n) + 2;
  const Dims kernel = even_windows(in, out);
  Ref x = s.tensor(0);
  if (!kernel.empty()) {
    const Attributes attributes{attribute("kernel_shape", kernel), attribute("strides", kernel)};
    if (s.results() == 1 || !s.needs(1)) {
      return give_without_batch(s, e.op("MaxPool", {with_batch(s, x, with)}, attributes), with);
    }
    int64_t plane = 1;
    for (const int64_t size : in) plane *= size;
    const std::vector<Ref> y =
        e.ops("MaxPool", {with_batch(s, x, with)}, attributes, {x.dtype, kInt64});
    give_without_batch(s, y[0], with);
    return give_without_batch(s, e.op("Mod", {y[1], e.integer(plane)}), with);
  }
  if (s.results() > 1 && s.needs(1)) Site::refuse("indices of windows of different sizes");
  for (size_t i = 0; i < n; ++i) {
    const int64_t axis = rank - static_cast<int64_t>(n - i);
    int64_t longest = 0;
    for (int64_t j = 0; j < out[i]; ++j) {
      longest = std::max(longest, window_end(j, in[i], out[i]) - window_start(j, in[i], out[i]));
    }
    Dims index;
    for (int64_t j = 0; j < out[i]; ++j) {
      for (int64_t k = 0; k < longest; ++k) {
        index.push_back(
            std::min(window_start(j, in[i], out[i]) + k, window_end(j, in[i], out[i]) - 1));
      }
    }
    const Ref windows = e.reshape(e.integers(index), {out[i], longest});
    x = e.reduce("ReduceMax", e.op("Gather", {x, windows}, {attribute("axis", axis)}),
                 Dims{axis + 1}, false);
  }
  s.give(x);
}

constexpr Form kRows[] = {
    // clang-format off
    {"max_pool1d.default", [](Site& s) { max_pool(s, 1); }},
    {"max_pool2d.default", [](Site& s) { max_pool(s, 2); }},
    {"max_pool3d.default", [](Site& s) { max_pool(s, 3); }},
    {"max_pool1d_with_indices.default", [](Site& s) { max_pool(s, 1); }},
    {"max_pool2d_with_indices.default", [](Site& s) { max_pool(s, 2); }},
    {"max_pool3d_with_indices.default", [](Site& s) { max_pool(s, 3); }},
    {"avg_pool1d.default", [](Site& s) { avg_pool(s, 1, false); }},
    {"avg_pool2d.default", [](Site& s) { avg_pool(s, 2, true); }},
    {"avg_pool3d.default", [](Site& s) { avg_pool(s, 3, true); }},
    {"adaptive_avg_pool1d.default", [](Site& s) { adaptive_avg_pool(s, 1); }},
    {"adaptive_avg_pool2d.default", [](Site& s) { adaptive_avg_pool(s, 2); }},
    {"_adaptive_avg_pool2d.default", [](Site& s) { adaptive_avg_pool(s, 2); }},
    {"adaptive_avg_pool3d.default", [](Site& s) { adaptive_avg_pool(s, 3); }},
    {"_adaptive_avg_pool3d.default", [](Site& s) { adaptive_avg_pool(s, 3); }},
    {"adaptive_max_pool1d.default", [](Site& s) { adaptive_max_pool(s, 1); }},
    {"adaptive_max_pool2d.default", [](Site& s) { adaptive_max_pool(s, 2); }},
    {"adaptive_max_pool3d.default", [](Site& s) { adaptive_max_pool(s, 3); }},
    // clang-format on
};

}  // namespace

constinit const std::span<const Form> kPoolForms = kRows;

}  // namespace ambit::graph::onnx
