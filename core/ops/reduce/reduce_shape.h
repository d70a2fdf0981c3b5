// Code shared by reductions: reduced dims, result shapes, and expansion of gradients.
#pragma once

#include <ambit/params.h>
#include <ambit/tensor.h>

namespace ambit {

/// The shapes of a reduction over some dims of a tensor.
struct ReduceShape {
  /// No dims means all. Errors: IndexError, ShapeError (a duplicate dim, or more than 64 dims).
  ReduceShape(const char* op, IntArrayRef sizes, IntArrayRef dims, bool keepdim);

  Dims kept;          // reduced dims have size 1: the kernel's output
  Dims result;        // the caller's result
  int64_t count = 1;  // elements per result
};

/// Return true if x has more elements than any memory can hold: many of them are then broadcast.
inline bool exceeds_memory(const Tensor& x) { return x.numel() >= int64_t{1} << 40; }
/// Return x; if it exceeds memory, with size 1 in reduced dims of stride 0.
Tensor without_repeats(const Tensor& x, const Dims& kept);

/// Run kernels::reduce into a new tensor of shape.result; records nothing.
Tensor run_reduce(const Tensor& x, const ReduceShape& shape, ReduceOp op, DType dtype);

/// Reinsert the reduced dims with size 1 into a reduction's result or its gradient.
Tensor with_kept_dims(const Tensor& result, const Dims& kept);

/// The gradient of sum: g [result] -> [sizes], by stride 0.
Tensor spread(const Tensor& g, const Dims& kept, const Dims& sizes);

/// Errors: ShapeError "max: expected a dim with elements, got sizes [0, 2]", if nothing is reduced.
void expect_elements(const char* op, const ReduceShape& shape, IntArrayRef sizes);

}  // namespace ambit
