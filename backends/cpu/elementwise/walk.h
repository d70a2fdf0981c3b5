// What elementwise kernels decide before they walk their operands.
#pragma once

#include <ambit/function_table.h>
#include <ambit/tensor.h>

#include "backends/cpu/layout/channels_last.h"
#include "backends/cpu/runtime/parallel.h"

namespace ambit::cpu {

/// Maths is worth a second thread earlier than a loop that waits for memory.
template <class Op>
int64_t grain_of(Op op) {
  return row_of(op).cost == FunctionRow::Cost::maths ? kGrain / 4 : kGrain;
}

/// The dtype of what inner loops get: see widened_runs.h.
inline DType loop_dtype(DType dtype) { return is_reduced(dtype) ? kFloat32 : dtype; }

/// Whether the result had better follow an operand that lies channels-last.
inline bool follows(const Tensor& y, const Tensor& x) {
  const DType dtype = y.dtype();
  return is_channels_last(x) && (dtype == kFloat32 || dtype == kBool || is_reduced(dtype));
}

}  // namespace ambit::cpu
