// gather, scatter, scatter_add and nonzero.
#include <ambit/error.h>
#include <fmt/format.h>

#include <algorithm>

#include <ambit/ops/creation.h>

#include "kernels.h"
#include "launch.h"
#include "program.h"

namespace ambit::opencl {
namespace {

// Return the strides, with 0 for dim, because the index gives the position along dim.
Dims strides_without(const Tensor& t, int64_t dim) {
  Dims strides = t.strides();
  if (!strides.empty()) strides[static_cast<size_t>(dim)] = 0;
  return strides;
}

void scatter_lines(const char* op, Tensor& y, const Tensor& index, const Tensor& src, int64_t dim,
                   bool adds) {
  if (index.numel() == 0) return;
  OpenClDevice& device = device_of(y);
  const size_t bytes = element_size(y.dtype());
  const std::string key =
      adds ? fmt::format("scatter_add/{}", name(y.dtype())) : fmt::format("scatter/{}", bytes);
  const cl_kernel kernel = device.kernel(op, key, "scatter", [&] {
    const std::string begin = adds ? begin_program(device.features(), y.dtype()) +
                                         std::string(device_source("arithmetic")) + "#define ADD\n"
                                   : begin_moving_program(device.features(), bytes);
    return begin + std::string(device_source("index"));
  });
  Dims lines = index.sizes();
  if (!lines.empty()) lines[static_cast<size_t>(dim)] = 1;
  const Walk walk(lines, {strides_without(y, dim), index.strides(), src.strides()});
  walk.for_each_part([&](const Layout& l, const auto& offsets) {
    const int64_t n = l.count();
    Launch(op, device, kernel)
        .add(cl_long{n})
        .add(l)
        .add(cl_long{length_along(index, dim)})
        .add(cl_long{step_along(index, dim)})
        .add(cl_long{step_along(src, dim)})
        .add(cl_long{length_along(y, dim)})
        .add(cl_long{step_along(y, dim)})
        .add_fault()
        .add(y, offsets[0])
        .add(index, offsets[1])
        .add(src, offsets[2])
        .run(n);
  });
}

}  // namespace

void gather(Tensor& y, const Tensor& x, const Tensor& index, int64_t dim) {
  if (y.numel() == 0) return;
  OpenClDevice& device = device_of(y);
  const size_t bytes = element_size(y.dtype());
  const cl_kernel kernel = device.kernel("gather", fmt::format("gather/{}", bytes), "gather", [&] {
    return begin_moving_program(device.features(), bytes) + std::string(device_source("index"));
  });
  const Walk walk(index.sizes(), {y.strides(), strides_without(x, dim), index.strides()});
  walk.for_each_part([&](const Layout& l, const auto& offsets) {
    const int64_t n = l.count();
    Launch("gather", device, kernel)
        .add(cl_long{n})
        .add(l)
        .add(cl_long{length_along(x, dim)})
        .add(cl_long{step_along(x, dim)})
        .add_fault()
        .add(y, offsets[0])
        .add(x, offsets[1])
        .add(index, offsets[2])
        .run(n);
  });
}

void scatter(Tensor& y, const Tensor& index, const Tensor& src, int64_t dim) {
  scatter_lines("scatter", y, index, src, dim, false);
}
void scatter_add(Tensor& y, const Tensor& index, const Tensor& src, int64_t dim) {
  scatter_lines("scatter_add", y, index, src, dim, true);
}

void nonzero(Tensor& y, const Tensor& x) {
  if (y.numel() == 0) return;
  OpenClDevice& device = device_of(y);
  const auto source = [&] {
    return begin_moving_program(device.features(), 1) + std::string(device_source("nonzero"));
  };
  constexpr int64_t kChunk = 1024;
  const int64_t n = x.numel(), chunks = (n + kChunk - 1) / kChunk;
  const Tensor counts = empty({chunks}, TensorOptions(kInt64).device(x.device()));
  const auto kernel = [&](const char* part) {
    return device.kernel("nonzero", "nonzero", part, source);
  };
  Launch("nonzero", device, kernel("count_true"))
      .add(cl_long{n})
      .add(cl_long{kChunk})
      .add(cl_long{chunks})
      .add(x)
      .add(counts)
      .run(chunks);
  Launch("nonzero", device, kernel("sum_counts")).add(cl_long{chunks}).add(counts).run(1);
  // x is contiguous, with any number of dims; coordinates come from pieces that fit a Layout.
  Layout l;
  l.dims = x.dim();
  if (x.dim() > static_cast<int64_t>(Layout::kMostDims)) {
    throw NotImplementedError(fmt::format("nonzero: expected at most {} dims on opencl, got {}",
                                          Layout::kMostDims, x.dim()));
  }
  for (int64_t d = 0; d < l.dims; ++d) l.sizes[d] = x.size(d);
  Launch("nonzero", device, kernel("write_places"))
      .add(cl_long{n})
      .add(cl_long{kChunk})
      .add(cl_long{chunks})
      .add(l)
      .add(cl_long{y.size(0)})
      .add(static_cast<cl_int>(x.dim()))
      .add(x)
      .add(counts)
      .add(y)
      .run(chunks);
}

}  // namespace ambit::opencl
