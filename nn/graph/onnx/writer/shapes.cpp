// Forms: views, copies and conversions.
#include <algorithm>
#include <numeric>

#include "forms.h"

namespace ambit::graph::onnx {
namespace {

void pass(Site& s) { s.give(s.tensor(0)); }

void reshape(Site& s) { s.give(s.e.reshape(s.tensor(0), s.shape(1))); }

void reshape_as(Site& s) { s.give(s.e.reshape(s.tensor(0), s.sizes_of(1, 0, s.rank(1)))); }

// The sizes of the result: constants, with -1 for one dynamic size; otherwise the sizes of x with a
// part replaced.
void flatten(Site& s) {
  const Ref x = s.tensor(0);
  const int64_t rank = s.rank(0);
  if (rank == 0) return s.give(s.e.reshape(x, {1}));
  const int64_t start = s.dim(1, 0), end = s.dim(2, 0);
  const Dims out = s.result_sizes();
  if (std::count(out.begin(), out.end(), -1) <= 1 && std::count(out.begin(), out.end(), 0) == 0) {
    return s.give(s.e.reshape(x, out));
  }
  s.give(s.e.reshape(x, s.e.replace_sizes(x, rank, start, end + 1, s.e.integers(-1))));
}

void unflatten(Site& s) {
  const Ref x = s.tensor(0);
  const int64_t dim = s.dim(1, 0), rank = s.rank(0);
  s.give(s.e.reshape(x, s.e.replace_sizes(x, rank, dim, dim + 1, s.shape(2))));
}

Dims in_order(int64_t rank) {
  Dims order(static_cast<size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

void swap(Site& s, int64_t a, int64_t b) {
  Dims order = in_order(s.rank(0));
  if (!order.empty()) std::swap(order[static_cast<size_t>(a)], order[static_cast<size_t>(b)]);
  s.give(s.e.transpose(s.tensor(0), order));
}

void transpose(Site& s) {
  if (s.rank(0) == 0) return pass(s);
  swap(s, s.dim(1, 0), s.dim(2, 0));
}

void transpose_matrix(Site& s) {
  if (s.rank(0) < 2) return pass(s);
  swap(s, s.rank(0) - 2, s.rank(0) - 1);
}

void reverse_dims(Site& s) {
  Dims order = in_order(s.rank(0));
  std::reverse(order.begin(), order.end());
  s.give(s.e.transpose(s.tensor(0), order));
}

void permute(Site& s) {
  Dims order = s.integers(1);
  for (int64_t& d : order) d = Site::dim_of(d, s.rank(0));
  s.give(s.e.transpose(s.tensor(0), order));
}

void move_dim(Site& s) {
  const int64_t from = s.dim(1, 0), to = s.dim(2, 0);
  Dims order;
  for (int64_t d = 0; d < s.rank(0); ++d) {
    if (d != from) order.push_back(d);
  }
  order.insert(static_cast<size_t>(to), from);
  s.give(s.e.transpose(s.tensor(0), order));
}

void unsqueeze(Site& s) {
  s.give(s.e.unsqueeze(s.tensor(0), Site::dim_of(s.integer(1), s.rank(0) + 1)));
}

// Dims of sizes other than 1 remain.
void squeeze(Site& s, const Dims& dims) {
  const Dims sizes = s.sizes(0);
  Dims removed;
  for (const int64_t d : dims) {
    if (sizes[static_cast<size_t>(d)] == 1) removed.push_back(d);
  }
  s.give(s.e.squeeze(s.tensor(0), removed));
}

// ONNX's Expand broadcasts both ways: 1 keeps a size.
void expand(Site& s) {
  const Ref x = s.tensor(0);
  if (!s.has_constants(1)) {
    // A -1 among computed sizes, which may come from the caller, becomes 1.
    const Ref shape = s.shape(1);
    const Ref is_kept = s.e.compare("Less", shape, 0);
    return s.give(s.e.op("Expand", {x, s.e.where(is_kept, s.e.integer(1), shape)}));
  }
  Dims shape = s.integers(1);
  std::replace(shape.begin(), shape.end(), int64_t{-1}, int64_t{1});
  const Dims sizes = s.sizes(0);
  if (sizes == s.result_sizes() && std::count(sizes.begin(), sizes.end(), -1) == 0)
    return s.give(x);
  s.give(s.e.op("Expand", {x, s.e.integers(shape)}));
}

void expand_as(Site& s) { s.give(s.e.op("Expand", {s.tensor(0), s.sizes_of(1, 0, s.rank(1))})); }

void broadcast_tensors(Site& s) {
  const std::vector<Ref> list = s.tensors(0);
  // A sum of zeros of each tensor's sizes has the common sizes.
  Ref zeros;
  for (const Ref& x : list) {
    const Ref zero = s.e.op("ConstantOfShape", {s.e.op("Shape", {x}, {}, kInt64)}, {}, kFloat32);
    zeros = zeros.name.empty() ? zero : s.e.add(zeros, zero);
  }
  const Ref shape = s.e.op("Shape", {zeros}, {}, kInt64);
  for (const Ref& x : list) s.give(s.e.op("Expand", {x, shape}));
}

void meshgrid(Site& s) {
  const std::vector<Ref> list = s.tensors(0);
  const bool swaps = s.node().arguments.size() > 1 && s.text(1) == "xy" && list.size() > 1;
  std::vector<Ref> lengths;
  for (const Ref& x : list) lengths.push_back(s.e.op("Shape", {s.e.reshape(x, {-1})}, {}, kInt64));
  const auto at = [&](size_t i) { return swaps && i < 2 ? 1 - i : i; };
  std::vector<Ref> parts;
  for (size_t i = 0; i < list.size(); ++i) parts.push_back(lengths[at(i)]);
  const Ref shape = s.e.concat(parts, 0);
  for (size_t i = 0; i < list.size(); ++i) {
    Dims sizes(list.size(), 1);
    sizes[at(i)] = -1;
    s.give(s.e.op("Expand", {s.e.reshape(list[i], sizes), shape}));
  }
}

// The result has its dtype in the program; memory formats and devices have no form.
void convert(Site& s) { s.give(s.tensor(0)); }

constexpr Form kRows[] = {
    // clang-format off
    {"view.default", reshape}, {"_unsafe_view.default", reshape}, {"reshape.default", reshape},
    {"reshape_as.default", reshape_as}, {"view_as.default", reshape_as},
    {"flatten.using_ints", flatten},
    {"unflatten.int", unflatten},
    {"transpose.int", transpose}, {"swapaxes.default", transpose},
    {"t.default", transpose_matrix}, {"mT.default", transpose_matrix},
    {"numpy_T.default", reverse_dims},
    {"permute.default", permute},
    {"movedim.int", move_dim},
    {"unsqueeze.default", unsqueeze},
    {"squeeze.default", [](Site& s) { squeeze(s, in_order(s.rank(0))); }},
    {"squeeze.dim", [](Site& s) {
       s.rank(0) == 0 ? pass(s) : squeeze(s, Dims{s.dim(1, 0)}); }},
    {"squeeze.dims", [](Site& s) { squeeze(s, s.dims(1, 0)); }},
    {"expand.default", expand}, {"broadcast_to.default", expand},
    {"expand_as.default", expand_as},
    {"broadcast_tensors.default", broadcast_tensors},
    {"meshgrid.default", meshgrid}, {"meshgrid.indexing", meshgrid},
    {"alias.default", pass}, {"detach.default", pass}, {"clone.default", pass},
    {"lift_fresh_copy.default", pass}, {"contiguous.default", pass},
    {"to.dtype", convert}, {"to.dtype_layout", convert}, {"to.device", convert},
    {"to.other", convert}, {"_to_copy.default", convert}, {"type_as.default", convert},
    // clang-format on
};

}  // namespace

constinit const std::span<const Form> kShapeForms = kRows;

}  // namespace ambit::graph::onnx
