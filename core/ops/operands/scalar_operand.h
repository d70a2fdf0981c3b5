// Numbers as tensor operands of kernels.
#pragma once

#include <ambit/tensor.h>

namespace ambit {

/// Return `value`, converted by static_cast, as a tensor of `sizes` with strides of 0.
Tensor scalar_on(const Scalar& value, DType dtype, Device device, IntArrayRef sizes = {});
/// Check that `value` can be converted to dtype. Negative numbers wrap around in uint8, as in
/// libtorch. Errors: DTypeError.
void check_fits(const char* op, const Scalar& value, DType dtype);

}  // namespace ambit
