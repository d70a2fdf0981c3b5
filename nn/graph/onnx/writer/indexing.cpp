// Forms: indexing, sorting and embeddings.
#include <algorithm>
#include <limits>
#include <optional>

#include "forms.h"

namespace ambit::graph::onnx {
namespace {

// ONNX accepts indices of int32 and int64.
Ref index_of(Site& s, const Ref& r) { return r.dtype == kInt32 ? r : s.e.cast(r, kInt64); }
Ref index_at(Site& s, size_t i) { return index_of(s, s.tensor(i)); }

void gather_slices(Site& s, size_t x, size_t index, int64_t dim) {
  s.give(s.e.op("Gather", {s.tensor(x), index_at(s, index)}, {attribute("axis", dim)}));
}

// These functions use a tensor without dims as a tensor of one dim.
Ref with_dim(Site& s, const Ref& x, size_t i) { return s.rank(i) == 0 ? s.e.reshape(x, {1}) : x; }

void gather_elements(Site& s) {
  const int64_t dim = s.rank(0) == 0 ? 0 : s.dim(1, 0);
  const Ref y =
      s.e.op("GatherElements", {with_dim(s, s.tensor(0), 0), with_dim(s, index_at(s, 2), 2)},
             {attribute("axis", dim)});
  s.give(s.rank(2) == 0 ? s.e.squeeze(y, 0) : y);
}

// ONNX requires that the updates have the sizes of the index.
void scatter(Site& s, Ref src, bool adds) {
  const Ref index = index_at(s, 2);
  if (s.rank(2) != s.rank(0) || s.rank(0) == 0) Site::refuse("an index without dims");
  if (s.is_number(3)) {
    src = s.e.op("Expand", {src, s.e.sizes(index, 0, s.rank(2))});
  } else if (s.sizes(3) != s.sizes(2)) {
    const Dims sizes = s.fixed_sizes(2);
    for (int64_t d = 0; d < s.rank(2); ++d) {
      src = s.e.slice(src, d, 0, sizes[static_cast<size_t>(d)]);
    }
  }
  Attributes attributes{attribute("axis", s.dim(1, 0))};
  if (adds) attributes.push_back(attribute("reduction", "add"));
  s.give(s.e.op("ScatterElements", {s.tensor(0), index, src}, attributes));
}

// The indices of index() for `count` adjacent dims from `first` on, as one tensor of positions.
struct Indices {
  int64_t first = 0, count = 0;
  Ref positions{};  // one dim: its index; several: their indices along a new last dim
  bool is_mask = false;
};

Indices indices_of(Site& s) {
  Indices out;
  std::vector<Ref> refs;
  const auto& items = s.argument(1).items;
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].kind == Argument::Kind::none) continue;
    if (refs.empty()) out.first = static_cast<int64_t>(i);
    if (out.first + std::ssize(refs) != static_cast<int64_t>(i)) {
      Site::refuse("indices of dims that are not adjacent");
    }
    refs.push_back(s.item(1, i));
    out.is_mask |= refs.back().dtype == kBool || refs.back().dtype == kUInt8;
  }
  if (refs.empty()) Site::refuse("no index");
  out.count = std::ssize(refs);
  if (out.is_mask) {
    if (out.count != 1 || out.first != 0) Site::refuse("a mask among other indices");
    out.count = std::ssize(s.types(1)[0]->sizes);
    const Ref mask = s.e.cast(refs[0], kBool);
    out.positions = s.e.transpose(s.e.op("NonZero", {mask}, {}, kInt64), {1, 0});
    return out;
  }
  Ref zeros;
  for (Ref& r : refs) {
    r = s.e.cast(r, kInt64);
    const Ref zero = s.e.mul(r, s.e.integer(0));
    zeros = zeros.name.empty() ? zero : s.e.add(zeros, zero);
  }
  if (refs.size() == 1) {
    out.positions = refs[0];
    return out;
  }
  for (Ref& r : refs) r = s.e.unsqueeze(s.e.add(r, zeros), -1);
  out.positions = s.e.concat(refs, -1);
  return out;
}

// The order of dims of x with the indexed ones first.
Dims indexed_first(const Indices& at, int64_t rank) {
  Dims order;
  for (int64_t d = at.first; d < at.first + at.count; ++d) order.push_back(d);
  for (int64_t d = 0; d < rank; ++d) {
    if (d < at.first || d >= at.first + at.count) order.push_back(d);
  }
  return order;
}

