#pragma once

#include "calls.h"
#include "peer.h"

namespace bench::floor {

/// See the operand as oneDNN sees data: it has no const.
inline dnnl::memory borrow(const Operand& operand) {
  return {row_major(operand.sizes), engine(), const_cast<float*>(operand.values)};
}

}  // namespace bench::floor
