#pragma once

#include "calls.h"
#include "peer.h"

namespace bench::floor {

/// Return the operand as oneDNN memory, which cannot be const.
inline dnnl::memory borrow(const Operand& operand) {
  return {row_major(operand.sizes), engine(), const_cast<float*>(operand.values)};
}

}  // namespace bench::floor
