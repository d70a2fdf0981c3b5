// x[...] as in Python. Integers, slices, None and ellipsis make a view, from which index tensors
// then select: their dims are merged into one and a single index_select or scatter runs on it,
// whose gradients are used.
#include <ambit/detail/autocast.h>
#include <ambit/ops/index.h>

#include <ambit/detail/memory_errors.h>
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/shape.h>

#include "core/ops/operands/broadcast.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/scalar_operand.h"
#include "index_list.h"

namespace ambit {
namespace {

// The view with the tensor-indexed dims adjacent, and the position of these dims.
struct Picked {
  Tensor view;
  int64_t first = 0, count = 0;  // first indexed dim, and their number
  Tensor positions;              // linear positions in the indexed dims
};

Picked prepare(const char* op, const ParsedIndex& parsed, Device device) {
  Picked p{parsed.view, -1, 0, {}};
  std::vector<AxisIndex> indexed;
  std::vector<int64_t> order, rest;
  bool adjacent = true;
  for (size_t d = 0; d < parsed.axes.size(); ++d) {
    const auto dim = static_cast<int64_t>(d);
    if (!parsed.axes[d].index.defined()) {
      rest.push_back(dim);
      continue;
    }
    if (p.first < 0) p.first = dim;
    adjacent = adjacent && dim == p.first + p.count;
    ++p.count;
    order.push_back(dim);
    indexed.push_back(parsed.axes[d]);
  }
  if (!adjacent) {  // the indexed dims come first then, as in numpy
    order.insert(order.end(), rest.begin(), rest.end());
    p.view = permute(p.view, order);
    p.first = 0;
  }
  p.positions = linear_index(op, indexed, device);
  return p;
}

// Return the view's sizes with the indexed dims replaced by `middle`.
Dims sizes_with(const Picked& p, IntArrayRef middle) {
  Dims sizes;
  for (int64_t d = 0; d < p.first; ++d) sizes.push_back(p.view.size(d));
  for (const int64_t s : middle) sizes.push_back(s);
  for (int64_t d = p.first + p.count; d < p.view.dim(); ++d) sizes.push_back(p.view.size(d));
  return sizes;
}

Tensor merge_indexed(const Picked& p) {
  return p.count == 1 ? p.view : flatten(p.view, p.first, p.first + p.count - 1);
}

// Write value to the indexed elements of p.view. Merging the indexed dims must not copy p.view.
void put(const Picked& p, const Tensor& value, bool accumulate) {
  const int64_t n = p.positions.numel();
  const Dims each = sizes_with(p, {n});
  const Tensor src = reshape(expand(value, sizes_with(p, p.positions.sizes())), each);
  const Tensor flat = merge_indexed(p);
  if (accumulate && each.size() > 1) {
    index_add_(flat, p.first, reshape(p.positions, {n}), src);
    return;
  }
  Dims along(each.size(), 1);
  along[static_cast<size_t>(p.first)] = n;
  const Tensor index = expand(reshape(p.positions, along), each);
  accumulate ? flat.scatter_add_(p.first, index, src) : flat.scatter_(p.first, index, src);
}

// True if the indexed dims can be merged without a copy.
bool merges(const Picked& p) {
  for (int64_t d = p.first; d + 1 < p.first + p.count; ++d) {
    if (p.view.stride(d) != p.view.stride(d + 1) * p.view.size(d + 1)) return false;
  }
  return true;
}

}  // namespace

namespace {

Tensor picked(const Tensor& self, IndexList indices) try {
  const ParsedIndex parsed = parse_index("index", self, indices);
  if (parsed.is_view()) {
    return parsed.view.is_same(self) ? as_strided(self, self.sizes(), self.strides()) : parsed.view;
  }
  const Picked p = prepare("index", parsed, self.device());
  const Tensor rows = index_select(merge_indexed(p), p.first, reshape(p.positions, {-1}));
  return reshape(rows, sizes_with(p, p.positions.sizes()));
} catch (const std::bad_alloc&) {
  throw_out_of_host_memory("index");
}

// Prepare the value of an assignment: drop leading dims of size 1 beyond `dims`, and move a 0-dim
// tensor to self's device and dtype.
Tensor assigned(const Tensor& value, const Tensor& self, int64_t dims) {
  int64_t extra = 0;
  while (value.dim() - extra > dims && value.size(extra) == 1) ++extra;
  if (value.dim() == 0) return value.to(self.device(), self.dtype());
  if (extra == 0) return value;
  return reshape(value, IntArrayRef(value.sizes().data() + extra,
                                    value.sizes().size() - static_cast<size_t>(extra)));
}

void assign(const char* op, const Tensor& self, IndexList indices, const Tensor& given,
            bool accumulate) try {
  const ParsedIndex parsed = parse_index(op, self, indices, &given);
  if (parsed.is_view()) {
    const Tensor value = assigned(given, self, parsed.view.dim());
    check_broadcasts_to(op, value.sizes(), parsed.view.sizes());
    check_in_place(op, self);
    accumulate ? parsed.view.add_(value) : parsed.view.copy_(value);
    return;
  }
  Picked p = prepare(op, parsed, self.device());
  const Dims sizes = sizes_with(p, p.positions.sizes());
  const Tensor value = assigned(given, self, static_cast<int64_t>(sizes.size()));
  expect_dtype(op, "value", value, self.dtype());
  check_broadcasts_to(op, value.sizes(), sizes);
  check_in_place(op, self);
  if (p.positions.storage() == self.storage()) p.positions = clone(p.positions);
  if (merges(p)) return put(p, value, accumulate);
  const Tensor view = p.view;
  p.view = clone(view);
  put(p, value, accumulate);
  view.copy_(p.view);
} catch (const std::bad_alloc&) {
  throw_out_of_host_memory(op);
}

void assign(const char* op, const Tensor& self, IndexList indices, const Scalar& value) {
  check_index_devices(op, self, indices);  // before a kernel converts value to a tensor
  check_fits(op, value, self.dtype());
  assign(op, self, indices, scalar_on(value, self.dtype(), self.device()), false);
}

using indexing::TensorIndex;

IndexList list_of(std::initializer_list<TensorIndex> indices) {
  return {indices.begin(), indices.size()};
}

// nullopt or an undefined tensor means the whole dim.
std::vector<TensorIndex> list_of(const std::vector<std::optional<Tensor>>& indices) {
  std::vector<TensorIndex> list;
  for (const std::optional<Tensor>& i : indices) {
    list.push_back(i && i->defined() ? TensorIndex(*i) : TensorIndex(indexing::Slice()));
  }
  return list;
}

}  // namespace

Tensor index(const Tensor& self, std::initializer_list<TensorIndex> indices) {
  return picked(self, list_of(indices));
}
Tensor index(const Tensor& self, const std::vector<TensorIndex>& indices) {
  return picked(self, indices);
}
Tensor index(const Tensor& self, const std::vector<std::optional<Tensor>>& indices) {
  return picked(self, list_of(indices));
}

const Tensor& index_put_(const Tensor& self, std::initializer_list<TensorIndex> indices,
                         const Tensor& value, bool accumulate) {
  assign("index_put_", self, list_of(indices), value, accumulate);
  return self;
}
const Tensor& index_put_(const Tensor& self, std::initializer_list<TensorIndex> indices,
                         const Scalar& value) {
  assign("index_put_", self, list_of(indices), value);
  return self;
}
const Tensor& index_put_(const Tensor& self, const std::vector<TensorIndex>& indices,
                         const Tensor& value, bool accumulate) {
  assign("index_put_", self, indices, value, accumulate);
  return self;
}
const Tensor& index_put_(const Tensor& self, const std::vector<TensorIndex>& indices,
                         const Scalar& value) {
  assign("index_put_", self, indices, value);
  return self;
}
const Tensor& index_put_(const Tensor& self, const std::vector<std::optional<Tensor>>& indices,
                         const Tensor& value, bool accumulate) {
  assign("index_put_", self, list_of(indices), value, accumulate);
  return self;
}

Tensor index_put(const Tensor& self, const std::vector<std::optional<Tensor>>& indices,
                 const Tensor& value, bool accumulate) {
  const auto again = [&](const Tensor& x, const Tensor& v) {
    return index_put(x, indices, v, accumulate);
  };
  AMBIT_AUTOCAST_AS("index_put", again, self, value)
  const std::vector<TensorIndex> list = list_of(indices);
  check_index_devices("index_put", self, list, &value);
  const Tensor out = clone(self);
  assign("index_put", out, list, value, accumulate);
  return out;
}

}  // namespace ambit
