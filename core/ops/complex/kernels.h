// Functions that run an op on complex operands by kernels of real numbers; the table of ops in
// core/dispatch/kernels.cpp names them. Semantics and signatures are those of
// <ambit/backend/kernels.h>; they run without recording, on the device of their tensors, and fill
// the given outputs. Elementwise functions that cannot be computed from parts by kernels, such as
// exp, and factorisations run on the host. A backend may register a kernel for complex64 and
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
Signature<kernels::lu_factor> lu_factor;
Signature<kernels::lu_solve> lu_solve;
Signature<kernels::cholesky> cholesky;
Signature<kernels::qr> qr;
Signature<kernels::eigh> eigh;
Signature<kernels::svd> svd;
Signature<kernels::triangular_solve> triangular_solve;

}  // namespace ambit::by_parts
