// All parameters of a model as one vector, and back.
#pragma once

#include <ambit/tensor.h>

namespace ambit::nn::utils {

/// Concatenate the elements of all parameters, row-major, into [n]. Errors: those of cat(): of no
/// parameters, of several devices. Gradient: parameters.
AMBIT_API Tensor parameters_to_vector(TensorList parameters);

/// Make the elements of `vector` [n] the parameters', in their order: each becomes an alias of its
/// part, without a copy, as set_data() does, and keeps its identity.
/// Errors: ShapeError where n is not the number of elements of all, DTypeError for another dtype
/// than theirs, DeviceMismatchError; then no parameter has changed.
AMBIT_API void vector_to_parameters(const Tensor& vector, TensorList parameters);

}  // namespace ambit::nn::utils
