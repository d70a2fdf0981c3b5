// Products of matrices and vectors. Operands must have one dtype, any but bool, which promotion
// does not change; products of integers wrap. Sums over no elements are 0.
// Errors of all: DeviceMismatchError, DTypeError (different, or bool), ShapeError; Error for an
// undefined tensor. Gradients: all inputs.
#pragma once

#include <ambit/tensor.h>

namespace ambit {

/// Multiply matrices, as numpy's @.
///   out[..., m, n] = sum over k of self[..., m, k] * other[..., k, n]
/// [...,M,K] x [...,K,N] -> [...,M,N], where the leading dims broadcast. A vector on the left is a
/// row, on the right a column, whose dim the result lacks: [K] x [K] -> [], [...,M,K] x [K] ->
/// [...,M], [K] x [...,K,N] -> [...,N]. Not for 0-dim tensors. Source: numpy.matmul, torch.matmul.
AMBIT_API Tensor matmul(const Tensor& self, const Tensor& other);
/// Multiply two matrices: [M,K] x [K,N] -> [M,N].
AMBIT_API Tensor mm(const Tensor& self, const Tensor& mat2);
/// Multiply matrices pairwise: [B,M,K] x [B,K,N] -> [B,M,N], out[b] = self[b] x mat2[b]; B does not
/// broadcast.
AMBIT_API Tensor bmm(const Tensor& self, const Tensor& mat2);
/// Multiply a matrix by a column: [M,K] x [K] -> [M].
AMBIT_API Tensor mv(const Tensor& self, const Tensor& vec);
/// Sum self[k] * other[k]: [K] x [K] -> [].
AMBIT_API Tensor dot(const Tensor& self, const Tensor& other);
/// Compute beta * self + alpha * (mat1 x mat2).
/// mat1 [M,K], mat2 [K,N] -> [M,N], to which self broadcasts. With beta 0 self is not read, so that
/// its NaN do not spread, and its gradient is 0. Errors also: DTypeError for a floating-point beta
/// or alpha with integers.
AMBIT_API Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2,
                       const Scalar& beta = 1, const Scalar& alpha = 1);
/// Apply a linear layer.
///   out[..., n] = bias[n] + sum over k of input[..., k] * weight[n, k]
/// input [...,K] of one dim at least, weight [N,K], bias [N] or undefined -> [...,N].
AMBIT_API Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias = {});

}  // namespace ambit
