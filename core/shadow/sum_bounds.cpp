// Bounds of sums: reductions, scans, sums at indices, products, and convolutions.
#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "bound.h"

namespace ambit::shadow {
namespace {

using Numbers = std::vector<double>;

double magnitude(double x) { return std::isfinite(x) ? std::abs(x) : 0; }

// Call f(position, index) for all elements of `sizes` in row-major order: `position` is the
// element's offset with `strides`, `index` its number in this order.
template <class F>
void for_each_position(IntArrayRef sizes, const Dims& strides, const F& f) {
  Dims index(sizes.size());
  const int64_t n = std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
  int64_t at = 0;
  for (int64_t i = 0; i < n; ++i) {
    f(at, i);
    for (size_t d = sizes.size(); d-- > 0;) {
      at += strides[d];
      if (++index[d] < sizes[d]) break;
      at -= index[d] * strides[d];
      index[d] = 0;
    }
  }
}

// Return the row-major strides of `sizes`, 0 where the size is 1.
Dims broadcast_strides(IntArrayRef sizes) {
  Dims strides = contiguous_strides(sizes);
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 1) strides[d] = 0;
  }
  return strides;
}

// Return the sum of magnitudes of x for each element of a y of these sizes.
Numbers sums_of_magnitudes(const Operand& x, IntArrayRef y_sizes) {
  const Numbers values = x.values_before();
  Numbers sums(static_cast<size_t>(
      std::accumulate(y_sizes.begin(), y_sizes.end(), int64_t{1}, std::multiplies<>())));
  for_each_position(x.tensor.sizes(), broadcast_strides(y_sizes), [&](int64_t at, int64_t i) {
    sums[static_cast<size_t>(at)] += magnitude(values[static_cast<size_t>(i)]);
  });
  return sums;
}

Numbers scaled(Numbers numbers, double factor) {
  for (double& x : numbers) x *= factor;
  return numbers;
}

double terms(const Operand& y, const Operand& x) {
  return static_cast<double>(x.numel()) / static_cast<double>(std::max<int64_t>(1, y.numel()));
}

// For each position of y: the sum of the magnitudes that are added there, of y itself and of
// elements of src, and their number. position(i) is the position in y of the element i of src.
struct Added {
  Numbers magnitudes, count;
};
template <class Position>
Added added_at(const Operand& y, const Operand& src, const Position& position) {
  Added added{y.values_before(), Numbers(static_cast<size_t>(y.numel()))};
  for (double& x : added.magnitudes) x = magnitude(x);
  const Numbers values = src.values_before();
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t at = position(static_cast<int64_t>(i));
    if (at < 0 || at >= y.numel()) continue;
    added.magnitudes[static_cast<size_t>(at)] += magnitude(values[i]);
    added.count[static_cast<size_t>(at)] += 1;
  }
  return added;
}

Bound bound_of(const Added& added, DType dtype) {
  Bound bound{1};
  for (size_t i = 0; i < added.count.size(); ++i) {
    bound.each.push_back(sum_error(added.count[i], added.magnitudes[i], dtype));
  }
  return bound;
}

// Return the position in y of each element of src, for a call scatter(y, index, src, dim).
std::vector<int64_t> scattered(const Call& call) {
  const Operand &y = call.operand(0), &index = call.operand(1);
  const auto dim = static_cast<size_t>(call.parameter<int64_t>(0));
  Dims strides = contiguous_strides(y.tensor.sizes());
  const int64_t along = strides.empty() ? 0 : std::exchange(strides[dim], 0);
  const Numbers indices = index.values_before();
  std::vector<int64_t> positions(indices.size());
  for_each_position(index.tensor.sizes(), strides, [&](int64_t at, int64_t i) {
    positions[static_cast<size_t>(i)] =
        at + along * static_cast<int64_t>(indices[static_cast<size_t>(i)]);
  });
  return positions;
}

