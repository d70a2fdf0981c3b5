// Decisions of elementwise kernels: grain, dtype of the loop, layout of the result.
#pragma once

#include <ambit/function_table.h>
#include <ambit/tensor.h>

#include "backends/cpu/layout/channels_last.h"
#include "backends/cpu/runtime/parallel.h"

namespace ambit::cpu {

/// Functions with much arithmetic use several threads for fewer elements than memory-bound ones.
template <class Op>
int64_t grain_of(Op op) {
  return row_of(op).cost == FunctionRow::Cost::maths ? kGrain / 4 : kGrain;
}

/// Return the dtype of the inner loops' operands: see upcast_runs.h.
inline DType loop_dtype(DType dtype) { return is_reduced_floating(dtype) ? kFloat32 : dtype; }

/// Return true if the result should adopt the channels-last layout of an operand.
inline bool propagates_channels_last(const Tensor& y, const Tensor& x) {
  const DType dtype = y.dtype();
  return is_channels_last(x) && (dtype == kFloat32 || dtype == kBool || is_reduced_floating(dtype));
}

}  // namespace ambit::cpu
