// The inner loops between float32 and the dtypes of 16 bits: see inner_loops.h.
#pragma once

#include "inner_loops.h"

namespace ambit::cpu {

/// y (float32) = x of a dtype of 16 bits, and the other way round.
UnaryLoop widen_loop(DType from);
UnaryLoop narrow_loop(DType to);

}  // namespace ambit::cpu
