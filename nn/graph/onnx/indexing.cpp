// Operators: gathering, scattering, sorting and padding.
#include <ambit/error.h>
#include <ambit/nn/functional/aten.h>
#include <ambit/ops/arrange.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/shape.h>
#include <ambit/ops/sort.h>

#include <fmt/format.h>

#include <algorithm>

#include "operators.h"

namespace ambit::graph::onnx {
namespace {

Tensor gathered(const Call& c) {
  const Tensor &x = c.tensor(0), &index = c.tensor(1);
  const int64_t dim = axis(c.integer(2), x.dim());
  const Tensor flat = positive_indices(index, x.size(dim)).reshape({-1});
  Dims sizes;
  for (int64_t i = 0; i < dim; ++i) sizes.push_back(x.size(i));
  for (const int64_t size : index.sizes()) sizes.push_back(size);
  for (int64_t i = dim + 1; i < x.dim(); ++i) sizes.push_back(x.size(i));
  return index_select(x, dim, flat).reshape(sizes);
}

Tensor gathered_elements(const Call& c) {
  const Tensor& x = c.tensor(0);
  const int64_t dim = axis(c.integer(2), x.dim());
  return gather(x, dim, positive_indices(c.tensor(1), x.size(dim)));
}

// Split the last dim of `index` into one index tensor per dim of x, after `skipped` dims of x.
std::vector<std::optional<Tensor>> tuple_of(const Tensor& index, const Tensor& x, int64_t skipped) {
  const int64_t depth = index.dim() == 0 ? 0 : index.size(-1);
  if (depth < 1 || depth > x.dim() - skipped) {
    throw ShapeError(
        fmt::format("expected 1 to {} indices of an element, got {}", x.dim() - skipped, depth));
  }
  std::vector<std::optional<Tensor>> out;
  for (int64_t i = 0; i < depth; ++i) {
    out.emplace_back(positive_indices(index.select(-1, i), x.size(skipped + i)));
  }
  return out;
}

Tensor gathered_nd(const Call& c) {
  const Tensor &x = c.tensor(0), &index = c.tensor(1);
  const int64_t batch = c.integer(2);
  if (batch == 0) return ambit::index(x, tuple_of(index, x, 0));
  if (batch < 0 || batch >= std::min(x.dim(), index.dim())) {
    throw IndexError(fmt::format("expected fewer batch dims than dims, got {}", batch));
  }
  const Tensor a = x.flatten(0, batch - 1), b = index.flatten(0, batch - 1);
  std::vector<std::optional<Tensor>> indices = tuple_of(b, a, 1);
  Dims rows(static_cast<size_t>(b.dim() - 1), 1);
  rows[0] = a.size(0);
  const Tensor row = arange(a.size(0), TensorOptions(kInt64).device(x.device())).reshape(rows);
  indices.insert(indices.begin(), row);
  const Tensor out = ambit::index(a, indices);
  Dims sizes(x.sizes().slice(0, static_cast<size_t>(batch)));
  for (const int64_t size : out.sizes().slice(1)) sizes.push_back(size);
  return out.reshape(sizes);
}

const char* reduction_name(std::string_view name) {
  return name == "add" ? "sum" : name == "mul" ? "prod" : name == "max" ? "amax" : "amin";
}

Tensor scattered_elements(const Call& c, bool has_reduction) {
  const Tensor &x = c.tensor(0), &updates = c.tensor(2);
  expect_same_dtype(x, updates);
  const int64_t dim = axis(c.integer(3), x.dim());
  const Tensor index = positive_indices(c.tensor(1), x.size(dim));
  if (!has_reduction || c.text(4) == "none") return scatter(x, dim, index, updates);
  return scatter_reduce(x, dim, index, updates, reduction_name(c.text(4)));
}

// Return the position in x of each tuple of indices, with the dims that they select flattened.
Tensor scattered_nd(const Call& c) {
  const Tensor &x = c.tensor(0), &index = c.tensor(1), &updates = c.tensor(2);
  expect_same_dtype(x, updates);
  const std::vector<std::optional<Tensor>> indices = tuple_of(index, x, 0);
  if (c.text(3) == "none") return index_put(x, indices, updates);
  Tensor at = zeros(index.sizes().slice(0, index.sizes().size() - 1),
                    TensorOptions(kInt64).device(x.device()));
  int64_t rows = 1, row = 1;
  for (size_t i = 0; i < indices.size(); ++i) {
    at = at * x.size(static_cast<int64_t>(i)) + *indices[i];
    rows *= x.size(static_cast<int64_t>(i));
  }
  for (int64_t i = std::ssize(indices); i < x.dim(); ++i) row *= x.size(i);
  return scatter_reduce(x.reshape({rows, row}), 0, at.reshape({-1, 1}).expand({at.numel(), row}),
                        updates.reshape({-1, row}), reduction_name(c.text(3)))
      .reshape(x.sizes());
}

// A stable sort, so that among equal elements the lowest index comes first.
void top(Call& c) {
  const Tensor& x = c.tensor(0);
  const int64_t dim = axis(c.integer(2), x.dim()), k = host_integer(c, 1);
  if (k < 0 || k > x.size(dim)) {
    throw IndexError(fmt::format("expected k from 0 to {}, got {}", x.size(dim), k));
  }
  const auto [values, indices] = sort(x, true, dim, c.flag(3));
  c.give(values.narrow(dim, 0, k).contiguous());
  c.give(indices.narrow(dim, 0, k).contiguous());
}

// For a class out of range all elements are the off value.
Tensor one_hot_of(const Call& c) {
  const Tensor &index = c.tensor(0), &values = c.tensor(2);
  const int64_t depth = host_integer(c, 1);
  const int64_t dim = axis(c.integer(3), index.dim() + 1);
  const Tensor i = positive_indices(index, depth).unsqueeze(dim);
  Dims sizes(static_cast<size_t>(i.dim()), 1);
  sizes[static_cast<size_t>(dim)] = depth;
  const Tensor classes = arange(depth, TensorOptions(kInt64).device(index.device())).reshape(sizes);
  return where(i.eq(classes), values.select(0, 1), values.select(0, 0));
}

Tensor compressed(const Call& c) {
  const Tensor& x = c.tensor(0);
  const Tensor chosen = nonzero(c.tensor(1)).reshape({-1});
  if (!c.has(2)) return index_select(x.reshape({-1}), 0, chosen);
  return index_select(x, axis(c.integer(2), x.dim()), chosen);
}

Tensor reversed(const Call& c) {
  const Tensor &x = c.tensor(0), &lengths = c.tensor(1);
  const int64_t batch = axis(c.integer(2), x.dim()), time = axis(c.integer(3), x.dim());
  const Tensor a = x.transpose(0, time);  // time first; the batch is at 1, or at `time` if it was 0
  const Tensor b = batch == 0 ? a.transpose(1, time) : a.transpose(1, batch);
  const Tensor t = arange(b.size(0), TensorOptions(kInt64).device(x.device())).unsqueeze(1);
  const Tensor n = lengths.to(kInt64).unsqueeze(0);
  Dims ones_after(static_cast<size_t>(b.dim()), 1);
  ones_after[0] = b.size(0);
  ones_after[1] = b.size(1);
  const Tensor index = where(t.lt(n), n - 1 - t, t).reshape(ones_after).expand(b.sizes());
  const Tensor out = gather(b, 0, index);
  return (batch == 0 ? out.transpose(1, time) : out.transpose(1, batch)).transpose(0, time);
}

// Return for each index of the padded dim its index in x; -1 for the constant.
Tensor padded_dim(const Tensor& x, int64_t dim, int64_t before, int64_t after,
                  std::string_view mode) {
  const int64_t size = x.size(dim), total = size + before + after;
  if (total < 0) throw ShapeError(fmt::format("expected a size from 0 on, got {}", total));
  if (size == 0 && total > 0) throw ShapeError("expected elements to repeat, got an empty dim");
  std::vector<int64_t> index;
  for (int64_t o = 0; o < total; ++o) {
    int64_t i = o - before;
    if (mode == "wrap") i = (i % size + size) % size;
    if (mode == "edge") i = std::clamp(i, int64_t{0}, size - 1);
    if (mode == "reflect") {
      const int64_t period = std::max<int64_t>(2 * size - 2, 1);
      i = (i % period + period) % period;
      i = size == 1 ? 0 : std::min(i, period - i);
    }
    index.push_back(i);
  }
  return index_select(x, dim, tensor(index).to(x.device()));
}

Tensor padded(const Call& c) {
  Tensor x = c.tensor(0);
  const Dims pads = host_integers(c, 1);
  Dims dims = axes(host_integers(c, 3), x.dim());
  for (int64_t i = 0; !c.has(3) && i < x.dim(); ++i) dims.push_back(i);
  const size_t n = dims.size();
  if (pads.size() != 2 * n) {
    throw Error(fmt::format("expected {} pads, got {}", 2 * n, pads.size()));
  }
  const std::string_view mode = c.text(4);
  if (mode != "constant") {
    for (size_t i = 0; i < n; ++i) x = padded_dim(x, dims[i], pads[i], pads[n + i], mode);
    return x;
  }
  Dims torch_pads(static_cast<size_t>(2 * x.dim()), 0);  // listed from the last dim on
  for (size_t i = 0; i < n; ++i) {
    const auto at = static_cast<size_t>(2 * (x.dim() - 1 - dims[i]));
    torch_pads[at] = pads[i];
    torch_pads[at + 1] = pads[n + i];
  }
  const Scalar value = c.has(2) ? c.is_list(2) ? Scalar(c.reals(2).at(0)) : c.scalar(2) : Scalar(0);
  return constant_pad_nd(x, torch_pads, value);
}

// Source for the order of first appearance: the smallest position of each value.
void distinct(Call& c) {
  const Tensor x = c.has(1) ? c.tensor(0) : c.tensor(0).reshape({-1});
  const int64_t dim = c.has(1) ? axis(c.integer(1), x.dim()) : 0;
  auto [values, inverse, counts] = unique_dim(x, dim, true, true, true);
  const int64_t n = values.size(dim);
  const TensorOptions integers = TensorOptions(kInt64).device(x.device());
  const Tensor position = arange(inverse.numel(), integers);
  Tensor first = scatter_reduce(full({n}, inverse.numel(), integers), 0, inverse.reshape({-1}),
                                position, "amin");
  if (!c.flag(2)) {
    const Tensor order = argsort(first);
    first = index_select(first, 0, order);
    values = index_select(values, dim, order);
    counts = index_select(counts, 0, order);
    inverse = index_select(argsort(order), 0, inverse.reshape({-1}));
  }
  c.give(values);
  c.give(first);
  c.give(inverse.reshape({-1}));
  c.give(counts);
}

// Writes update at a position of the sequence of each row of a batch.
Tensor written(const Call& c) {
  const Tensor &x = c.tensor(0), &update = c.tensor(1);
  const int64_t dim = axis(c.integer(3), x.dim()), n = update.size(dim);
  const TensorOptions integers = TensorOptions(kInt64).device(x.device());
  Dims rows(static_cast<size_t>(x.dim()), 1), steps = rows;
  rows[0] = x.size(0);
  steps[static_cast<size_t>(dim)] = n;
  Tensor at = arange(n, integers).reshape(steps);
  if (c.has(2)) at = at + c.tensor(2).to(kInt64).reshape(rows);
  if (c.text(4) == "circular") at = remainder(at, x.size(dim));
  return scatter(x, dim, at.expand(update.sizes()), update);
}

constexpr Operator kRows[] = {
    // clang-format off
    {{"Gather", "data indices axis=0", one([](Call& c) { return gathered(c); })}, 2},
    {{"GatherElements", "data indices axis=0", one([](Call& c) { return gathered_elements(c); })},
     2},
    {{"GatherND", "data indices batch_dims=0", one([](Call& c) { return gathered_nd(c); })}, 2},
    {{"ScatterElements", "data indices updates axis=0 reduction=none", one([](Call& c) {
       return scattered_elements(c, true); })}, 3},
    {{"Scatter", "data indices updates axis=0", one([](Call& c) {
       return scattered_elements(c, false); })}, 3},
    {{"ScatterND", "data indices updates reduction=none", one([](Call& c) {
       return scattered_nd(c); })}, 3},
    {{"TensorScatter", "past_cache update write_indices=None axis=-2 mode=linear",
      one([](Call& c) { return written(c); })}, 3},
    {{"NonZero", "X", one([](Call& c) { return nonzero(c.tensor(0)).t().contiguous(); })}, 1},
    {{"TopK", "X K axis=-1 largest=1 sorted=1", many(top)}, 2, 0b10},
    {{"OneHot", "indices depth values axis=-1", one([](Call& c) { return one_hot_of(c); })}, 3,
     0b10},
    {{"Compress", "input condition axis=None", one([](Call& c) { return compressed(c); })}, 2},
    {{"ReverseSequence", "input sequence_lens batch_axis=1 time_axis=0", one([](Call& c) {
       return reversed(c); })}, 2},
    {{"Pad", "data pads constant_value=None axes=None mode=constant", one([](Call& c) {
       return padded(c); })}, 4, 0b1110},
    {{"Unique", "X axis=None sorted=1", many(distinct)}, 1},
    // clang-format on
};

}  // namespace

constinit const std::span<const Operator> kIndexOperators = kRows;

}  // namespace ambit::graph::onnx