// Return the Euclidean norms of the rows of x [B,M,K] along its last dim, or along the one before.
Numbers norms(const Operand& x, bool of_columns) {
  const int64_t rank = x.tensor.dim();
  Dims sizes = x.tensor.sizes();
  sizes[static_cast<size_t>(of_columns ? rank - 2 : rank - 1)] = 1;
  const Numbers values = x.values_before();
  Numbers sums(static_cast<size_t>(
      std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>())));
  for_each_position(x.tensor.sizes(), broadcast_strides(sizes), [&](int64_t at, int64_t i) {
    const double v = magnitude(values[static_cast<size_t>(i)]);
    sums[static_cast<size_t>(at)] += v * v;
  });
  for (double& s : sums) s = std::sqrt(s);
  return sums;
}

}  // namespace

Bound reduce_bound(const Call& call, const Operand& y) {
  const Operand& x = call.operand(1);
  const DType dtype = y.dtype();
  const double eps = epsilon(dtype), n = terms(y, x);
  if (eps == 0 || x.numel() == 0) return {};
  const auto sums = [&] { return sums_of_magnitudes(x, y.tensor.sizes()); };
  switch (call.parameter<ReduceOp>(0)) {
    case ReduceOp::sum:
    case ReduceOp::nansum:
      return {1, 0, scaled(sums(), sum_error(n, 1, dtype))};
    case ReduceOp::mean:
      return {2, 0, scaled(sums(), sum_error(n, 1, dtype) / n)};
    case ReduceOp::prod:
      return {2 * n};
    case ReduceOp::abs_sum:
    case ReduceOp::norm:
      return {3 + roundings(n)};
    case ReduceOp::var:
    case ReduceOp::var_unbiased:
    case ReduceOp::std:
    case ReduceOp::std_unbiased: {
      // Deviations have the rounding error of the mean.
      const double largest = x.largest();
      const bool is_root = call.parameter<ReduceOp>(0) == ReduceOp::std ||
                           call.parameter<ReduceOp>(0) == ReduceOp::std_unbiased;
      return {4 + roundings(n), 8 * eps * largest * (is_root ? 1 : largest)};
    }
    default:
      return {};  // max, min, any, all
  }
}

Bound scan_bound(const Call& call, const Operand& y) {
  const auto dim = static_cast<size_t>(call.parameter<ScanParams>(0).dim);
  const DType dtype = y.dtype();
  if (epsilon(dtype) == 0 || y.numel() == 0) return {};
  Dims sizes = y.tensor.sizes();
  const double n = sizes.empty() ? 1 : static_cast<double>(std::exchange(sizes[dim], 1));
  switch (call.parameter<ScanOp>(1)) {
    case ScanOp::prod:
      return {2 * n};
    case ScanOp::logsumexp:
      return {4, 16 * epsilon(dtype) * std::max(1., call.largest(1) / 3) * (1 + std::log2(n)) *
                     std::max(1.0, std::sqrt(n))};
    case ScanOp::sum: {
      const Numbers lines = sums_of_magnitudes(call.operand(1), sizes);
      return {1, sum_error(n, *std::ranges::max_element(lines), dtype)};
    }
  }
  return {};
}

Bound scatter_add_bound(const Call& call, const Operand& y) {
  if (epsilon(y.dtype()) == 0) return {};
  const std::vector<int64_t> positions = scattered(call);
  const auto at = [&](int64_t i) { return positions[static_cast<size_t>(i)]; };
  return bound_of(added_at(y, call.operand(2), at), y.dtype());
}

Bound index_add_bound(const Call& call, const Operand& y) {
  if (epsilon(y.dtype()) == 0) return {};
  const auto dim = static_cast<size_t>(call.parameter<int64_t>(0));
  const Numbers indices = call.operand(1).values_before();
  const IntArrayRef sizes = y.tensor.sizes(), src = call.operand(2).tensor.sizes();
  int64_t inner = 1;
  for (size_t d = dim + 1; d < sizes.size(); ++d) inner *= sizes[d];
  const int64_t to = sizes.empty() ? 1 : sizes[dim], from = src.empty() ? 1 : src[dim];
  const auto at = [&](int64_t i) {
    const int64_t row = i / inner % from, outer = i / inner / from;
    return (outer * to + static_cast<int64_t>(indices[static_cast<size_t>(row)])) * inner +
           i % inner;
  };
  return bound_of(added_at(y, call.operand(2), at), y.dtype());
}

