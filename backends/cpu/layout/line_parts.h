// Kernels along one dim, of elements of 16 bits: some of the lines at a time are float32, which
// stays in the caches, and never all of them.
#pragma once

#include <ambit/tensor.h>

#include <functional>
#include <vector>

namespace ambit::cpu {

using Operands = std::vector<Tensor>;

/// Call kernel(outputs, inputs) with some of the lines along `dim` of all operands: as dense
/// float32 tensors in place of those of 16 bits, outputs of another dtype dense too. The inputs
/// have one shape, and outputs may differ from it in `dim`, or be undefined.
void in_line_parts(int64_t dim, const Operands& outputs, const Operands& inputs,
                   const std::function<void(Operands& outputs, Operands& inputs)>& kernel);

}  // namespace ambit::cpu
