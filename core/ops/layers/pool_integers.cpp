// Maximum pooling of integers, for which there is no kernel: the elements of all windows are
// selected into one tensor, and reduced.
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>

#include <algorithm>
#include <vector>

#include "core/ops/operands/allocate.h"
#include "pool.h"

namespace ambit::pooling {
namespace {

// Return the positions of the elements of all windows along one dim, [out, kernel] in rows. A
// position in the padding is replaced by the nearest one of the window in the input: the repeated
// element changes neither the maximum nor its first position.
Tensor places_along(const PoolParams& p, size_t axis, int64_t in, int64_t out) {
  const int64_t kernel = p.kernel[axis], step = p.dilation[axis];
  std::vector<int64_t> places;
  for (int64_t i = 0; i < out; ++i) {
    const int64_t first = i * p.stride[axis] - p.padding[axis];
    const int64_t low = first < 0 ? first + (step - 1 - first) / step * step : first;
    const int64_t high = std::min(low + (in - 1 - low) / step * step, first + (kernel - 1) * step);
    for (int64_t j = 0; j < kernel; ++j) {
      places.push_back(std::clamp(first + j * step, low, high));
    }
  }
  return tensor(places).view({out, kernel});
}

// Return the row-major positions of the elements of all windows: [windows, elements].
Tensor places_of(const Tensor& x, IntArrayRef y, const PoolParams& p) {
  Tensor places = zeros({1, 1}, TensorOptions(kInt64));
  for (size_t axis = 0; axis + 2 < y.size(); ++axis) {
    const int64_t in = x.sizes()[axis + 2], out = y[axis + 2];
    const Tensor along = places_along(p, axis, in, out);
    const int64_t windows = places.size(0), elements = places.size(1), kernel = along.size(1);
    places = (places * in).view({windows, 1, elements, 1}) + along.view({1, out, 1, kernel});
    places = places.reshape({windows * out, elements * kernel});
  }
  return places;
}

}  // namespace

std::pair<Tensor, Tensor> max_of_integers(const char* op, const Tensor& x, IntArrayRef y,
                                          const PoolParams& p) {
  const Tensor out = allocate(op, y, x.dtype(), x.device());
  if (out.numel() == 0 || x.is_meta()) return {out, allocate(op, y, kInt64, x.device())};
  const Tensor places = places_of(x, y, p).to(x.device());
  const Tensor elements = index_select(flatten(x, 2), 2, flatten(places));
  const Dims sizes{x.size(0), x.size(1), places.size(0), places.size(1)};
  const auto [most, best] = max(elements.view(sizes), -1, true);
  return {reshape(most, y), reshape(gather(expand(places, sizes), 3, best), y)};
}

}  // namespace ambit::pooling
