// Forms: parts of tensors, and tensors joined and rearranged.
#include <algorithm>
#include <limits>
#include <numeric>

#include "forms.h"

namespace ambit::graph::onnx {
namespace {

constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();

// Return element `index` of a dim, without the dim. A constant index may count from the end.
void select(Site& s) {
  const Ref x = s.tensor(0), index = s.is_constant(2) ? s.e.integer(s.integer(2)) : s.tensor(2);
  s.give(s.e.op("Gather", {x, index}, {attribute("axis", s.dim(1, 0))}));
}

void slice(Site& s) {
  const Ref x = s.tensor(0), dim = s.e.integers(s.dim(1, 0));
  const Ref start = s.has(2) ? s.one_integer(2) : s.e.integers(0);
  const Ref end = s.has(3) ? s.one_integer(3) : s.e.integers(kEnd);
  const bool is_whole = (!s.has(2) || (s.is_constant(2) && s.integer(2) == 0)) &&
                        (!s.has(3) || (s.is_constant(3) && s.integer(3) == kEnd)) &&
                        s.integer(4) == 1;
  if (is_whole) return s.give(x);
  s.give(s.e.op("Slice", {x, start, end, dim, s.e.integers(s.integer(4))}));
}

void narrow(Site& s) {
  const Ref start = s.one_integer(2), end = s.e.add(start, s.one_integer(3));
  s.give(s.e.op("Slice", {s.tensor(0), start, end, s.e.integers(s.dim(1, 0))}));
}

// Return the windows along a dim. The dim then has the number of windows as its size, and the
// elements of a window are a new last dim.
void unfold(Site& s) {
  const int64_t dim = s.dim(1, 0), size = s.integer(2), step = s.integer(3), rank = s.rank(0);
  const int64_t count = s.result_sizes()[static_cast<size_t>(dim)];
  if (count < 0) Site::refuse("a dynamic number of windows");
  Dims index, order;
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t j = 0; j < size; ++j) index.push_back(i * step + j);
  }
  const Ref windows = s.e.reshape(s.e.integers(index), {count, size});
  const Ref y = s.e.op("Gather", {s.tensor(0), windows}, {attribute("axis", dim)});
  for (int64_t d = 0; d <= rank; ++d) {
    if (d != dim + 1) order.push_back(d);
  }
  order.push_back(dim + 1);
  s.give(s.e.transpose(y, order));
}

// The elements whose indices along two dims differ by an offset: one product of two indices.
void diagonal(Site& s) {
  const int64_t rank = s.rank(0), offset = s.integer(1), a = s.dim(2, 0), b = s.dim(3, 0);
  const Dims sizes = s.fixed_sizes(0);
  const int64_t rows = sizes[static_cast<size_t>(a)], columns = sizes[static_cast<size_t>(b)];
  const int64_t count = s.result_sizes().back();
  Dims order, packed, index;
  for (int64_t d = 0; d < rank; ++d) {
    if (d == a || d == b) continue;
    order.push_back(d);
    packed.push_back(sizes[static_cast<size_t>(d)]);
  }
  order.push_back(a);
  order.push_back(b);
  packed.push_back(rows * columns);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t row = i + std::max<int64_t>(-offset, 0),
                  column = i + std::max<int64_t>(offset, 0);
    index.push_back(row * columns + column);
  }
  const Ref flat = s.e.reshape(s.e.transpose(s.tensor(0), order), packed);
  s.give(s.e.op("Gather", {flat, s.e.integers(index)}, {attribute("axis", rank - 2)}));
}

// Split into parts with the sizes of the results.
void split(Site& s, int64_t dim) {
  const Ref x = s.tensor(0);
  Dims lengths;
  for (size_t k = 0; k < s.results(); ++k) {
    const int64_t length = s.result_sizes(k)[static_cast<size_t>(dim)];
    if (length < 0) Site::refuse("parts of dynamic sizes");
    lengths.push_back(length);
  }
  if (lengths.size() == 1) return s.give(x);
  const std::vector<DType> dtypes(lengths.size(), x.dtype);
  const std::vector<Ref> parts =
      s.e.ops("Split", {x, s.e.integers(lengths)}, {attribute("axis", dim)}, dtypes);
  for (const Ref& part : parts) s.give(part);
}

