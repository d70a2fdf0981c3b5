// The functions of core/dispatch/kernels.cpp that run ops on complex operands, by kernels of real
// ones. Semantics and signatures are those of kernels.h; they run without recording, on the device
// of their tensors, and fill the given outputs. Functions of single numbers that no kernel computes
// by parts, such as exp, run on the host. A backend may register a kernel for complex64 and
// complex128, which is then called instead.
#pragma once

#include <ambit/backend/kernels.h>

namespace ambit::by_parts {

Signature<kernels::copy> copy;
Signature<kernels::fill> fill;
Signature<kernels::unary> unary;
Signature<kernels::binary> binary;
Signature<kernels::compare> compare;
Signature<kernels::where> where;
Signature<kernels::reduce> reduce;
Signature<kernels::scan> scan;
Signature<kernels::gather> gather;
Signature<kernels::scatter> scatter;
Signature<kernels::scatter_add> scatter_add;
Signature<kernels::index_select> index_select;
Signature<kernels::index_add> index_add;
Signature<kernels::matmul> matmul;

}  // namespace ambit::by_parts
