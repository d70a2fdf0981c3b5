// Two implementations: a host loop if the host can read the indices, else ops on the device.
#include "linear_index.h"

#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/shape.h>

#include <algorithm>

#include "core/ops/operands/broadcast.h"
#include "core/ops/operands/host_values.h"
#include "core/ops/operands/unrecorded.h"
#include "index_values.h"

namespace ambit {
namespace {

// Return true if an axis has negative indices. Errors: IndexError.
bool check(const char* op, const AxisIndex& axis, const int64_t* values, int64_t n) {
  int64_t least = 0, most = 0;  // the loop has no early exit, so that it is vectorised
  for (int64_t i = 0; i < n; ++i) {
    const int64_t v = values[i];
    if (v < least) least = v;
    if (v > most) most = v;
  }
  if (least >= -axis.size && most < axis.size) return least < 0;
  const int64_t* wrong =
      std::find_if(values, values + n, [&](int64_t v) { return v < -axis.size || v >= axis.size; });
  if (wrong != values + n) throw_index(op, -axis.size, axis.size, axis.dim, *wrong);
  return false;
}

// One host loop for each axis.
Tensor on_host(const char* op, const std::vector<AxisIndex>& axes, IntArrayRef sizes) {
  Tensor positions;
  for (const AxisIndex& axis : axes) {
    const Tensor index = dense(expanded(axis.index, sizes));
    const auto* values = index.data_ptr<const int64_t>();
    const int64_t n = index.numel();
    const bool has_negative = check(op, axis, values, n);
    if (axes.size() == 1 && !has_negative) return index;
    const bool first = !positions.defined();
    if (first) positions = empty(sizes, TensorOptions(kInt64).device(kCPU));
    auto* p = positions.data_ptr<int64_t>();
    for (int64_t i = 0; i < n; ++i) {
      const int64_t v = values[i] + (values[i] < 0 ? axis.size : 0);
      p[i] = first ? v : p[i] * axis.size + v;
    }
  }
  return positions;
}

// As on_host(), computed by ops without waiting for the device.
Tensor on_device(const std::vector<AxisIndex>& axes, IntArrayRef sizes, Device device) {
  Tensor positions, wrong;
  for (const AxisIndex& axis : axes) {
    const Tensor v = expand(to(axis.index, device, kInt64), sizes);
    const Tensor wrapped = where(v < 0, v + axis.size, v);
    if (axes.size() == 1) return wrapped;  // values out of range remain out of range
    const Tensor out_of_range = (wrapped < 0) | (wrapped >= axis.size);
    positions = positions.defined() ? positions * axis.size + wrapped : wrapped;
    wrong = wrong.defined() ? wrong | out_of_range : out_of_range;
  }
  return masked_fill(positions, wrong, -1);
}

}  // namespace

Tensor linear_index(const char* op, const std::vector<AxisIndex>& axes, Device device) {
  const NoGradGuard no_grad;
  Dims sizes;
  for (const AxisIndex& axis : axes) sizes = broadcast(op, sizes, axis.index.sizes());
  const auto all = [&](bool (*holds)(Device)) {
    return std::all_of(axes.begin(), axes.end(),
                       [&](const AxisIndex& a) { return holds(a.index.device()); });
  };
  if (all([](Device d) { return d.is_cpu(); })) return to(on_host(op, axes, sizes), device, kInt64);
  if (!all(is_host_readable)) return on_device(axes, sizes, device);
  std::vector<AxisIndex> there = axes;
  for (AxisIndex& axis : there) axis.index = host_values(axis.index);
  return to(on_host(op, there, sizes), device, kInt64);
}

}  // namespace ambit