Dims inverse(const Dims& order) {
  Dims out(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    out[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  }
  return out;
}

// Return the order that moves the dims of the index, which come first, to the position of the
// indexed dims.
Dims index_in_place(const Indices& at, int64_t index_rank, int64_t rank) {
  Dims order;
  for (int64_t d = 0; d < at.first; ++d) order.push_back(index_rank + d);
  for (int64_t d = 0; d < index_rank; ++d) order.push_back(d);
  for (int64_t d = at.first; d < rank - at.count; ++d) order.push_back(index_rank + d);
  return order;
}

Ref tuples_of(Site& s, const Indices& at) {
  return at.count == 1 && !at.is_mask ? s.e.unsqueeze(at.positions, -1) : at.positions;
}

// The elements that the indices select, with the dims of the index first.
Ref selected(Site& s, const Indices& at, const Ref& ordered) {
  return s.e.op("GatherND", {ordered, tuples_of(s, at)});
}

int64_t index_rank(Site& s, const Indices& at) {
  if (at.is_mask) return 1;
  int64_t rank = 0;
  for (const Argument& a : s.argument(1).items) {
    if (a.kind != Argument::Kind::none) rank = std::max(rank, s.rank_of(a));
  }
  return rank;
}

void index(Site& s) {
  const Indices at = indices_of(s);
  const Ref x = s.tensor(0);
  if (at.count == 1 && !at.is_mask) {
    return s.give(s.e.op("Gather", {x, at.positions}, {attribute("axis", at.first)}));
  }
  const Ref y = selected(s, at, s.e.transpose(x, indexed_first(at, s.rank(0))));
  s.give(s.e.transpose(y, index_in_place(at, index_rank(s, at), s.rank(0))));
}

void index_put(Site& s) {
  Emitter& e = s.e;
  const Indices at = indices_of(s);
  const Dims order = indexed_first(at, s.rank(0));
  const Ref x = e.transpose(s.tensor(0), order);
  const Ref places = selected(s, at, x);  // only its sizes are used
  const Dims back = index_in_place(at, index_rank(s, at), s.rank(0));
  const Ref shape = e.op("Shape", {e.transpose(places, back)}, {}, kInt64);
  const Ref values = e.op("Expand", {s.tensor(2, x.dtype), shape});
  const Ref tuples = tuples_of(s, at);
  Attributes attributes;
  if (s.flag(3)) attributes.push_back(attribute("reduction", "add"));
  const Ref y = e.op("ScatterND", {x, tuples, e.transpose(values, inverse(back))}, attributes);
  s.give(e.transpose(y, inverse(order)));
}

void masked_select(Site& s) {
  Emitter& e = s.e;
  const Ref x = s.tensor(0), mask = s.tensor(1, kBool);
  const auto like = [&](const Ref& t, const Ref& other) {
    return e.op("Expand", {t, e.op("Shape", {other}, {}, kInt64)});
  };
  const Ref whole = like(x, mask), positions = e.op("NonZero", {like(mask, x)}, {}, kInt64);
  s.give(e.op("GatherND", {whole, e.transpose(positions, {1, 0})}));
}

void one_hot(Site& s) {
  const int64_t classes = s.result_sizes().back();
  if (classes < 0) Site::refuse("a number of classes that depends on values");
  const Ref values = s.e.integers({0, 1});
  s.give(s.e.op("OneHot", {s.tensor(0), s.e.integer(classes), values}, {}, kInt64));
}

// TopK of all elements sorts them; equal elements keep their order.
void give_largest(Site& s, const Ref& count, int64_t dim, bool largest, bool wants_values) {
  const Ref x = with_dim(s, s.tensor(0), 0);
  const std::vector<Ref> y =
      s.e.ops("TopK", {x, count}, {attribute("axis", dim), attribute("largest", int{largest})},
              {x.dtype, kInt64});
  for (size_t k = wants_values ? 0 : 1; k < 2; ++k) {
    s.give(s.rank(0) == 0 ? s.e.squeeze(y[k], 0) : y[k]);
  }
}

void top(Site& s) {
  const int64_t dim = s.rank(0) == 0 ? 0 : s.dim(2, 0);
  give_largest(s, s.one_integer(1), dim, s.flag(3), true);
}

void sort(Site& s, size_t dim_at, bool wants_values) {
  const int64_t dim = s.rank(0) == 0 ? 0 : s.dim(dim_at, 0);
  const Ref x = with_dim(s, s.tensor(0), 0);
  give_largest(s, s.e.sizes(x, dim, dim + 1), dim, s.flag(dim_at + 1), wants_values);
}

// The result is [number of elements that are not 0, dims].
void nonzero(Site& s) {
  s.give(s.e.transpose(s.e.op("NonZero", {s.tensor(0)}, {}, kInt64), {1, 0}));
}

// Return a bool matrix [bags, indices] that is true where an index belongs to a bag.
Ref rows_of_bags(Site& s, const Ref& index, std::optional<int64_t> padding) {
  Emitter& e = s.e;
  constexpr int64_t kToEnd = std::numeric_limits<int64_t>::max();
  const Ref offsets = s.tensor(2, kInt64), count = e.sizes(index, 0, 1);
  const Ref at = e.op("Range", {e.integer(0), e.reshape(count, Dims()), e.integer(1)});
  const bool has_last = s.flag(7);
  const Ref starts = has_last ? e.slice(offsets, 0, 0, -1) : offsets;
  const Ref later = e.slice(offsets, 0, 1, kToEnd);
  const Ref ends = has_last ? later : e.concat({later, count}, 0);
  const auto both = [&](const Ref& a, const Ref& b) { return e.op("And", {a, b}, {}, kBool); };
  const Ref inside = both(e.compare("GreaterOrEqual", at, e.unsqueeze(starts, 1)),
                          e.compare("Less", at, e.unsqueeze(ends, 1)));
  if (!padding) return inside;
  const Ref is_padding = e.compare("Equal", index, e.number(*padding, index.dtype));
  return both(inside, e.op("Not", {is_padding}, {}, kBool));
}

void embedding_bag(Site& s, std::optional<int64_t> padding) {
  Emitter& e = s.e;
  if (s.rank(1) != 1) Site::refuse("indices of other than one dim");
  const DType d = s.result_dtype();
  const Ref index = index_at(s, 1), inside = rows_of_bags(s, index, padding);
  Ref rows = e.op("Gather", {s.tensor(0), index}, {attribute("axis", 0)});
  if (s.has(6)) rows = e.mul(rows, e.unsqueeze(s.tensor(6), 1));
  const Ref ones = e.cast(inside, d), counts = e.reduce("ReduceSum", ones, Dims{1}, true);
  constexpr int64_t kSum = 0, kMean = 1;
  const int64_t mode = s.integer(4);
  if (mode == kSum || mode == kMean) {
    const Ref sums = e.op("MatMul", {ones, rows});
    return s.give(mode == kSum ? sums : e.div(sums, e.op("Max", {counts, e.number(1, d)})));
  }
  const Ref none = e.number(-std::numeric_limits<double>::infinity(), d);
  const Ref each = e.where(e.unsqueeze(inside, 2), e.unsqueeze(rows, 0), none);
  const Ref most = e.reduce("ReduceMax", each, Dims{1}, false);
  s.give(e.where(e.compare("Greater", counts, 0), most, e.number(0, d)));
}

// The row of the table that belongs to no bag (padding_idx); a negative number counts from the end.
std::optional<int64_t> padding_of(Site& s) {
  if (!s.has(8)) return {};
  const int64_t row = s.integer(8);
  return row < 0 ? row + s.fixed_sizes(0)[0] : row;
}

std::optional<int64_t> padding_from_0(Site& s) {
  const int64_t row = s.integer(8);
  return row < 0 ? std::nullopt : std::optional(row);
}

constexpr Form kRows[] = {
    // clang-format off
    {"index.Tensor", index},
    {"index_put.default", index_put},
    {"index_select.default", [](Site& s) {
       if (s.rank(0) == 0 || s.rank(2) == 0) Site::refuse("a tensor without dims");
       gather_slices(s, 0, 2, s.dim(1, 0)); }},
    {"gather.default", gather_elements},
    {"scatter.src", [](Site& s) { scatter(s, s.tensor(3), false); }},
    {"scatter.value", [](Site& s) { scatter(s, s.tensor(3, s.dtype_of(0)), false); }},
    {"scatter_add.default", [](Site& s) { scatter(s, s.tensor(3), true); }},
    {"masked_select.default", masked_select},
    {"nonzero.default", nonzero},
    {"one_hot.default", one_hot},
    {"topk.default", top},
    {"sort.default", [](Site& s) { sort(s, 1, true); }},
    {"sort.stable", [](Site& s) { sort(s, 2, true); }},
    {"argsort.default", [](Site& s) { sort(s, 1, false); }},
    {"embedding.default", [](Site& s) { gather_slices(s, 0, 1, 0); }},
    {"embedding_bag.padding_idx", [](Site& s) { embedding_bag(s, padding_of(s)); }},
    {"_embedding_bag.default", [](Site& s) { embedding_bag(s, padding_from_0(s)); }},
    {"_embedding_bag_forward_only.default", [](Site& s) {
       embedding_bag(s, padding_from_0(s)); }},
    // clang-format on
};

}  // namespace

constinit const std::span<const Form> kIndexForms = kRows;

}  // namespace ambit::graph::onnx
