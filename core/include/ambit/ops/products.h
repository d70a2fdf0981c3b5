// Products of tensors based on matrix products (matmul.h) or elementwise products. Errors of all:
// DeviceMismatchError, DTypeError, IndexError (a dim out of range), ShapeError; Error for an
// undefined tensor. Gradients: all inputs.
#pragma once

#include <ambit/tensor.h>

#include <string_view>

namespace ambit {

/// Sum products by Einstein's convention: "ij,jk->ik" is a matrix product, "bij,bjk->bik" a batched
/// one, "ii->i" a diagonal, "i,j->ij" an outer product, "ij->" a sum.
///   Before the arrow: one term for each tensor, with a letter, a-z or A-Z, for each dim; dims with
///   the same letter are iterated together, and size 1 broadcasts. Letters not after the arrow are
///   summed; without an arrow, letters that occur once are kept, in alphabetical order. "..." are
///   dims without letters, which broadcast; without an arrow they come first. Spaces are ignored.
/// Tensors are contracted from left to right; `path`: pairs of list positions to contract; both are
/// removed and the product is appended. One dtype, any but bool. Errors: also Error for an invalid
/// equation. Source: torch.einsum, numpy.einsum.
AMBIT_API Tensor einsum(std::string_view equation, TensorList tensors, IntArrayRef path = {});
/// Sum products over dims_self[i] of self and dims_other[i] of other, of equal size or size 1; out
/// has the other dims of self, then those of other. Without dims: the outer product.
AMBIT_API Tensor tensordot(const Tensor& self, const Tensor& other, IntArrayRef dims_self,
                           IntArrayRef dims_other);
/// Compute the Kronecker product: [.., M_i, ..] and [.., N_i, ..] -> [.., M_i N_i, ..]; the tensor
/// with fewer dims gets dims of size 1 at the front. Dtypes promote.
AMBIT_API Tensor kron(const Tensor& self, const Tensor& other);
/// Compute cross products along dim, of size 3 (default: the first dim of size 3); the other dims
/// broadcast. One dtype, any but bool. Errors: also ShapeError for different numbers of dims.
AMBIT_API Tensor cross(const Tensor& self, const Tensor& other, std::optional<int64_t> dim = {});
/// Multiply matrices in the order with the fewest multiplications: [A,B], [B,C], [C,D] -> [A,D]; a
/// single matrix is returned itself. Source: Cormen et al., Introduction to Algorithms, section
/// 15.2.
AMBIT_API Tensor chain_matmul(TensorList tensors);
/// Same as chain_matmul for two or more; the first may be a vector (a row), the last a vector (a
/// column), whose dims are removed. Source: torch.linalg.multi_dot.
AMBIT_API Tensor linalg_multi_dot(TensorList tensors);
/// Raise square matrices [..,M,M] to the power n by repeated squaring; n = 0: the identity; n < 0,
/// floating point only: powers of the inverse.
AMBIT_API Tensor matrix_power(const Tensor& self, int64_t n);
/// Compute the matrix exponential, the sum over k of self^k / k! of square matrices [..,M,M].
/// Floating point. Source: Moler & Van Loan 2003, "Nineteen dubious ways", method 3: scaling,
/// Taylor, squaring.
AMBIT_API Tensor matrix_exp(const Tensor& self);
/// Sum the main diagonal of a matrix: [M,N] -> []; integers give int64. Not for bool.
AMBIT_API Tensor trace(const Tensor& self);
/// Compute pairwise p-norm distances: x1 [..,P,M], x2 [..,R,M] -> [..,P,R]; leading dims broadcast.
/// p >= 0, or infinity. compute_mode: 0 (default): for p = 2 and P or R above 25, by a matrix
/// product, which loses half the digits of small distances; 1: always for p = 2; 2: never. Floating
/// point. Gradient: 0 between equal points.
AMBIT_API Tensor cdist(const Tensor& x1, const Tensor& x2, double p = 2,
                       std::optional<int64_t> compute_mode = {});
/// Compute the distances between rows of self [N,M], i < j in row-major order: [N (N - 1) / 2].
AMBIT_API Tensor pdist(const Tensor& self, double p = 2);

/// Same as cross, by default along the last dim.
AMBIT_API Tensor linalg_cross(const Tensor& self, const Tensor& other, int64_t dim = -1);
/// Alias of matmul.
AMBIT_API Tensor linalg_matmul(const Tensor& self, const Tensor& other);
/// Alias of matrix_exp.
AMBIT_API Tensor linalg_matrix_exp(const Tensor& self);

namespace linalg {
/// Alias of linalg_multi_dot.
inline Tensor multi_dot(TensorList tensors) { return linalg_multi_dot(tensors); }
/// Alias of matrix_exp.
inline Tensor matrix_exp(const Tensor& self) { return linalg_matrix_exp(self); }
}  // namespace linalg

}  // namespace ambit
