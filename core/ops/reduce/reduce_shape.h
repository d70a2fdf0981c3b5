// What all reductions share: which dims go, what shape stays, and a gradient's way back.
#pragma once

#include <ambit/params.h>
#include <ambit/tensor.h>

namespace ambit {

/// The shapes that follow from reducing some dims of a tensor.
struct ReduceShape {
  /// No dims means all. Errors: IndexError, ShapeError (a dim twice, or more than 64 dims).
  ReduceShape(const char* op, IntArrayRef sizes, IntArrayRef dims, bool keepdim);

  Dims kept;          // the reduced dims have size 1: what kernels fill
  Dims result;        // what the caller gets
  int64_t count = 1;  // elements behind each result
};

/// Return whether no memory holds as many elements as x has: then many of them are one in memory.
inline bool exceeds_memory(const Tensor& x) { return x.numel() >= int64_t{1} << 40; }
/// Return x; where it exceeds memory, with one element along the reduced dims of stride 0.
Tensor without_repeats(const Tensor& x, const Dims& kept);

/// Run kernels::reduce into a new tensor of shape.result; records nothing.
Tensor run_reduce(const Tensor& x, const ReduceShape& shape, ReduceOp op, DType dtype);

/// Give a reduction's result, or the gradient of it, the reduced dims back with size 1.
Tensor with_kept_dims(const Tensor& result, const Dims& kept);

/// The gradient of sum: g [result] -> [sizes], by stride 0.
Tensor spread(const Tensor& g, const Dims& kept, const Dims& sizes);

/// Errors: ShapeError "max: expected a dim with elements, got sizes [0, 2]", if nothing is reduced.
void expect_elements(const char* op, const ReduceShape& shape, IntArrayRef sizes);

}  // namespace ambit