void unbind(Site& s) {
  const int64_t dim = s.dim(1, 0);
  for (size_t k = 0; k < s.results(); ++k) {
    s.give(s.e.op("Gather", {s.tensor(0), s.e.integer(static_cast<int64_t>(k))},
                  {attribute("axis", dim)}));
  }
}

// PyTorch accepts an empty tensor of one dim among others.
void cat(Site& s) {
  const std::vector<const Value*> types = s.types(0);
  std::vector<Ref> list = s.tensors(0), kept;
  for (size_t i = 0; i < list.size(); ++i) {
    const bool is_nothing = types[i]->sizes.size() == 1 && types[i]->sizes[0].expression.empty() &&
                            types[i]->sizes[0].number == 0;
    if (!is_nothing) kept.push_back(s.e.cast(list[i], s.result_dtype()));
  }
  if (kept.empty()) return s.give(list.at(0));
  s.give(s.e.concat(kept, Site::dim_of(s.integer(1), std::ssize(s.result().sizes))));
}

void stack(Site& s) {
  const int64_t dim = Site::dim_of(s.integer(1), std::ssize(s.result().sizes));
  std::vector<Ref> list;
  for (const Ref& x : s.tensors(0))
    list.push_back(s.e.unsqueeze(s.e.cast(x, s.result_dtype()), dim));
  s.give(s.e.concat(list, dim));
}

// `repeats` may have more dims than x, and for tile() x may have more dims than `repeats`.
void repeat(Site& s) {
  Ref x = s.tensor(0), repeats = s.shape(1);
  const int64_t rank = s.rank(0);
  const auto given = static_cast<int64_t>(
      s.argument(1).kind == Argument::Kind::list ? s.argument(1).items.size() : 1);
  Dims added;
  for (int64_t d = 0; d < given - rank; ++d) added.push_back(d);
  if (given < rank) {
    repeats = s.e.concat({s.e.integers(Dims(static_cast<size_t>(rank - given), 1)), repeats}, 0);
  }
  s.give(s.e.op("Tile", {s.e.unsqueeze(x, added), repeats}));
}

// Repeat each element; its copies are adjacent.
void repeat_interleave(Site& s) {
  Ref x = s.tensor(0);
  int64_t rank = s.rank(0), dim = 0;
  if (s.has(2)) {
    dim = s.dim(2, 0);
  } else {
    x = s.e.reshape(x, {-1});
    rank = 1;
  }
  s.give(s.e.repeat_each(x, rank, dim, s.integer(1)));
}

void flip(Site& s) {
  Dims dims;
  for (const int64_t d : s.integers(1)) dims.push_back(Site::dim_of(d, s.rank(0)));
  const size_t n = dims.size();
  if (n == 0) return s.give(s.tensor(0));
  s.give(s.e.op("Slice", {s.tensor(0), s.e.integers(Dims(n, -1)), s.e.integers(Dims(n, -kEnd)),
                          s.e.integers(dims), s.e.integers(Dims(n, -1))}));
}

void roll(Site& s) {
  Ref x = s.tensor(0);
  const Dims shifts = s.integers(1);
  Dims dims = s.integers(2), sizes = s.fixed_sizes(0);
  const bool is_flat = dims.empty();
  if (is_flat) {
    int64_t all = 1;
    for (const int64_t size : sizes) all *= size;
    x = s.e.reshape(x, {-1});
    dims = Dims{0};
    sizes = Dims{all};
  }
  for (size_t i = 0; i < shifts.size(); ++i) {
    const int64_t dim = Site::dim_of(dims[i], std::ssize(sizes));
    const int64_t size = sizes[static_cast<size_t>(dim)];
    const int64_t first = size == 0 ? 0 : ((-shifts[i] % size) + size) % size;
    if (first == 0) continue;
    x = s.e.concat({s.e.slice(x, dim, first, size), s.e.slice(x, dim, 0, first)}, dim);
  }
  s.give(is_flat ? s.e.reshape(x, s.fixed_sizes(0)) : x);
}

void triangle(Site& s, int upper) {
  s.give(s.e.op("Trilu", {s.tensor(0), s.e.integer(s.integer(1))}, {attribute("upper", upper)}));
}

