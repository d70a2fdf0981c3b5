// Inner loops between float32 and reduced floating-point types: see inner_loops.h.
#pragma once

#include "inner_loops.h"

namespace ambit::cpu {

/// Return the loop that converts a reduced floating-point type to float32, and the reverse.
UnaryLoop upcast_loop(DType from);
UnaryLoop downcast_loop(DType to);

}  // namespace ambit::cpu