Bound scatter_reduce_bound(const Call& call, const Operand& y) {
  if (epsilon(y.dtype()) == 0 || call.parameter<ScatterOp>(1) != ScatterOp::prod) return {};
  const Operand& index = call.operand(1);
  const auto dim = call.parameter<int64_t>(0);
  return {2 + 2 * static_cast<double>(index.tensor.dim() > 0 ? index.size(dim) : 1)};
}

Bound embedding_bag_bound(const Call& call, const Operand& y) {
  const auto& p = call.parameter<EmbeddingBagParams>(0);
  if (epsilon(y.dtype()) == 0 || p.mode == EmbeddingBagParams::Mode::max) return {};
  const Numbers offsets = call.operand(4).values_before();
  double longest = 1;
  for (size_t i = 1; i < offsets.size(); ++i) {
    longest = std::max(longest, offsets[i] - offsets[i - 1]);
  }
  const double factor = call.operand(5).is_defined() ? call.largest(5) : 1;
  return {2, sum_error(longest, longest * call.largest(2) * factor, y.dtype())};
}

Bound embedding_bag_grad_bound(const Call& call, const Operand& y) {
  if (epsilon(y.dtype()) == 0) return {};
  std::vector<int64_t> uses(static_cast<size_t>(std::max<int64_t>(1, y.size(0))));
  for (const double i : call.operand(3).values_before()) {
    if (i >= 0 && i < static_cast<double>(uses.size())) ++uses[static_cast<size_t>(i)];
  }
  const auto n = static_cast<double>(*std::ranges::max_element(uses));
  const double factor = call.operand(5).is_defined() ? call.largest(5) : 1;
  return {2, sum_error(n, n * call.largest(1) * factor, y.dtype())};
}

// y [B,M,N] = a [B,M,K] b [B,K,N], or y [M,N] = x [M,K] w[N,K]^T + b [N]. By Cauchy and Schwarz the
// sum of the magnitudes of K products is at most the product of two norms.
Bound product_bound(const Call& call, const Operand& y) {
  if (epsilon(y.dtype()) == 0 || y.numel() == 0) return {};
  const Operand &a = call.operand(1), &b = call.operand(2);
  const bool is_linear = y.tensor.dim() == 2;
  const int64_t rank = y.tensor.dim(), M = y.size(rank - 2), N = y.size(rank - 1);
  const auto K = static_cast<double>(a.size(rank - 1));
  const Numbers rows = norms(a, false), columns = norms(b, !is_linear);
  const Numbers bias = call.arguments().size() > 3 && call.operand(3).is_defined()
                           ? call.operand(3).values_before()
                           : Numbers();
  Bound bound{1};
  bound.each.resize(static_cast<size_t>(y.numel()));
  double largest = 0;
  for (size_t i = 0; i < bound.each.size(); ++i) {
    const size_t row = i / static_cast<size_t>(N), column = i % static_cast<size_t>(N);
    const size_t batch = row / static_cast<size_t>(M);
    double sum = rows[row] * columns[batch * static_cast<size_t>(N) + column];
    if (!bias.empty()) sum += magnitude(bias[column]);
    largest = std::max(largest, sum);
    bound.each[i] = sum_error(K + 1, sum, y.dtype());
  }
  if (call.parameters().empty()) return bound;
  return activation_bound(call.parameter<ActivationParams>(0).op, bound, largest, y.dtype());
}

// Each part of a result is a sum of two products for each complex number of the line.
Bound fft_bound(const Call& call, const Operand& y) {
  const double n = 2 * static_cast<double>(std::max(y.size(1), call.operand(1).size(1)));
  const double magnitudes = n * call.largest(1) * std::abs(call.parameter<double>(1));
  return {2, sum_error(n, magnitudes, y.dtype())};
}

