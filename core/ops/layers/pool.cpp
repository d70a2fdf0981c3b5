// Maximum and average pooling. The gradients are ops private to this file, with gradients of their
// own.
#include "pool.h"

#include <ambit/ops/pool.h>

#include <ambit/backend/kernels.h>
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/index.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <limits>

#include "core/ops/composite.h"
#include "core/ops/operands/allocate.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/operand_grad.h"
#include "core/ops/operands/unrecorded.h"

namespace ambit {
namespace pooling {
namespace {

constexpr const char* kShapes[] = {"[N, C, L] or [C, L]", "[N, C, H, W] or [C, H, W]",
                                   "[N, C, D, H, W] or [C, D, H, W]"};

Tensor max_grad(const Tensor& grad, const Tensor& index, IntArrayRef sizes, const PoolParams& p) {
  Tensor dx = allocate("max_pool_grad", sizes, grad.dtype(), grad.device());
  kernels::max_pool_grad(dx, dense(grad), index, p);
  return record("max_pool_grad", std::move(dx), wrt(grad, [index = saved(index)](const Tensor& g) {
                  const Tensor at = index().to(kInt64);
                  return reshape(gather(flatten(g, 2), 2, flatten(at, 2)), at.sizes());
                }));
}

Tensor mean_grad(const Tensor& grad, IntArrayRef sizes, const PoolParams& p) {
  Tensor dx = allocate("avg_pool_grad", sizes, grad.dtype(), grad.device());
  kernels::avg_pool_grad(dx, dense(grad), p);
  return record("avg_pool_grad", std::move(dx),
                wrt(grad, [p, sizes = Dims(grad.sizes())](const Tensor& g) {
                  return mean("avg_pool", g, sizes, p);
                }));
}

// Kernels use 32-bit positions.
void check_positions(const char* op, const Tensor& x) {
  int64_t room = std::numeric_limits<int32_t>::max();
  for (const int64_t size : x.sizes().slice(2)) room /= size;
  if (room == 0) {
    throw ShapeError(fmt::format("{}: expected {} of less than 2^31 elements, got {}", op,
                                 x.dim() == 4 ? "planes" : "images", str(x.sizes())));
  }
}

}  // namespace

Images::Images(const char* op, const Tensor& input, size_t dims, bool integers) {
  if (!integers) expect_floating(op, input);
  const auto ndim = static_cast<size_t>(input.dim());
  if (ndim != dims + 1 && ndim != dims + 2) {
    throw ShapeError(fmt::format("{}: expected input of shape {}, got {}", op, kShapes[dims - 1],
                                 str(input.sizes())));
  }
  had_no_batch = ndim == dims + 1;
  batch = had_no_batch ? unsqueeze(input, 0) : input;
}

Tensor Images::like_input(const Tensor& t) const { return had_no_batch ? squeeze(t, 0) : t; }

std::pair<Tensor, Tensor> max(const char* op, const Tensor& x, IntArrayRef y, const PoolParams& p,
                              bool with_index) {
  check_positions(op, x);
  if (!x.is_floating_point()) return max_of_integers(op, x, y, p);
  Tensor out = allocate(op, y, x.dtype(), x.device());
  Tensor index = with_index ? allocate(op, y, kInt32, x.device()) : Tensor();
  kernels::max_pool(out, index, dense(x), p);
  if (!needs_gradient(x)) return {out, index};
  out = record(op, out, wrt(x, [index = saved(index), s = Dims(x.sizes()), p](const Tensor& g) {
                 return max_grad(g, index(), s, p);
               }));
  return {out, index};
}

Tensor mean(const char* op, const Tensor& x, IntArrayRef y, const PoolParams& p) {
  Tensor out = allocate(op, y, x.dtype(), x.device());
  if (!x.is_floating_point()) {
    composite::avg_pool(out, x, p);
    return out;
  }
  kernels::avg_pool(out, dense(x), p);
  return record(op, std::move(out),
                wrt(x, [s = Dims(x.sizes()), p](const Tensor& g) { return mean_grad(g, s, p); }));
}

namespace {

constexpr const char* kMax[] = {"max_pool1d", "max_pool2d", "max_pool3d"};
constexpr const char* kMaxAndPlaces[] = {"max_pool1d_with_indices", "max_pool2d_with_indices",
                                         "max_pool3d_with_indices"};
constexpr const char* kMean[] = {"avg_pool1d", "avg_pool2d", "avg_pool3d"};

Images images_of_numbers(const char* op, const Tensor& input, size_t dims) {
  expect_defined(op, "input", input);
  expect_numbers(op, input);
  return Images(op, input, dims, true);
}

Tensor max_of_windows(size_t dims, const Tensor& input, const PoolParams& p) {
  const char* op = kMax[dims - 1];
  const Images x = images_of_numbers(op, input, dims);
  const Dims sizes = p.out_sizes(op, x.batch.sizes());
  return x.like_input(max(op, x.batch, sizes, p, needs_gradient(input)).first);
}

std::tuple<Tensor, Tensor> max_and_places(size_t dims, const Tensor& input, const PoolParams& p) {
  const char* op = kMaxAndPlaces[dims - 1];
  const Images x = images_of_numbers(op, input, dims);
  const Dims sizes = p.out_sizes(op, x.batch.sizes());
  const auto [out, index] = max(op, x.batch, sizes, p, true);
  return {x.like_input(out), x.like_input(index.to(kInt64))};
}

Tensor mean_of_windows(size_t dims, const Tensor& input, const PoolParams& p) {
  const char* op = kMean[dims - 1];
  const Images x(op, input, dims, input.defined() && input.dtype() == kInt64);
  for (size_t i = 0; i < dims; ++i) {
    if (p.dilation[i] == 1) continue;
    throw ShapeError(fmt::format("{}: expected dilation 1, got {}", op, str(p.dilation)));
  }
  const Dims sizes = p.out_sizes(op, x.batch.sizes());
  return x.like_input(mean(op, x.batch, sizes, p));
}

}  // namespace

}  // namespace pooling

Tensor max_pool1d(const Tensor& input, const PoolParams& p) {
  return pooling::max_of_windows(1, input, p);
}
Tensor max_pool2d(const Tensor& input, const PoolParams& p) {
  return pooling::max_of_windows(2, input, p);
}
Tensor max_pool3d(const Tensor& input, const PoolParams& p) {
  return pooling::max_of_windows(3, input, p);
}
std::tuple<Tensor, Tensor> max_pool1d_with_indices(const Tensor& input, const PoolParams& p) {
  return pooling::max_and_places(1, input, p);
}
std::tuple<Tensor, Tensor> max_pool2d_with_indices(const Tensor& input, const PoolParams& p) {
  return pooling::max_and_places(2, input, p);
}
std::tuple<Tensor, Tensor> max_pool3d_with_indices(const Tensor& input, const PoolParams& p) {
  return pooling::max_and_places(3, input, p);
}

Tensor avg_pool1d(const Tensor& input, const PoolParams& p) {
  return pooling::mean_of_windows(1, input, p);
}
Tensor avg_pool2d(const Tensor& input, const PoolParams& p) {
  return pooling::mean_of_windows(2, input, p);
}
Tensor avg_pool3d(const Tensor& input, const PoolParams& p) {
  return pooling::mean_of_windows(3, input, p);
}

}  // namespace ambit
