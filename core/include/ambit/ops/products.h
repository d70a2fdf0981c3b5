// Products of tensors that come down to those of matrices (matmul.h) or of elements.
// Errors of all: DeviceMismatchError, DTypeError, IndexError (a dim out of range), ShapeError;
// Error for an undefined tensor. Gradients: all inputs.
#pragma once

#include <ambit/tensor.h>

#include <string_view>

namespace ambit {

/// Sum products of elements, as Einstein wrote: "ij,jk->ik" is the product of two matrices,
/// "bij,bjk->bik" of two batches, "ii->i" a diagonal, "i,j->ij" an outer product, "ij->" a sum.
///   Before the arrow one term for each tensor, with a letter, a-z or A-Z, for each dim; letters of
///   one name run together, and size 1 broadcasts. What does not stand behind the arrow is summed;
///   without an arrow, what stands once is kept, in alphabetical order. "..." are the dims that no
///   letter names, which broadcast, in front if there is no arrow. Spaces do not count.
/// Tensors are joined from left to right; `path`: pairs of places in the list, which the two leave
/// and at whose end their product goes. One dtype, any but bool. Errors also: Error for an equation
/// that cannot be read. Source: torch.einsum, numpy.einsum.
AMBIT_API Tensor einsum(std::string_view equation, TensorList tensors, IntArrayRef path = {});
/// Sum products over dims_self[i] of self together with dims_other[i] of other, of one size or of
/// size 1; out has the other dims of self, then those of other. No dims: all with all.
AMBIT_API Tensor tensordot(const Tensor& self, const Tensor& other, IntArrayRef dims_self,
                           IntArrayRef dims_other);
/// Replace each element of self by its product with all of other: [.., M_i, ..] and [.., N_i, ..]
/// -> [.., M_i N_i, ..], with dims of size 1 in front of the one with fewer. Dtypes promote.
AMBIT_API Tensor kron(const Tensor& self, const Tensor& other);
/// Compute vector products along dim, of size 3, by default the first one of size 3; the other dims
/// broadcast. One dtype, any but bool. Errors also: ShapeError for different numbers of dims.
AMBIT_API Tensor cross(const Tensor& self, const Tensor& other, std::optional<int64_t> dim = {});
/// Multiply matrices in the order that takes the fewest multiplications: [A,B], [B,C], [C,D] ->
/// [A,D]; of one matrix itself. Source: Cormen et al., Introduction to Algorithms, section 15.2.
AMBIT_API Tensor chain_matmul(TensorList tensors);
/// Do as chain_matmul, of two or more; the first may be a vector as a row, the last one as a
/// column, whose dims the result lacks. Source: torch.linalg.multi_dot.
AMBIT_API Tensor linalg_multi_dot(TensorList tensors);
/// Multiply square matrices [..,M,M] n times with themselves, by squaring; n = 0: the unit matrix;
/// n < 0, floating point only: of the inverse.
AMBIT_API Tensor matrix_power(const Tensor& self, int64_t n);
/// Compute the sum over k of self^k / k! of square matrices [..,M,M]. Floating point. Source: Moler
/// & Van Loan 2003, "Nineteen dubious ways", method 3: scaling, Taylor, squaring.
AMBIT_API Tensor matrix_exp(const Tensor& self);
/// Sum the main diagonal of a matrix: [M,N] -> []; integers give int64. Not for bool.
AMBIT_API Tensor trace(const Tensor& self);
/// Compute the distances of each two points, the p-norms of their differences: x1 [..,P,M], x2
/// [..,R,M] -> [..,P,R], where leading dims broadcast. p >= 0, infinity too. compute_mode: 0 or
/// left out: by the product of matrices for p 2 and P or R above 25, which loses half the digits of
/// small distances; 1: always for p 2; 2: never. Floating point. Gradient: 0 between equal points.
AMBIT_API Tensor cdist(const Tensor& x1, const Tensor& x2, double p = 2,
                       std::optional<int64_t> compute_mode = {});
/// Compute the distances of each two rows of self [N,M], i < j in row-major order: [N (N - 1) / 2].
AMBIT_API Tensor pdist(const Tensor& self, double p = 2);

/// Do as cross, along the last dim where none is given.
AMBIT_API Tensor linalg_cross(const Tensor& self, const Tensor& other, int64_t dim = -1);
/// Do as matmul().
AMBIT_API Tensor linalg_matmul(const Tensor& self, const Tensor& other);
/// Do as matrix_exp().
AMBIT_API Tensor linalg_matrix_exp(const Tensor& self);

namespace linalg {
/// Do as linalg_multi_dot().
inline Tensor multi_dot(TensorList tensors) { return linalg_multi_dot(tensors); }
/// Do as matrix_exp().
inline Tensor matrix_exp(const Tensor& self) { return linalg_matrix_exp(self); }
}  // namespace linalg

}  // namespace ambit
