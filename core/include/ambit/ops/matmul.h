// Products of matrices and vectors. Operands must have one dtype, which promotion does not change.
// Errors of all: DeviceMismatchError, DTypeError (different, or bool), ShapeError. Gradients: all
// inputs.
#pragma once

#include <ambit/tensor.h>

namespace ambit {

/// As numpy's @: vectors, matrices, and batches of matrices that broadcast.
AMBIT_API Tensor matmul(const Tensor& self, const Tensor& other);
/// [M,K] x [K,N] -> [M,N].
AMBIT_API Tensor mm(const Tensor& self, const Tensor& mat2);
/// [B,M,K] x [B,K,N] -> [B,M,N].
AMBIT_API Tensor bmm(const Tensor& self, const Tensor& mat2);
/// [M,K] x [K] -> [M].
AMBIT_API Tensor mv(const Tensor& self, const Tensor& vec);
/// [K] x [K] -> [].
AMBIT_API Tensor dot(const Tensor& self, const Tensor& other);
/// beta * self + alpha * mat1 x mat2; self broadcasts to [M,N].
AMBIT_API Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2,
                       const Scalar& beta = 1, const Scalar& alpha = 1);
/// input [...,K] x weight [N,K]^T + bias [N] -> [...,N]; bias may be undefined.
AMBIT_API Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias = {});

}  // namespace ambit
