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
  return row_of(op).cost == Function::Cost::maths ? kGrain / 4 : kGrain;
}

/// Whether the result had better follow an operand that lies channels-last.
inline bool follows(const Tensor& y, const Tensor& x) {
  return is_channels_last(x) && y.dtype() == kFloat32;
}

}  // namespace ambit::cpu
