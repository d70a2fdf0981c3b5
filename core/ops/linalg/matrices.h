// Code shared by matrix functions: checks, conversion to the kernels' [B,M,N], and parts of
// matrices used in formulas.
#pragma once

#include <ambit/tensor.h>

namespace ambit {

/// Return the options of norms and singular values of t: its device and the dtype of its parts.
TensorOptions real_options(const Tensor& t);
/// Return all sizes except the last two.
IntArrayRef batch_of(const Tensor& t);
/// Return `batch` followed by `sizes`.
Dims batch_and(IntArrayRef batch, IntArrayRef sizes);

/// The elements that a function accepts: floating-point numbers, or complex ones as well.
enum class Elements : uint8_t { real, any };
/// Check that t is a matrix of such elements or a batch. Errors: Error, DTypeError, ShapeError.
void expect_matrices(const char* op, const char* argument, const Tensor& t,
                     Elements elements = Elements::real);
/// As above, for square matrices.
void expect_square(const char* op, const char* argument, const Tensor& t,
                   Elements elements = Elements::real);

/// Return t [...,M,N] in the kernels' form, contiguous [B,M,N], unrecorded. Undefined t: unchanged.
Tensor as_batch(const Tensor& t);
/// Return a contiguous t [...,N], or info [...], as [B,N] or [B].
Tensor as_rows(const Tensor& t, size_t dims_of_matrix);

/// Throw LinAlgError "<op>: <text> in matrix 3 of the batch" for the first matrix with non-zero
/// info, which replaces "{}" in `text`. Waits for the device; no check on meta.
void check_info(const char* op, const Tensor& info, const char* text);

/// Check that a loss does not depend on the phases of eigenvectors or singular vectors, which are
/// not unique: `along` are the products of complex vectors' conjugates with their gradients.
/// Errors: AutogradError.
void expect_no_phase(const char* op, const Tensor& along);

/// Return the transpose of each matrix.
Tensor transposed(const Tensor& x);
/// Return x with zeros above diagonal k, or below it, replacing NaN too.
Tensor lower_part(const Tensor& x, int64_t k = 0);
Tensor upper_part(const Tensor& x, int64_t k = 0);
/// Return the main diagonal [...,min(M,N)] of x [...,M,N].
Tensor main_diagonal(const Tensor& x);
/// Return matrices [...,N,N] with v [...,N] on the diagonal and zeros elsewhere.
Tensor diagonal_matrix(const Tensor& v);
/// Return v_j - v_i in row i, column j, and 1 on the diagonal.
Tensor differences(const Tensor& v);
/// Return identity matrices [batch...,N,N], with t's dtype and device.
Tensor identity_like(const Tensor& t, IntArrayRef batch, int64_t n);
/// Return permutation matrices P [...,M,M] from lu_factor's pivots [...,K]: A = P L U.
Tensor permutation(const Tensor& pivots, int64_t m, DType dtype);

}  // namespace ambit
