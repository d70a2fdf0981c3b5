// Operators: shapes, copies and creation.
#include <ambit/error.h>
#include <ambit/nn/functional/aten.h>
#include <ambit/ops/arrange.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/shape.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "operators.h"

namespace ambit::graph::onnx {
namespace {

Tensor reshaped(const Call& c) {
  const Tensor& x = c.tensor(0);
  Dims shape = host_integers(c, 1);
  for (size_t i = 0; i < shape.size() && !c.flag(2); ++i) {
    if (shape[i] != 0) continue;  // 0 copies a size
    if (std::cmp_greater_equal(i, x.dim())) {
      throw ShapeError(fmt::format("expected a size to copy at {}, got {} dims", i, x.dim()));
    }
    shape[i] = x.size(static_cast<int64_t>(i));
  }
  return x.reshape(shape);
}

Tensor flattened(const Call& c) {
  const Tensor& x = c.tensor(0);
  const int64_t a = c.integer(1), split = a == x.dim() ? a : axis(a, x.dim());
  int64_t rows = 1;
  for (int64_t i = 0; i < split; ++i) rows *= x.size(i);
  return x.reshape({rows, rows == 0 ? std::accumulate(x.sizes().begin() + split, x.sizes().end(),
                                                      int64_t{1}, std::multiplies<>())
                                    : x.numel() / rows});
}

Tensor transposed(const Call& c) {
  const Tensor& x = c.tensor(0);
  if (c.has(1)) return x.permute(c.integers(1));
  Dims order;
  for (int64_t i = x.dim(); i-- > 0;) order.push_back(i);
  return x.permute(order);
}

void split_up(Call& c) {
  const Tensor& x = c.tensor(0);
  const int64_t dim = axis(c.integer(2), x.dim()), size = x.size(dim);
  Dims sizes = host_integers(c, 1);
  if (!c.has(1)) {
    const auto parts = static_cast<int64_t>(c.outputs());
    const int64_t most = (size + parts - 1) / parts;
    for (int64_t i = 0; i < parts; ++i) {
      sizes.push_back(std::clamp(size - i * most, int64_t{0}, most));
    }
  }
  c.give(x.split_with_sizes(sizes, dim));
}

// Elements start, start + step, ... of a dim, as numpy chooses them.
Tensor sliced_dim(const Tensor& x, int64_t dim, int64_t start, int64_t end, int64_t step) {
  const int64_t size = x.size(dim);
  if (step == 0) throw Error("expected a step other than 0, got 0");
  const auto limited = [&](int64_t i, int64_t low, int64_t high) {
    return std::clamp(i < 0 ? i + size : i, low, high);
  };
  if (step > 0) {
    start = limited(start, 0, size);
    end = limited(end, 0, size);
    return x.slice(dim, start, std::max(start, end), step);
  }
  start = limited(start, -1, size - 1);
  end = end < -size ? -1 : limited(end, -1, size - 1);
  if (start <= end) return x.slice(dim, 0, 0);
  const int64_t stride = step == INT64_MIN ? INT64_MAX : -step;
  const int64_t count = (start - end - 1) / stride + 1;
  const int64_t last = start - (count - 1) * stride;
  return x.slice(dim, last, start + 1, stride).flip({dim});
}

Tensor sliced(const Call& c) {
  Tensor x = c.tensor(0);
  const Dims starts = host_integers(c, 1), ends = host_integers(c, 2), steps = host_integers(c, 4);
  Dims dims = axes(host_integers(c, 3), x.dim());
  for (size_t i = 0; !c.has(3) && i < starts.size(); ++i) dims.push_back(static_cast<int64_t>(i));
  if (ends.size() != starts.size() || dims.size() != starts.size() ||
      (c.has(4) && steps.size() != starts.size()) || std::cmp_greater(starts.size(), x.dim())) {
    throw Error("expected equal numbers of starts, ends, axes and steps, at most one per dim");
  }
  for (size_t i = 0; i < starts.size(); ++i) {
    x = sliced_dim(x, dims[i], starts[i], ends[i], c.has(4) ? steps[i] : 1);
  }
  return x;
}

Tensor squeezed(const Call& c) {
  const Tensor& x = c.tensor(0);
  if (!c.has(1)) return x.squeeze();
  const Dims dims = axes(host_integers(c, 1), x.dim());
  for (const int64_t d : dims) {
    if (x.size(d) != 1)
      throw ShapeError(fmt::format("expected size 1 at {}, got {}", d, x.size(d)));
  }
  return x.squeeze(IntArrayRef(dims));
}

Tensor unsqueezed(const Call& c) {
  Tensor x = c.tensor(0);
  const Dims given = host_integers(c, 1);
  Dims dims = axes(given, x.dim() + static_cast<int64_t>(given.size()));
  std::sort(dims.begin(), dims.end());
  if (std::adjacent_find(dims.begin(), dims.end()) != dims.end()) {
    throw Error("expected different axes, got one twice");
  }
  for (const int64_t d : dims) x = x.unsqueeze(d);
  return x;
}

// Broadcasts in both directions.
Tensor expanded(const Call& c) {
  const Tensor& x = c.tensor(0);
  Dims shape = host_integers(c, 1);
  while (std::cmp_less(shape.size(), x.dim())) shape.insert(0, 1);
  const auto lead = static_cast<int64_t>(shape.size()) - x.dim();
  for (int64_t i = 0; i < x.dim(); ++i) {
    int64_t& size = shape[static_cast<size_t>(lead + i)];
    if (size == 1) size = x.size(i);
  }
  return x.expand(shape);
}

Tensor shape_of(const Call& c) {
  const Tensor& x = c.tensor(0);
  const int64_t rank = x.dim();
  const auto limited = [&](int64_t i) {
    return std::clamp(i < 0 ? i + rank : i, int64_t{0}, rank);
  };
  const int64_t start = limited(c.integer(1));
  const int64_t end = c.has(2) ? limited(c.integer(2)) : rank;
  std::vector<int64_t> sizes;
  for (int64_t i = start; i < end; ++i) sizes.push_back(x.size(i));
  return tensor(sizes).to(c.device());
}

Tensor constant_of(const Call& c) {
  const Dims shape = host_integers(c, 0);
  if (!c.has(1)) return zeros(shape, TensorOptions(kFloat32).device(c.device()));
  const Argument& value = c.argument(1);
  return full(shape, c.slot(value.items[1]).number.value(),
              TensorOptions(static_cast<DType>(value.items[0].integer)).device(c.device()));
}

// The difference is rounded to the dtype of the operands; the quotient is not.
Tensor ranged(const Call& c) {
  const Tensor &start = c.tensor(0), &limit = c.tensor(1), &step = c.tensor(2);
  expect_same_dtype(start, limit);
  expect_same_dtype(start, step);
  const double count = std::ceil((limit - start).item<double>() / step.item<double>());
  if (!(std::abs(count) < 0x1p62)) throw Error("expected a delta other than 0 and finite limits");
  const auto n = std::max(int64_t{0}, static_cast<int64_t>(count));
  const Tensor i = arange(n, TensorOptions(kInt64).device(start.device()));
  if (!start.is_floating_point()) return (start.to(kInt64) + i * step.to(kInt64)).to(start.dtype());
  return (start.to(kFloat64) + i.to(kFloat64) * step.to(kFloat64)).to(start.dtype());
}

Tensor triangle(const Call& c) {
  const int64_t k = c.has(1) ? host_integer(c, 1) : 0;
  return c.flag(2) ? triu(c.tensor(0), k) : tril(c.tensor(0), k);
}

Tensor identity_like(const Call& c) {
  const Tensor& x = c.tensor(0);
  const DType dtype = c.dtype(1).value_or(x.dtype());
  const Tensor ones_at = ones(x.sizes(), TensorOptions(kFloat32).device(x.device()));
  const int64_t k = c.integer(2);
  return (triu(ones_at, k) * tril(ones_at, k)).to(dtype);
}

Tensor depth_to_space(const Call& c) {
  const Tensor& x = c.tensor(0);
  const int64_t b = c.integer(1), n = x.size(0), d = x.size(1), h = x.size(2), w = x.size(3);
  if (c.text(2) == "CRD") {
    return x.reshape({n, d / (b * b), b, b, h, w})
        .permute({0, 1, 4, 2, 5, 3})
        .reshape({n, d / (b * b), h * b, w * b});
  }
  return x.reshape({n, b, b, d / (b * b), h, w})
      .permute({0, 3, 4, 1, 5, 2})
      .reshape({n, d / (b * b), h * b, w * b});
}

Tensor space_to_depth(const Call& c) {
  const Tensor& x = c.tensor(0);
  const int64_t b = c.integer(1), n = x.size(0), d = x.size(1), h = x.size(2), w = x.size(3);
  const Tensor blocks = x.reshape({n, d, h / b, b, w / b, b});
  const Tensor ordered =
      c.text(2) == "CRD" ? blocks.permute({0, 1, 3, 5, 2, 4}) : blocks.permute({0, 3, 5, 1, 2, 4});
  return ordered.reshape({n, d * b * b, h / b, w / b});
}

// Crops or pads with zeros to the sizes, evenly; the odd element goes to the end.
Tensor centered(const Call& c) {
  Tensor x = c.tensor(0);
  const Dims shape = host_integers(c, 1);
  Dims dims = axes(c.integers(2), x.dim());
  for (size_t i = 0; !c.has(2) && i < shape.size(); ++i) dims.push_back(static_cast<int64_t>(i));
  if (dims.size() != shape.size()) throw Error("expected as many sizes as axes");
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t d = dims[i], extra = shape[i] - x.size(d);
    if (extra < 0) x = x.slice(d, -extra / 2, -extra / 2 + shape[i]);
    if (extra <= 0) continue;
    Dims pads(static_cast<size_t>(2 * x.dim()), 0);
    const auto at = static_cast<size_t>(2 * (x.dim() - 1 - d));
    pads[at] = extra / 2;
    pads[at + 1] = extra - extra / 2;
    x = constant_pad_nd(x, pads);
  }
  return x;
}

constexpr Operator kRows[] = {
    // clang-format off
    {{"Reshape", "data shape allowzero=0", one([](Call& c) { return reshaped(c); })}, 2, 0b10},
    {{"Flatten", "input axis=1", one([](Call& c) { return flattened(c); })}, 1},
    {{"Transpose", "data perm=None", one([](Call& c) { return transposed(c); })}, 1},
    {{"Concat", "inputs axis", one([](Call& c) {
       const std::vector<Tensor> all = c.tensors(0);
       for (const Tensor& t : all) expect_same_dtype(all[0], t);
       return cat(all, c.integer(1)); })}, Operator::kList},
    {{"Split", "input split=None axis=0 num_outputs=None", many(split_up)}, 2, 0b10},
    {{"Slice", "data starts ends axes=None steps=None", one([](Call& c) { return sliced(c); })}, 5,
     0b11110},
    {{"Squeeze", "data axes=None", one([](Call& c) { return squeezed(c); })}, 2, 0b10},
    {{"Unsqueeze", "data axes", one([](Call& c) { return unsqueezed(c); })}, 2, 0b10},
    {{"Expand", "input shape", one([](Call& c) { return expanded(c); })}, 2, 0b10},
    {{"Tile", "input repeats", one([](Call& c) {
       return c.tensor(0).repeat(host_integers(c, 1)); })}, 2, 0b10},
    {{"Shape", "data start=0 end=None", one([](Call& c) { return shape_of(c); })}, 1},
    {{"Size", "data", one([](Call& c) {
       return scalar_tensor(c.tensor(0).numel(), TensorOptions(kInt64).device(c.device())); })}, 1},
    {{"ConstantOfShape", "input value=None", one([](Call& c) { return constant_of(c); })}, 1, 0b1},
    {{"Range", "start limit delta stash_type=1", one([](Call& c) { return ranged(c); })}, 3},
    {{"Trilu", "input k=None upper=1", one([](Call& c) { return triangle(c); })}, 2, 0b10},
    {{"EyeLike", "input dtype=None k=0", one([](Call& c) { return identity_like(c); })}, 1},
    {{"DepthToSpace", "input blocksize mode=DCR", one([](Call& c) { return depth_to_space(c); })},
     1},
    {{"SpaceToDepth", "input blocksize mode=DCR", one([](Call& c) { return space_to_depth(c); })},
     1},
    {{"CenterCropPad", "input_data shape axes=None", one([](Call& c) { return centered(c); })}, 2,
     0b10},
    // clang-format on
};

}  // namespace

constinit const std::span<const Operator> kShapeOperators = kRows;

}  // namespace ambit::graph::onnx
