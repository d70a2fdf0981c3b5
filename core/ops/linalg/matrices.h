// What the functions of matrices share: checks, the way to kernels, which take [B,M,N], and the
// parts of matrices that formulas are written with.
#pragma once

#include <ambit/tensor.h>

namespace ambit {

/// Return all sizes but the last two.
IntArrayRef batch_of(const Tensor& t);
/// Return them followed by others.
Dims batch_and(IntArrayRef batch, IntArrayRef sizes);

/// Check that t is a matrix, or a batch of them, of floats. Errors: Error, DTypeError, ShapeError.
void expect_matrices(const char* op, const char* argument, const Tensor& t);
/// The same for square ones.
void expect_square(const char* op, const char* argument, const Tensor& t);

/// Return t [...,M,N] as a kernel wants it, contiguous [B,M,N], outside the graph. An undefined t
/// stays so.
Tensor as_batch(const Tensor& t);
/// Return a contiguous t [...,N], or info [...], as [B,N] or [B].
Tensor as_rows(const Tensor& t, size_t dims_of_matrix);

/// Throw LinAlgError "<op>: <text> in matrix 3 of the batch" for the first matrix whose info is not
/// 0, "{}" in `text` being that info. Waits for the device; nothing to check on meta.
void check_info(const char* op, const Tensor& info, const char* text);

/// x^T of each matrix.
Tensor transposed(const Tensor& x);
/// x with zeros above diagonal k, or below it; NaN there vanish, too.
Tensor lower_part(const Tensor& x, int64_t k = 0);
Tensor upper_part(const Tensor& x, int64_t k = 0);
/// The main diagonal [...,min(M,N)] of x [...,M,N].
Tensor main_diagonal(const Tensor& x);
/// Matrices [...,N,N] of zeros with v [...,N] on the diagonal.
Tensor diagonal_matrix(const Tensor& v);
/// Identity matrices [batch...,N,N], of t's dtype on its device.
Tensor identity_like(const Tensor& t, IntArrayRef batch, int64_t n);
/// Permutation matrices P [...,M,M] of pivots [...,K] as lu_factor makes them: A = P L U.
Tensor permutation(const Tensor& pivots, int64_t m, DType dtype);

}  // namespace ambit
