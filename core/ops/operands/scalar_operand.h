// Numbers as tensor operands of kernels.
#pragma once

#include <ambit/tensor.h>

#include <string>

namespace ambit {

/// Return `value`, converted by static_cast, as a tensor of `sizes` with strides of 0.
Tensor scalar_on(const Scalar& value, DType dtype, Device device, IntArrayRef sizes = {});
/// Check that `value` can be converted to dtype. Negative numbers wrap around in unsigned types, as
/// in libtorch. Errors: DTypeError.
void check_fits(const char* op, const Scalar& value, DType dtype);
/// Return the number as errors show it.
std::string text_of(const Scalar& number);
/// Compare a number with the range of dtype: return -1 if it is below, 0 if inside, 1 if above.
int side_of_range(const Scalar& number, DType dtype);

}  // namespace ambit