// Replace x[start:end] along `dim` by `src`, which has the sizes of this slice.
void put_slice(Site& s, const Ref& src, int64_t dim, int64_t start, int64_t end) {
  const Ref x = s.tensor(0);
  const int64_t size = s.sizes(0)[static_cast<size_t>(dim)];
  if (size < 0) Site::refuse("a dynamic size");
  start = std::clamp<int64_t>(Site::dim_of(start, size), 0, size);
  end = std::clamp<int64_t>(Site::dim_of(end, size), start, size);
  std::vector<Ref> parts;
  if (start > 0) parts.push_back(s.e.slice(x, dim, 0, start));
  if (end > start) parts.push_back(s.e.cast(src, x.dtype));
  if (end < size) parts.push_back(s.e.slice(x, dim, end, size));
  s.give(s.e.concat(parts, dim));
}

void slice_scatter(Site& s) {
  if (s.integer(5) != 1) Site::refuse("a step");
  put_slice(s, s.tensor(1), s.dim(2, 0), s.has(3) ? s.integer(3) : 0,
            s.has(4) ? s.integer(4) : kEnd);
}

void select_scatter(Site& s) {
  const int64_t dim = s.dim(2, 0);
  const int64_t index = Site::dim_of(s.integer(3), s.sizes(0)[static_cast<size_t>(dim)]);
  put_slice(s, s.e.unsqueeze(s.tensor(1), dim), dim, index, index + 1);
}

// Reshape x to the sizes `split`, permute its dims by `order`, and reshape it to the result's
// sizes.
void rearrange(Site& s, IntArrayRef split, IntArrayRef order) {
  const Dims out = s.result_sizes();
  for (const int64_t size : out) {
    if (size < 0) Site::refuse("an operand with dynamic sizes");
  }
  s.give(s.e.reshape(s.e.transpose(s.e.reshape(s.tensor(0), split), order), out));
}

void pixel_shuffle(Site& s) {
  if (s.rank(0) != 4) Site::refuse("images other than [N, C, H, W]");
  s.give(s.e.op("DepthToSpace", {s.tensor(0)},
                {attribute("blocksize", s.integer(1)), attribute("mode", "CRD")}));
}

// ONNX's SpaceToDepth has the channels in another order.
void pixel_unshuffle(Site& s) {
  if (s.rank(0) != 4) Site::refuse("images other than [N, C, H, W]");
  const Dims x = s.fixed_sizes(0);
  const int64_t r = s.integer(1);
  rearrange(s, {x[0], x[1], x[2] / r, r, x[3] / r, r}, {0, 1, 3, 5, 2, 4});
}

void channel_shuffle(Site& s) {
  const Dims x = s.fixed_sizes(0);
  const int64_t groups = s.integer(1);
  Dims split{x[0], groups, x[1] / groups}, order{0, 2, 1};
  for (size_t d = 2; d < x.size(); ++d) {
    split.push_back(x[d]);
    order.push_back(static_cast<int64_t>(d) + 1);
  }
  rearrange(s, split, order);
}

constexpr Form kRows[] = {
    // clang-format off
    {"select.int", select},
    {"slice.Tensor", slice},
    {"narrow.default", narrow},
    {"unfold.default", unfold},
    {"diagonal.default", diagonal},
    {"unbind.int", unbind},
    {"chunk.default", [](Site& s) { split(s, s.dim(2, 0)); }},
    {"split.Tensor", [](Site& s) { split(s, s.dim(2, 0)); }},
    {"split_with_sizes.default", [](Site& s) { split(s, s.dim(2, 0)); }},
    {"split.sizes", [](Site& s) { split(s, s.dim(2, 0)); }},
    {"tensor_split.sections", [](Site& s) { split(s, s.dim(2, 0)); }},
    {"cat.default", cat},
    {"stack.default", stack},
    {"repeat.default", repeat}, {"tile.default", repeat},
    {"repeat_interleave.self_int", repeat_interleave},
    {"flip.default", flip},
    {"roll.default", roll},
    {"tril.default", [](Site& s) { triangle(s, 0); }},
    {"triu.default", [](Site& s) { triangle(s, 1); }},
    {"slice_scatter.default", slice_scatter},
    {"select_scatter.default", select_scatter},
    {"pixel_shuffle.default", pixel_shuffle},
    {"pixel_unshuffle.default", pixel_unshuffle},
    {"channel_shuffle.default", channel_shuffle},
    // clang-format on
};

}  // namespace

constinit const std::span<const Form> kPartForms = kRows;

}  // namespace ambit::graph::onnx
