// Convert the parameters of a model to one vector and back.
#pragma once

#include <ambit/tensor.h>

namespace ambit::nn::utils {

/// Concatenate the elements of all parameters, in row-major order, into a vector [n]. Errors: those
/// of cat(): no parameters, several devices. Gradient: parameters.
AMBIT_API Tensor parameters_to_vector(TensorList parameters);

/// Set the parameters, in order, to consecutive parts of `vector` [n]: each becomes an alias of its
/// part, without a copy, as by set_data(), and keeps its identity. Errors: ShapeError if n is not
/// the total number of elements, DTypeError for any other dtype, DeviceMismatchError; then no
/// parameter has changed.
AMBIT_API void vector_to_parameters(const Tensor& vector, TensorList parameters);

}  // namespace ambit::nn::utils
