// A call of ctc_loss or its gradient, for all instruction sets alike.
#pragma once

#include <ambit/tensor.h>

#include <cstdint>

namespace ambit::cpu {

/// What there is of it beside outputs: x [T,N,C], target [N,S], both lengths [N].
struct CtcCall {
  const Tensor &x, &target, &lengths, &target_lengths;
  int64_t blank;
};

}  // namespace ambit::cpu
