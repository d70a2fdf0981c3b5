// Products of matrices and vectors. Operands must have the same dtype, any but bool, without
// promotion; integer products wrap. Sums over no elements are 0. Errors of all:
// DeviceMismatchError, DTypeError (different, or bool), ShapeError; Error for an undefined tensor.
// Gradients: all inputs. Functions that add a product: self broadcasts to the product. With beta 0
// self is not read, so its NaN do not propagate, and its gradient is 0. In place (`name_`), self
// has the product's shape, shares no memory with the factors (else Error), and is returned. For
// integers a floating-point beta or alpha is truncated; addr refuses it. Errors: also DTypeError
// for a beta or alpha that the integer dtype cannot hold; in place AutogradError for a leaf that
// requires grad, outside of NoGradGuard.
#pragma once

#include <ambit/function_table.h>
#include <ambit/tensor.h>

namespace ambit {

/// Multiply matrices, like numpy's @.
///   out[..., m, n] = sum over k of self[..., m, k] * other[..., k, n]
/// [...,M,K] x [...,K,N] -> [...,M,N]; leading dims broadcast. A vector on the left is a row, on
/// the right a column, and its dim is removed: [K] x [K] -> [], [...,M,K] x [K] -> [...,M], [K] x
/// [...,K,N] -> [...,N]. Not for 0-dim tensors. Source: numpy.matmul, torch.matmul.
AMBIT_API Tensor matmul(const Tensor& self, const Tensor& other);
/// Multiply two matrices: [M,K] x [K,N] -> [M,N].
AMBIT_API Tensor mm(const Tensor& self, const Tensor& mat2);
/// Multiply matrices pairwise: [B,M,K] x [B,K,N] -> [B,M,N], out[b] = self[b] x mat2[b]; B does not
/// broadcast.
AMBIT_API Tensor bmm(const Tensor& self, const Tensor& mat2);
/// Multiply a matrix by a column vector: [M,K] x [K] -> [M].
AMBIT_API Tensor mv(const Tensor& self, const Tensor& vec);
/// Sum self[k] * other[k]: [K] x [K] -> [].
AMBIT_API Tensor dot(const Tensor& self, const Tensor& other);
/// Same as dot, with self conjugated.
AMBIT_API Tensor vdot(const Tensor& self, const Tensor& other);
/// Compute the outer product: [M] x [N] -> [M,N], out[m, n] = self[m] * vec2[n]. Dtypes promote;
/// bool is allowed.
AMBIT_API Tensor outer(const Tensor& self, const Tensor& vec2);
/// Old name of outer.
AMBIT_API Tensor ger(const Tensor& self, const Tensor& vec2);
/// Compute the inner product over the last dims: [..,K] x [...,K] -> [..,...]; a 0-dim tensor
/// multiplies elementwise.
AMBIT_API Tensor inner(const Tensor& self, const Tensor& other);
/// Compute beta * self + alpha * (mat1 x mat2): mat1 [M,K], mat2 [K,N] -> [M,N].
/// @{
AMBIT_API Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2,
                       const Scalar& beta = 1, const Scalar& alpha = 1);
AMBIT_API const Tensor& addmm_(const Tensor& self, const Tensor& mat1, const Tensor& mat2,
                               const Scalar& beta = 1, const Scalar& alpha = 1);
/// @}
/// Apply relu or gelu to the result of addmm; uses linear_map if self is [N], beta and alpha are 1
/// and the dtype is floating point.
AMBIT_API Tensor _addmm_activation(const Tensor& self, const Tensor& mat1, const Tensor& mat2,
                                   const Scalar& beta = 1, const Scalar& alpha = 1,
                                   bool use_gelu = false);
/// Compute beta * self + alpha * (mat x vec): mat [M,K], vec [K] -> [M].
/// @{
AMBIT_API Tensor addmv(const Tensor& self, const Tensor& mat, const Tensor& vec,
                       const Scalar& beta = 1, const Scalar& alpha = 1);
AMBIT_API const Tensor& addmv_(const Tensor& self, const Tensor& mat, const Tensor& vec,
                               const Scalar& beta = 1, const Scalar& alpha = 1);
/// @}
/// Compute beta * self + alpha * outer(vec1, vec2): vec1 [M], vec2 [N] -> [M,N]. Dtypes promote, in
/// place to self's; bool uses "and" and "or".
/// @{
AMBIT_API Tensor addr(const Tensor& self, const Tensor& vec1, const Tensor& vec2,
                      const Scalar& beta = 1, const Scalar& alpha = 1);
AMBIT_API const Tensor& addr_(const Tensor& self, const Tensor& vec1, const Tensor& vec2,
                              const Scalar& beta = 1, const Scalar& alpha = 1);
/// @}
/// Compute beta * self + alpha * (batch1 x batch2), pairwise: batch1 [B,M,K], batch2 [B,K,N] ->
/// [B,M,N].
/// @{
AMBIT_API Tensor baddbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2,
                         const Scalar& beta = 1, const Scalar& alpha = 1);
AMBIT_API const Tensor& baddbmm_(const Tensor& self, const Tensor& batch1, const Tensor& batch2,
                                 const Scalar& beta = 1, const Scalar& alpha = 1);
/// @}
/// Compute beta * self + alpha * (sum over b of batch1[b] x batch2[b]): batch1 [B,M,K], batch2
/// [B,K,N] -> [M,N].
/// @{
AMBIT_API Tensor addbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2,
                        const Scalar& beta = 1, const Scalar& alpha = 1);
AMBIT_API const Tensor& addbmm_(const Tensor& self, const Tensor& batch1, const Tensor& batch2,
                                const Scalar& beta = 1, const Scalar& alpha = 1);
/// @}
/// As mm, bmm, addmm and baddbmm, with a result of out_dtype: the operands' dtype, or float32 for
/// reduced floating-point operands, whose products are then summed and added without rounding to
/// their dtype. self of addmm and baddbmm has the operands' dtype or out_dtype. Errors: also
/// DTypeError for any other out_dtype.
/// @{
AMBIT_API Tensor mm(const Tensor& self, const Tensor& mat2, DType out_dtype);
AMBIT_API Tensor bmm(const Tensor& self, const Tensor& mat2, DType out_dtype);
AMBIT_API Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, DType out_dtype,
                       const Scalar& beta = 1, const Scalar& alpha = 1);
AMBIT_API Tensor baddbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2,
                         DType out_dtype, const Scalar& beta = 1, const Scalar& alpha = 1);
/// @}
/// Apply a linear layer.
///   out[..., n] = bias[n] + sum over k of input[..., k] * weight[n, k]
/// input [...,K] with at least one dim, weight [N,K], bias [N] or undefined -> [...,N].
AMBIT_API Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias = {});
/// Apply a linear layer and an activation: UnaryOp::relu, gelu or gelu_tanh. Fused into one kernel
/// if the device supports it and no gradient of gelu is needed. Floating point. Errors: also Error
/// for any other activation.
AMBIT_API Tensor linear_map(const Tensor& input, const Tensor& weight, const Tensor& bias,
                            UnaryOp activation);

}  // namespace ambit
