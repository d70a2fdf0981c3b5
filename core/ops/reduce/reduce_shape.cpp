// Shapes of reductions, and calls of the reduce kernel.
#include "reduce_shape.h"

#include <ambit/autograd.h>
#include <ambit/backend/alias.h>
#include <ambit/backend/kernels.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <cmath>

#include "core/ops/operands/unrecorded.h"

namespace ambit {
namespace {

// Return a mask with bit i set if dim i is reduced.
uint64_t reduced_dims(const char* op, int64_t ndim, IntArrayRef dims) {
  if (ndim > 64) {
    throw ShapeError(fmt::format("{}: expected at most 64 dims, got {}", op, ndim));
  }
  if (dims.empty()) return ~uint64_t{0};
  uint64_t mask = 0;
  for (const int64_t dim : dims) {
    const uint64_t bit = uint64_t{1} << wrap_dim(op, dim, ndim);
    if (mask & bit) {
      throw ShapeError(fmt::format("{}: expected each dim once, got {}", op, str(dims)));
    }
    mask |= bit;
  }
  return mask;
}

}  // namespace

ReduceShape::ReduceShape(const char* op, IntArrayRef sizes, IntArrayRef dims, bool keepdim)
    : kept(sizes) {
  const uint64_t mask = reduced_dims(op, static_cast<int64_t>(sizes.size()), dims);
  for (size_t i = 0; i < sizes.size(); ++i) {
    const bool reduced = mask >> i & 1;
    if (reduced) {
      count *= sizes[i];
      kept[i] = 1;
    }
    if (!reduced || keepdim) result.push_back(kept[i]);
  }
}

Tensor without_repeats(const Tensor& x, const Dims& kept) {
  if (!exceeds_memory(x)) return x;
  Dims sizes(x.sizes());
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (kept[d] == 1 && x.strides()[d] == 0) sizes[d] = 1;
  }
  return alias(x, sizes, x.strides());
}

namespace {

// Return y, reduced over each distinct element once, as if each had occurred `times` times.
Tensor repeated(const Tensor& y, ReduceOp op, int64_t times, int64_t count) {
  const auto n = static_cast<double>(count);
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::nansum:
    case ReduceOp::abs_sum:
      return y * times;
    case ReduceOp::prod:
      return pow(y, times);
    case ReduceOp::norm:
      return y * std::sqrt(static_cast<double>(times));
    case ReduceOp::var_unbiased:
      return y * (n / (n - 1));
    case ReduceOp::std_unbiased:
      return y * std::sqrt(n / (n - 1));
    default:
      return y;
  }
}

void reduce_once(Tensor& y, const Tensor& x, const ReduceShape& shape, ReduceOp op) {
  const Tensor once = without_repeats(x, shape.kept);
  if (once.numel() == x.numel()) return kernels::reduce(y, x, op);
  const ReduceOp biased = op == ReduceOp::var_unbiased   ? ReduceOp::var
                          : op == ReduceOp::std_unbiased ? ReduceOp::std
                                                         : op;
  kernels::reduce(y, once, biased);
  const NoGradGuard no_grad;
  y = repeated(y, op, x.numel() / once.numel(), shape.count).to(y.dtype());
}

}  // namespace

Tensor run_reduce(const Tensor& x, const ReduceShape& shape, ReduceOp op, DType dtype) {
  Tensor y = empty(shape.kept, x.options().dtype(dtype));
  if (exceeds_memory(x)) [[unlikely]] {
    reduce_once(y, x, shape, op);
  } else {
    kernels::reduce(y, x, op);
  }
  set_sizes(y, shape.result);
  return y;
}

Tensor with_kept_dims(const Tensor& result, const Dims& kept) {
  const bool fits = result.dim() == 0 || result.sizes() == IntArrayRef(kept);
  return fits ? result : reshape(result, kept);
}

Tensor spread(const Tensor& g, const Dims& kept, const Dims& sizes) {
  return expand(with_kept_dims(g, kept), sizes);
}

void expect_elements(const char* op, const ReduceShape& shape, IntArrayRef sizes) {
  if (shape.count == 0) {
    throw ShapeError(
        fmt::format("{}: expected elements to reduce, got a tensor of sizes {}", op, str(sizes)));
  }
}

}  // namespace ambit
