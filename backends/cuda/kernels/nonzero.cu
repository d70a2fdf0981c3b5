// Coordinates of true elements: CUB selects their positions, in order.
#include <thrust/iterator/counting_iterator.h>

#include <cub/device/device_select.cuh>

#include "backends/cuda/kernels.h"
#include "backends/cuda/runtime/launch.h"
#include "backends/cuda/runtime/workspace.h"

namespace ambit::cuda {
namespace {

// Write one column of y [n, dims] from positions [n]; `inner` is the product of the sizes of the
// later dims.
__global__ void write_column(int64_t n, int64_t dims, int64_t inner, int64_t size,
                             const int64_t* positions, int64_t* y) {
  for (int64_t i = thread_index(); i < n; i += thread_count()) {
    y[i * dims] = positions[i] / inner % size;
  }
}

// positions [n] = indices of the true elements of x [numel]; count [1]
void select(const bool* x, int64_t numel, int64_t* positions, int64_t* count) {
  const thrust::counting_iterator<int64_t> all(0);
  const cudaStream_t stream = Call::stream().handle;
  size_t bytes = 0;
  check(cub::DeviceSelect::Flagged(nullptr, bytes, all, x, positions, count, numel, stream),
        "cub::DeviceSelect::Flagged");
  const Workspace workspace(bytes);
  check(
      cub::DeviceSelect::Flagged(workspace.data(), bytes, all, x, positions, count, numel, stream),
      "cub::DeviceSelect::Flagged");
}

}  // namespace

// y [n, dims], x contiguous
void nonzero(Tensor& y, const Tensor& x) {
  const int64_t n = y.size(0), dims = y.size(1);
  if (n == 0 || dims == 0) return;
  const Workspace positions(static_cast<size_t>(n + 1) * sizeof(int64_t));
  auto* const p = positions.as<int64_t>();
  select(x.data_ptr<bool>(), x.numel(), p, p + n);
  int64_t inner = 1;
  for (int64_t d = dims; d-- > 0; inner *= x.size(d)) {
    launch(write_column, grid_for(n), n, dims, inner, x.size(d), static_cast<const int64_t*>(p),
           y.data_ptr<int64_t>() + d);
  }
}

}  // namespace ambit::cuda
