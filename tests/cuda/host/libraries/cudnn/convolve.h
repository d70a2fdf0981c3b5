// Convolutions by loops, over operands that lie in rows one behind the other.
#pragma once

#include <vector>

#include "engines.h"

namespace ambit::cuda::host::cudnn {

/// Operands of a convolution in two or three dims; which one is written is the kind's. x [N,C,...],
/// w [K,C/groups,...], y [N,K,...].
template <class T>
struct Operands {
  std::vector<T> x, w, y;
};

/// Add what a convolution computes to the operand that its kind writes, in sums of T. Shuffled
/// arithmetic adds the parts of a sum in another order each time, a narrow one rounds the sum of
/// each pair of planes.
template <class T>
void convolve(const Convolution& convolution, Arithmetic arithmetic, Operands<T>& operands);

}  // namespace ambit::cuda::host::cudnn