// y [M,N]: the sum of products is exact; then numbers of magnitude up to K * 127 * 128 / 127 * the
// largest x * scale are rounded.
Bound linear_int8_bound(const Call& call, const Operand& y) {
  const auto K = static_cast<double>(call.operand(1).size(1));
  return {4, 4 * 128 * K * call.largest(1) * call.largest(3) * epsilon(y.dtype())};
}

// x [N,C,...], w [K,C/groups,...]
Bound convolution_bound(const Call& call, const Operand& y) {
  const Operand& w = call.operand(2);
  if (y.numel() == 0 || w.numel() == 0) return {};
  const Numbers values = w.values_before();
  const size_t n = values.size() / static_cast<size_t>(w.size(0));
  double largest = 0;
  for (size_t k = 0; k < values.size(); k += n) {
    double sum = 0;
    for (size_t i = k; i < k + n; ++i) sum += magnitude(values[i]);
    largest = std::max(largest, sum);
  }
  largest = largest * call.largest(1) + call.largest(3);
  const Bound bound{1, sum_error(static_cast<double>(n) + 1, largest, y.dtype())};
  if (call.parameters().size() == 1) return bound;
  return activation_bound(call.parameter<ActivationParams>(1).op, bound, largest, y.dtype());
}

// dx [N,C,...] from dy [N,K,...] and w [K,C/groups,...]: each sum is over the filters of a group.
Bound convolution_input_grad_bound(const Call& call, const Operand& dx) {
  const Operand& w = call.operand(2);
  if (dx.numel() == 0 || w.numel() == 0) return {};
  const Numbers values = w.values_before();
  const auto C = static_cast<size_t>(w.size(1)), K = static_cast<size_t>(w.size(0));
  const size_t window = values.size() / (K * C);
  const auto groups = static_cast<size_t>(call.parameter<ConvParams>(0).groups);
  Numbers sums(C * groups);
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t c = i / window % C, group = i / (window * C) / (K / groups);
    sums[group * C + c] += magnitude(values[i]);
  }
  const double largest = *std::ranges::max_element(sums) * call.largest(1);
  return {1, sum_error(static_cast<double>(K / groups * window) + 1, largest, dx.dtype())};
}

// dw [K,C/groups,...] from dy [N,K,...] and x [N,C,...], by Cauchy and Schwarz.
Bound convolution_weight_grad_bound(const Call& call, const Operand& dw) {
  const Operand &dy = call.operand(1), &x = call.operand(2);
  if (dw.numel() == 0 || dy.numel() == 0 || x.numel() == 0) return {};
  const auto channel_norms = [](const Operand& o) {
    const auto C = static_cast<size_t>(o.size(1));
    const size_t inner = static_cast<size_t>(o.numel() / o.size(0)) / C;
    const Numbers values = o.values_before();
    Numbers sums(C);
    for (size_t i = 0; i < values.size(); ++i) {
      sums[i / inner % C] += magnitude(values[i]) * magnitude(values[i]);
    }
    for (double& s : sums) s = std::sqrt(s);
    return sums;
  };
  const Numbers of_dy = channel_norms(dy), of_x = channel_norms(x);
  const auto C = static_cast<size_t>(dw.size(1)), K = static_cast<size_t>(dw.size(0));
  const size_t window = static_cast<size_t>(dw.numel()) / (K * C);
  const auto groups = static_cast<size_t>(call.parameter<ConvParams>(0).groups);
  const auto n = static_cast<double>(dy.numel() / dy.size(1));
  Bound bound{1};
  bound.each.resize(static_cast<size_t>(dw.numel()));
  for (size_t i = 0; i < bound.each.size(); ++i) {
    const size_t c = i / window % C, k = i / (window * C);
    bound.each[i] = sum_error(n, of_dy[k] * of_x[k / (K / groups) * C + c], dw.dtype());
  }
  return bound;
}

}  // namespace ambit::shadow
