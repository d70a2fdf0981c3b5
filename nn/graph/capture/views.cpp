// Views of values, derived from their strides.
#include <ambit/ops/creation.h>
#include <fmt/format.h>

#include <algorithm>

#include "recorder.h"

namespace ambit::graph::capturing {
namespace {

Dims sizes_of(const Tensor& t, const std::vector<size_t>& dims) {
  Dims out;
  for (const size_t i : dims) out.push_back(t.sizes()[i]);
  return out;
}

}  // namespace

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

std::optional<Recorder::Layout> Recorder::find_layout(const Tensor& t) const {
  Layout out;
  for (size_t i = 0; i < t.sizes().size(); ++i) {
    if (t.sizes()[i] != 1 && t.strides()[i] != 0) out.dims.push_back(i);
  }
  std::stable_sort(out.dims.begin(), out.dims.end(),
                   [&](size_t a, size_t b) { return t.strides()[a] > t.strides()[b]; });
  int64_t left = elements_of(t), offset = t.storage_offset();
  const auto add = [&](int64_t stride, int64_t length) {
    const int64_t factor = left / stride, start = offset / stride;
    if (left % stride != 0 || start + length > factor) return false;
    out.factors.push_back(factor);
    out.starts.push_back(start);
    out.lengths.push_back(length);
    left = stride;
    offset %= stride;
    return true;
  };
  for (const size_t i : out.dims) {
    if (!add(t.strides()[i], t.sizes()[i])) return {};
  }
  if (left != 1 && !add(1, 1)) return {};
  return out;
}

Recorder::Layout Recorder::layout_of(const Tensor& t) const {
  const std::optional<Layout> found = find_layout(t);
  if (!found) refuse("views that are slices, permutations and reshapes of whole tensors");
  return *found;
}

// If a dim of the view covers several dims of the value, merge these dims in `sizes`.
std::vector<Recorder::Axis> Recorder::axes_of(Dims& sizes, const Tensor& t) const {
  std::vector<Axis> axes(sizes.size());
  int64_t next = 1, offset = t.storage_offset();
  for (size_t d = axes.size(); d-- > 0;) {
    axes[d].size = sizes[d];
    axes[d].stride = next;
    next *= sizes[d];
  }
  for (Axis& axis : axes) {
    axis.start = offset / axis.stride;
    offset %= axis.stride;
  }
  const auto ends_at = [&](size_t d, int64_t length) {
    const auto is_end = [=](const Axis& a) { return a.stride * a.size == length; };
    return d < axes.size() &&
           std::any_of(axes.begin(), axes.begin() + static_cast<int64_t>(d), is_end);
  };
  std::vector<int64_t> last;
  for (const Axis& axis : axes) last.push_back(axis.start);
  for (size_t i = 0; i < t.sizes().size(); ++i) {
    const int64_t size = t.sizes()[i], stride = t.strides()[i];
    if (size == 1 || stride == 0) continue;
    size_t d = 0;
    while (d < axes.size() && (axes[d].size == 1 || stride % axes[d].stride != 0)) ++d;
    if (d < axes.size()) last[d] += (size - 1) * (stride / axes[d].stride);
    if (d < axes.size() && last[d] < axes[d].size) {
      axes[d].dims.push_back(i);
    } else if (ends_at(d, size * stride)) {
      sizes[d - 1] *= sizes[d];
      sizes.erase(d);
      return axes_of(sizes, t);
    } else {
      refuse("views along the dims of tensors, no diagonals");
    }
  }
  return axes;
}

// The windows of im2col, if the view is one: two dims for each of the last two of the content.
std::string Recorder::windows_of(const Content& c, const Tensor& t, const std::vector<Axis>& axes,
                                 std::vector<size_t>& packed) {
  if (axes.size() < 2 || !is_floating_point(c.dtype)) return {};
  Dims kernel, dilation, stride;
  const size_t first = axes.size() - 2;
  int64_t images = 1;
  for (size_t d = 0; d < first; ++d) {
    const Axis& axis = axes[d];
    const bool is_whole = axis.dims.size() == 1 && t.sizes()[axis.dims[0]] == axis.size &&
                          t.strides()[axis.dims[0]] == axis.stride;
    if (!is_whole && axis.size != 1) return {};
    images *= axis.size;
    if (is_whole) packed.push_back(axis.dims[0]);
  }
  for (size_t d = first; d < axes.size(); ++d) {
    const Axis& axis = axes[d];
    if (axis.dims.size() != 2 || axis.start != 0) return {};
    const size_t inside = axis.dims[0], across = axis.dims[1];
    kernel.push_back(t.sizes()[inside]);
    dilation.push_back(t.strides()[inside] / axis.stride);
    stride.push_back(t.strides()[across] / axis.stride);
    const int64_t room = axis.size - dilation.back() * (kernel.back() - 1) - 1;
    if (t.sizes()[across] != room / stride.back() + 1) return {};
  }
  for (const size_t which : {0, 1}) {
    for (size_t d = first; d < axes.size(); ++d) packed.push_back(axes[d].dims[which]);
  }
  const int64_t height = axes[first].size, width = axes[first + 1].size;
  const auto windows = [&](size_t which) {
    return t.sizes()[axes[first].dims[which]] * t.sizes()[axes[first + 1].dims[which]];
  };
  const std::string from = reshaped(c.name, c.dtype, c.sizes, {images, 1, height, width});
  const Dims columns{images, windows(0), windows(1)};
  const std::string name = call("im2col.default",
                                {{"self", value(from)},
                                 {"kernel_size", ints(kernel)},
                                 {"dilation", ints(dilation)},
                                 {"padding", ints({0, 0})},
                                 {"stride", ints(stride)}},
                                c.dtype, columns);
  return reshaped(name, c.dtype, columns, sizes_of(t, packed));
}

std::string Recorder::selected(const Content& whole, const Tensor& t, std::vector<size_t>& packed) {
  Content c = whole;
  const std::vector<Axis> axes = axes_of(c.sizes, t);
  c.name = reshaped(whole.name, whole.dtype, whole.sizes, c.sizes);
  std::string name = windows_of(c, t, axes, packed);
  if (!name.empty()) return name;
  packed.clear();
  name = c.name;
  Dims sizes = c.sizes;
  for (size_t d = 0; d < axes.size(); ++d) {
    const Axis& axis = axes[d];
    std::vector<int64_t> at{axis.start};
    for (const size_t i : axis.dims) {
      packed.push_back(i);
      std::vector<int64_t> further;
      for (const int64_t begin : at) {
        for (int64_t k = 0; k < t.sizes()[i]; ++k) {
          further.push_back(begin + k * (t.strides()[i] / axis.stride));
        }
      }
      at = std::move(further);
    }
    const auto length = static_cast<int64_t>(at.size());
    const auto is_gap = [](int64_t a, int64_t b) { return b != a + 1; };
    const bool is_slice = std::adjacent_find(at.begin(), at.end(), is_gap) == at.end();
    if (is_slice && length != sizes[d]) {
      name = sliced(name, c.dtype, sizes, d, axis.start, length);
    } else if (!is_slice) {
      Dims result = sizes;
      result[d] = length;
      name = call("index_select.default",
                  {{"self", value(name)},
                   {"dim", integer(static_cast<int64_t>(d))},
                   {"index", value(add_constant(ambit::tensor(at)))}},
                  c.dtype, result);
    }
    sizes[d] = length;
  }
  return reshaped(name, c.dtype, sizes, sizes_of(t, packed));
}

// Reshape a value that has the dims `packed` of the view to all dims of the view.
std::string Recorder::arranged(std::string name, const Content& c, const Tensor& t,
                               const std::vector<size_t>& packed) {
  Dims order, ordered, unexpanded;
  for (size_t d = 0; d < t.sizes().size(); ++d) {
    const auto at = std::find(packed.begin(), packed.end(), d);
    unexpanded.push_back(at == packed.end() ? 1 : t.sizes()[d]);
    if (at == packed.end()) continue;
    order.push_back(at - packed.begin());
    ordered.push_back(t.sizes()[d]);
  }
  name = permuted(name, c.dtype, sizes_of(t, packed), order);
  name = reshaped(name, c.dtype, ordered, unexpanded);
  if (IntArrayRef(unexpanded) != t.sizes()) {
    name = call("expand.default", {{"self", value(name)}, {"size", ints(t.sizes())}}, c.dtype,
                t.sizes());
  }
  return name;
}

std::string Recorder::view_of(Content& c, const Tensor& t) {
  const std::string key =
      fmt::format("{} {} {}", str(t.sizes()), str(t.strides()), t.storage_offset());
  const auto known = c.views.find(key);
  if (known != c.views.end()) return known->second;
  if (t.is_contiguous() && t.sizes() == IntArrayRef(c.sizes) && t.storage_offset() == 0)
    return c.name;
  const std::optional<Layout> layout = find_layout(t);
  if (!layout) {
    std::vector<size_t> packed;
    const std::string name = selected(c, t, packed);
    return c.views[key] = arranged(name, c, t, packed);
  }
  std::string name = reshaped(c.name, c.dtype, c.sizes, layout->factors);
  Dims sizes = layout->factors;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (layout->lengths[i] == sizes[i]) continue;
    name = sliced(name, c.dtype, sizes, i, layout->starts[i], layout->lengths[i]);
    sizes[i] = layout->lengths[i];
  }
  // Remove the last factor if the view selects one of its elements.
  name = reshaped(name, c.dtype, sizes, sizes_of(t, layout->dims));
  return c.views[key] = arranged(std::move(name), c, t, layout->dims);
}

}  // namespace ambit::graph::capturing
