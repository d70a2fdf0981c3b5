// Views of values, derived from their strides.
#include <fmt/format.h>

#include <algorithm>

#include "recorder.h"

namespace ambit::graph::capturing {

int64_t elements_of(const Tensor& t) {
  return static_cast<int64_t>(t.storage()->size_bytes()) / t.element_size();
}

std::string Recorder::reshaped(const std::string& name, DType d, IntArrayRef from, IntArrayRef to) {
  if (from == to) return name;
  return call("reshape.default", {{"self", value(name)}, {"shape", ints(to)}}, d, to);
}

std::string Recorder::permuted(const std::string& name, DType d, const Dims& from,
                               const Dims& order) {
  Dims to(from.size());
  bool is_same = true;
  for (size_t i = 0; i < order.size(); ++i) {
    to[i] = from[static_cast<size_t>(order[i])];
    is_same &= order[i] == static_cast<int64_t>(i);
  }
  if (is_same) return name;
  return call("permute.default", {{"self", value(name)}, {"dims", ints(order)}}, d, to);
}

std::string Recorder::sliced(const std::string& name, DType d, const Dims& from, size_t dim,
                             int64_t start, int64_t length) {
  Dims to = from;
  to[dim] = length;
  return call("slice.Tensor",
              {{"self", value(name)},
               {"dim", integer(static_cast<int64_t>(dim))},
               {"start", integer(start)},
               {"end", integer(start + length)}},
              d, to);
}

Recorder::Layout Recorder::layout_of(const Tensor& t) const {
  Layout out;
  for (size_t i = 0; i < t.sizes().size(); ++i) {
    if (t.sizes()[i] != 1 && t.strides()[i] != 0) out.dims.push_back(i);
  }
  std::stable_sort(out.dims.begin(), out.dims.end(),
                   [&](size_t a, size_t b) { return t.strides()[a] > t.strides()[b]; });
  int64_t left = elements_of(t), offset = t.storage_offset();
  const auto add = [&](int64_t stride, int64_t length) {
    const int64_t factor = left / stride, start = offset / stride;
    if (left % stride != 0 || start + length > factor) {
      refuse("views that are slices, permutations and reshapes of whole tensors");
    }
    out.factors.push_back(factor);
    out.starts.push_back(start);
    out.lengths.push_back(length);
    left = stride;
    offset %= stride;
  };
  for (const size_t i : out.dims) add(t.strides()[i], t.sizes()[i]);
  if (left != 1) add(1, 1);
  return out;
}

std::string Recorder::view_of(Content& c, const Tensor& t) {
  const std::string key =
      fmt::format("{} {} {}", str(t.sizes()), str(t.strides()), t.storage_offset());
  const auto known = c.views.find(key);
  if (known != c.views.end()) return known->second;
  if (t.is_contiguous() && t.sizes() == IntArrayRef(c.sizes) && t.storage_offset() == 0)
    return c.name;
  const Layout layout = layout_of(t);
  std::string name = reshaped(c.name, c.dtype, c.sizes, layout.factors);
  Dims sizes = layout.factors;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (layout.lengths[i] == sizes[i]) continue;
    name = sliced(name, c.dtype, sizes, i, layout.starts[i], layout.lengths[i]);
    sizes[i] = layout.lengths[i];
  }
  Dims packed, order;  // without the last factor, if it selects
  for (const size_t i : layout.dims) packed.push_back(t.sizes()[i]);
  name = reshaped(name, c.dtype, sizes, packed);
  Dims ordered, unexpanded;
  for (size_t d = 0; d < t.sizes().size(); ++d) {
    const auto at = std::find(layout.dims.begin(), layout.dims.end(), d);
    unexpanded.push_back(at == layout.dims.end() ? 1 : t.sizes()[d]);
    if (at == layout.dims.end()) continue;
    order.push_back(at - layout.dims.begin());
    ordered.push_back(t.sizes()[d]);
  }
  name = permuted(name, c.dtype, packed, order);
  name = reshaped(name, c.dtype, ordered, unexpanded);
  if (IntArrayRef(unexpanded) != t.sizes()) {
    name = call("expand.default", {{"self", value(name)}, {"size", ints(t.sizes())}}, c.dtype,
                t.sizes());
  }
  return c.views[key] = name;
}

}  // namespace ambit::graph::capturing
