// Unpooling: write maxima back to their positions.
#include <ambit/ops/pool.h>

#include <ambit/backend/op.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/index.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <algorithm>

#include "core/ops/operands/expect.h"
#include "pool.h"

namespace ambit {
namespace {

Tensor unpool(const char* op, size_t dims, const Tensor& input, const Tensor& indices,
              IntArrayRef output_size) {
  check_devices(op, {{"input", input}, {"indices", indices}});
  const pooling::Images x(op, input, dims);
  expect_dtype(op, "indices", indices, kInt64);
  expect_sizes(op, "indices", indices, input.sizes());
  if (output_size.size() != dims ||
      std::any_of(output_size.begin(), output_size.end(), [](int64_t n) { return n < 1; })) {
    throw ShapeError(fmt::format("{}: expected an output_size of {} numbers from 1, got {}", op,
                                 dims, str(output_size)));
  }
  Dims sizes(x.batch.sizes());
  std::copy(output_size.begin(), output_size.end(), sizes.begin() + 2);
  const int64_t image = count(op, output_size);
  const Tensor at = flatten(reshape(indices, x.batch.sizes()), 2);
  const Tensor out = zeros({sizes[0], sizes[1], image}, input.options());
  return x.like_input(reshape(scatter(out, 2, at, flatten(x.batch, 2)), sizes));
}

}  // namespace

Tensor max_unpool2d(const Tensor& input, const Tensor& indices, IntArrayRef output_size) {
  return unpool("max_unpool2d", 2, input, indices, output_size);
}

Tensor max_unpool3d(const Tensor& input, const Tensor& indices, IntArrayRef output_size,
                    IntArrayRef stride, IntArrayRef padding) {
  const PerAxis steps(stride), pads(padding);
  for (size_t i = 0; i < 3; ++i) {
    if (steps[i] > 0 && pads[i] >= 0) continue;
    throw ShapeError(
        fmt::format("max_unpool3d: expected stride from 1 and padding from 0, got {} "
                    "and {}",
                    str(stride), str(padding)));
  }
  return unpool("max_unpool3d", 3, input, indices, output_size);
}

}  // namespace ambit
