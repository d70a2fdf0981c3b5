// The inputs of ctc_loss and its gradient, for all instruction sets.
#pragma once

#include <ambit/tensor.h>

#include <cstdint>

namespace ambit::cpu {

/// All operands except outputs: x [T,N,C], target [N,S], both lengths [N].
struct CtcCall {
  const Tensor &x, &target, &lengths, &target_lengths;
  int64_t blank;
};

}  // namespace ambit::cpu
