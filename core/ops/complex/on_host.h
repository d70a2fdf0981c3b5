// Functions of complex numbers, computed on the host in complex128.
#pragma once

#include <ambit/function_table.h>
#include <ambit/tensor.h>

namespace ambit {

/// y = op(x), or op(a, b), without recording. Return false if the function is not defined for
/// complex numbers.
/// @{
bool map_on_host(Tensor& y, const Tensor& x, UnaryOp op);
bool map_on_host(Tensor& y, const Tensor& a, const Tensor& b, BinaryOp op);
/// @}

}  // namespace ambit
