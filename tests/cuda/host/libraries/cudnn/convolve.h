// Convolutions by loops, over contiguous operands.
#pragma once

#include <vector>

#include "engines.h"

namespace ambit::cuda::host::cudnn {

/// Operands of a convolution with two or three spatial dims; the kind determines the output. x
/// [N,C,...], w [K,C/groups,...], y [N,K,...].
template <class T>
struct Operands {
  std::vector<T> x, w, y;
};

/// Add the result of a convolution to the operand that its kind writes, with sums of type T.
/// Shuffled arithmetic adds in another order each time, narrow arithmetic rounds the sum of each
/// pair of planes.
template <class T>
void convolve(const Convolution& convolution, Arithmetic arithmetic, Operands<T>& operands);

}  // namespace ambit::cuda::host::cudnn
