// Linear algebra: factorisations, systems of equations, determinants, norms of matrices. Operands
// are matrices, or batches of them: any dims before the last two, which broadcast where there are
// two operands. float32 and float64; where nothing else is said the result has their dtype.
// Errors of all: ShapeError, DTypeError, DeviceMismatchError; Error for an undefined tensor;
// LinAlgError, with the number of the matrix, where numbers have no answer: a singular matrix, one
// that is not positive definite. It is thrown when the device has done the work, so that
// these functions wait for it; those that end in _ex do not and return `info`, int32 [...],
// instead: 0 where all went well. Gradients are PyTorch's. The namespace linalg, at the end, has
// the same under libtorch's short names: linalg::inv.
#pragma once

#include <ambit/tensor.h>

#include <optional>
#include <string_view>
#include <tuple>

namespace ambit {

// --- systems of equations
/// Invert square matrices: A [...,N,N] -> [...,N,N], A x out = 1. Gradient: A.
AMBIT_API Tensor linalg_inv(const Tensor& A);
/// The same as (inverse, info): info i > 0 where element (i, i) of the LU factor U is 0.
/// Errors also: LinAlgError with check_errors.
AMBIT_API std::tuple<Tensor, Tensor> linalg_inv_ex(const Tensor& A, bool check_errors = false);
/// Invert square matrices: linalg_inv().
AMBIT_API Tensor inverse(const Tensor& self);
/// Solve A x out = B, where not left out x A = B, by LU factors. A [...,N,N], B [...,N,K] (not
/// left:
/// [...,K,N]) or, as a column per matrix, [...,N]: a B of one dim, or of A's batch and one dim.
/// Gradient: A, B.
AMBIT_API Tensor linalg_solve(const Tensor& A, const Tensor& B, bool left = true);
/// The same as (solution, info).
AMBIT_API std::tuple<Tensor, Tensor> linalg_solve_ex(const Tensor& A, const Tensor& B,
                                                     bool left = true, bool check_errors = false);
/// Solve self x out = B (not left: out x self = B) for triangular self [...,N,N], of which the
/// other triangle is not read, nor, if unitriangular, the diagonal. B [...,N,K]. A zero on the
/// diagonal gives inf or NaN, no error. Gradient: self (of the triangle), B.
AMBIT_API Tensor linalg_solve_triangular(const Tensor& self, const Tensor& B, bool upper,
                                         bool left = true, bool unitriangular = false);
/// Solve A x out = self for triangular A, or A^T x out = self: (solution, a copy of A), as
/// libtorch.
AMBIT_API std::tuple<Tensor, Tensor> triangular_solve(const Tensor& self, const Tensor& A,
                                                      bool upper = true, bool transpose = false,
                                                      bool unitriangular = false);
/// Find X [...,N,K] where ||self X - B|| is least; self [...,M,N], B [...,M,K] or [...,M].
/// driver "gelsy" (the default), "gelsd", "gelss": by singular values, of which those up to
/// rcond times the largest (the dtype's epsilon times max(M, N) where it is not given) count as 0,
/// and X is the smallest of all; "gels": by QR, for matrices of full rank.
/// Return (X, residuals [...,K]: sums of squares of self X - B where M > N and all have full rank,
/// else [0]; rank int64 [...], [0] for gels; singular values [...,min(M,N)], [0] for gels and
/// gelsy). Gradient: self, B, for full rank.
AMBIT_API std::tuple<Tensor, Tensor, Tensor, Tensor> linalg_lstsq(
    const Tensor& self, const Tensor& b, std::optional<double> rcond = {},
    std::optional<std::string_view> driver = {});
/// Compute the Moore-Penrose inverse [...,N,M] of self [...,M,N] by singular values (hermitian: by
/// eigenvalues), without those that are at most max(atol, rtol * the largest). atol is 0 where it
/// is not given; rtol is the dtype's epsilon times max(M, N) if neither is, else 0. As tensors they
/// broadcast to the batch. Gradient: self.
AMBIT_API Tensor linalg_pinv(const Tensor& self, std::optional<double> atol,
                             std::optional<double> rtol, bool hermitian = false);
AMBIT_API Tensor linalg_pinv(const Tensor& self, double rcond, bool hermitian = false);
AMBIT_API Tensor linalg_pinv(const Tensor& self, const std::optional<Tensor>& atol = {},
                             const std::optional<Tensor>& rtol = {}, bool hermitian = false);
AMBIT_API Tensor linalg_pinv(const Tensor& self, const Tensor& rcond, bool hermitian = false);
/// The same with rtol = rcond.
AMBIT_API Tensor pinverse(const Tensor& self, double rcond = 1e-15);
/// Solve for out by `dims`-tensors: self [*B.sizes, *out.sizes] -> out, such that tensordot(self,
/// out, out.dim()) = B. `dims` of self are moved to its end first. Gradient: self, B.
AMBIT_API Tensor linalg_tensorsolve(const Tensor& self, const Tensor& other,
                                    OptionalIntArrayRef dims = {});
/// Invert self as the matrix [product of its first `ind` sizes, product of the others].
AMBIT_API Tensor linalg_tensorinv(const Tensor& self, int64_t ind = 2);
/// Raise square matrices to the power n; negative n: of their inverses; 0: the identity.
AMBIT_API Tensor linalg_matrix_power(const Tensor& self, int64_t n);

// --- determinants
/// Compute determinants: A [...,N,N] -> [...]; 1 of a 0x0 matrix. Gradient: A; of a singular matrix
/// it is right where its rank is N - 1 and NaN-free where it is less, as PyTorch's.
AMBIT_API Tensor linalg_det(const Tensor& A);
AMBIT_API Tensor det(const Tensor& self);
/// Compute (sign, log |det|), [...] each; singular: (0, -inf). Gradient: A, through the logarithm.
AMBIT_API std::tuple<Tensor, Tensor> linalg_slogdet(const Tensor& A);
AMBIT_API std::tuple<Tensor, Tensor> slogdet(const Tensor& self);
/// Compute the logarithm of determinants, NaN of negative ones, -inf of 0. Gradient: self.
AMBIT_API Tensor logdet(const Tensor& self);

// --- factorisations
/// Factor A [...,M,N] = P L U with partial pivoting: (LU [...,M,N], which holds U and, below its
/// diagonal, L without its unit diagonal; pivots int32 [...,min(M,N)], counted from 1: row i was
/// exchanged with row pivots[i] in turn). Gradient: A.
/// Errors also: NotImplementedError for pivot = false.
AMBIT_API std::tuple<Tensor, Tensor> linalg_lu_factor(const Tensor& A, bool pivot = true);
/// The same and info: i > 0 where element (i, i) of U is 0.
AMBIT_API std::tuple<Tensor, Tensor, Tensor> linalg_lu_factor_ex(const Tensor& A, bool pivot = true,
                                                                 bool check_errors = false);
/// Factor A = P L U: (P [...,M,M], L [...,M,K], U [...,K,N]), K = min(M, N). Gradient: A.
AMBIT_API std::tuple<Tensor, Tensor, Tensor> linalg_lu(const Tensor& A, bool pivot = true);
/// Make (P, L, U) of what linalg_lu_factor returned; what is not asked for has no elements. Errors
/// also: IndexError for pivots that are none. Gradient: LU_data.
AMBIT_API std::tuple<Tensor, Tensor, Tensor> lu_unpack(const Tensor& LU_data,
                                                       const Tensor& LU_pivots,
                                                       bool unpack_data = true,
                                                       bool unpack_pivots = true);
/// Solve A x out = B, where not left out x A = B, adjoint: with A^T, by A's factors of
/// linalg_lu_factor. B [...,N,K]. Errors also: IndexError for pivots that are none.
/// Gradient: LU, B.
AMBIT_API Tensor linalg_lu_solve(const Tensor& LU, const Tensor& pivots, const Tensor& B,
                                 bool left = true, bool adjoint = false);
AMBIT_API Tensor lu_solve(const Tensor& self, const Tensor& LU_data, const Tensor& LU_pivots);
/// Factor symmetric positive definite A = L L^T, L lower triangular, or upper: A = U^T U. Only one
/// triangle of A is read. Gradient: A, symmetric.
AMBIT_API Tensor linalg_cholesky(const Tensor& self, bool upper = false);
/// The same and info: i > 0 where the leading minor of order i is not positive.
AMBIT_API std::tuple<Tensor, Tensor> linalg_cholesky_ex(const Tensor& self, bool upper = false,
                                                        bool check_errors = false);
AMBIT_API Tensor cholesky(const Tensor& self, bool upper = false);
/// Compute the inverse of A from its Cholesky factor self.
AMBIT_API Tensor cholesky_inverse(const Tensor& self, bool upper = false);
/// Solve A x out = self [...,N,K] by A's Cholesky factor input2 [...,N,N].
AMBIT_API Tensor cholesky_solve(const Tensor& self, const Tensor& input2, bool upper = false);
/// Factor symmetric A [...,N,N] = P L D L^T P^T, of which the lower triangle is read: (LD
/// [...,N,N], the lower triangle of L without its unit diagonal, and D, whose blocks have one or
/// two rows; pivots int32 [...,N], counted from 1, LAPACK's of sytrf: negative and twice where D's
/// block has two rows). `hermitian` is of complex matrices. On the host, wherever A is. Gradient:
/// none; NotImplementedError in a backward. Source: Bunch & Kaufman 1977, Math. Comp. 31:163-179.
AMBIT_API std::tuple<Tensor, Tensor> linalg_ldl_factor(const Tensor& self, bool hermitian = false);
/// The same and info: i > 0 where block i of D is 0.
AMBIT_API std::tuple<Tensor, Tensor, Tensor> linalg_ldl_factor_ex(const Tensor& self,
                                                                  bool hermitian = false,
                                                                  bool check_errors = false);
/// Solve A x out = B by A's factors of linalg_ldl_factor: B [...,N,K], whose batch broadcasts with
/// theirs. Errors also: IndexError for pivots that are none. Gradient: B alone.
AMBIT_API Tensor linalg_ldl_solve(const Tensor& LD, const Tensor& pivots, const Tensor& B,
                                  bool hermitian = false);
/// Factor A [...,M,N] = Q R, Q's columns orthonormal, R upper triangular. mode "reduced": Q
/// [...,M,K], R [...,K,N], K = min(M, N); "complete": [...,M,M], [...,M,N]; "r": R of "reduced" and
/// an empty Q, without gradient. By Householder reflections, so that R's diagonal may be negative.
/// Gradient: A, where M >= N in "reduced", M <= N in both. Errors also: AutogradError in backward
/// of others.
AMBIT_API std::tuple<Tensor, Tensor> linalg_qr(const Tensor& A, std::string_view mode = "reduced");
AMBIT_API std::tuple<Tensor, Tensor> qr(const Tensor& self, bool some = true);
/// Factor A [...,M,N] = Q R by Householder's reflections: (a [...,M,N], R and below its diagonal
/// the vectors of the reflections without their first elements, which are 1; tau [...,min(M,N)],
/// their factors), LAPACK's, of which orgqr() and ormqr() make Q. Gradient: none;
/// NotImplementedError in a backward.
AMBIT_API std::tuple<Tensor, Tensor> geqrf(const Tensor& self);
/// Multiply the reflections 1 - tau v v^T of input [...,M,N], M >= N, and tau [...,K], K <= N, as
/// geqrf() makes them: the first N columns of their product [...,M,N]. Gradient: input, tau.
AMBIT_API Tensor linalg_householder_product(const Tensor& input, const Tensor& tau);
AMBIT_API Tensor orgqr(const Tensor& self, const Tensor& input2);
/// Multiply input3 by the product Q [...,M,M] of the reflections of self [...,M,N] and input2
/// [...,K]: Q input3 [...,M,P], or transposed Q^T input3; not left: input3 [...,P,M] Q. Gradient:
/// all.
AMBIT_API Tensor ormqr(const Tensor& self, const Tensor& input2, const Tensor& input3,
                       bool left = true, bool transpose = false);
/// Factor symmetric A = V diag(L) V^T: (eigenvalues L [...,N], ascending; eigenvectors V [...,N,N],
/// its columns). UPLO "L" or "U": which triangle is read. Gradient: A, symmetric; of V only where
/// no two eigenvalues are equal. NaN of numbers that are not finite. Errors also: LinAlgError where
/// it did not converge.
AMBIT_API std::tuple<Tensor, Tensor> linalg_eigh(const Tensor& self, std::string_view UPLO = "L");
/// The eigenvalues alone.
AMBIT_API Tensor linalg_eigvalsh(const Tensor& self, std::string_view UPLO = "L");
/// Factor A [...,M,N] = U diag(S) Vh: (U [...,M,M], S [...,K], descending, Vh [...,N,N]), K =
/// min(M, N); not full_matrices: U [...,M,K], Vh [...,K,N]. The driver is LAPACK's gesdd whatever
/// is named. Gradient: A, of U and Vh only for reduced ones and where no two singular values are
/// equal. Errors also: LinAlgError where it did not converge.
AMBIT_API std::tuple<Tensor, Tensor, Tensor> linalg_svd(
    const Tensor& A, bool full_matrices = true, std::optional<std::string_view> driver = {});
/// The singular values alone. Gradient: A.
AMBIT_API Tensor linalg_svdvals(const Tensor& A, std::optional<std::string_view> driver = {});
/// (U, S, V), with V [...,N,K], not Vh; not some: full; not compute_uv: U, V of zeros.
AMBIT_API std::tuple<Tensor, Tensor, Tensor> svd(const Tensor& self, bool some = true,
                                                 bool compute_uv = true);

// --- norms and what singular values tell
/// Compute the norm of vectors over `dim`, or over all elements: as norm() of reduce.h, in dtype if
/// given. Errors also: ShapeError for +-inf over no elements. Gradient: self.
AMBIT_API Tensor linalg_vector_norm(const Tensor& self, const Scalar& ord = 2,
                                    OptionalIntArrayRef dim = {}, bool keepdim = false,
                                    std::optional<DType> dtype = {});
/// Compute the norm of the matrices of two dims. ord "fro": root of the sum of squares; "nuc": sum
/// of the singular values; inf, -inf: largest, smallest sum of |x| of a row; 1, -1: of a column; 2,
/// -2: largest, smallest singular value. Gradient: self.
AMBIT_API Tensor linalg_matrix_norm(const Tensor& self, const Scalar& ord,
                                    IntArrayRef dim = {-2, -1}, bool keepdim = false,
                                    std::optional<DType> dtype = {});
AMBIT_API Tensor linalg_matrix_norm(const Tensor& self, std::string_view ord = "fro",
                                    IntArrayRef dim = {-2, -1}, bool keepdim = false,
                                    std::optional<DType> dtype = {});
/// Compute linalg_vector_norm where no ord is given or dim has one entry (or self one dim), else
/// linalg_matrix_norm.
AMBIT_API Tensor linalg_norm(const Tensor& self, const std::optional<Scalar>& ord = {},
                             OptionalIntArrayRef dim = {}, bool keepdim = false,
                             std::optional<DType> dtype = {});
AMBIT_API Tensor linalg_norm(const Tensor& self, std::string_view ord, OptionalIntArrayRef dim = {},
                             bool keepdim = false, std::optional<DType> dtype = {});
/// Compute the condition number ||A|| ||A^-1|| in the norm p of linalg_matrix_norm, 2 where it is
/// not given; inf of singular square matrices. Gradient: self.
AMBIT_API Tensor linalg_cond(const Tensor& self, const std::optional<Scalar>& p = {});
AMBIT_API Tensor linalg_cond(const Tensor& self, std::string_view p);
/// Count the singular values (hermitian: the |eigenvalues|) above max(atol, rtol * the largest),
/// as linalg_pinv has them: int64 [...]. No gradient.
AMBIT_API Tensor linalg_matrix_rank(const Tensor& self, std::optional<double> atol,
                                    std::optional<double> rtol, bool hermitian = false);
AMBIT_API Tensor linalg_matrix_rank(const Tensor& self, double tol, bool hermitian = false);
AMBIT_API Tensor linalg_matrix_rank(const Tensor& self, const std::optional<Tensor>& atol = {},
                                    const std::optional<Tensor>& rtol = {}, bool hermitian = false);
AMBIT_API Tensor linalg_matrix_rank(const Tensor& self, const Tensor& tol, bool hermitian = false);
/// Sum x * y over dim; they broadcast. Gradient: x, y.
AMBIT_API Tensor linalg_vecdot(const Tensor& x, const Tensor& y, int64_t dim = -1);

namespace linalg {
inline Tensor inv(const Tensor& A) { return linalg_inv(A); }
inline std::tuple<Tensor, Tensor> inv_ex(const Tensor& A, bool check_errors = false) {
  return linalg_inv_ex(A, check_errors);
}
inline Tensor solve(const Tensor& A, const Tensor& B, bool left = true) {
  return linalg_solve(A, B, left);
}
inline std::tuple<Tensor, Tensor> solve_ex(const Tensor& A, const Tensor& B, bool left = true,
                                           bool check_errors = false) {
  return linalg_solve_ex(A, B, left, check_errors);
}
inline Tensor solve_triangular(const Tensor& A, const Tensor& B, bool upper, bool left = true,
                               bool unitriangular = false) {
  return linalg_solve_triangular(A, B, upper, left, unitriangular);
}
inline std::tuple<Tensor, Tensor, Tensor, Tensor> lstsq(
    const Tensor& A, const Tensor& B, std::optional<double> rcond = {},
    std::optional<std::string_view> driver = {}) {
  return linalg_lstsq(A, B, rcond, driver);
}
/// As libtorch's: rcond is 1e-15 here, not the default of linalg_pinv.
inline Tensor pinv(const Tensor& A, double rcond = 1e-15, bool hermitian = false) {
  return linalg_pinv(A, rcond, hermitian);
}
inline Tensor tensorsolve(const Tensor& A, const Tensor& B, OptionalIntArrayRef dims = {}) {
  return linalg_tensorsolve(A, B, dims);
}
inline Tensor tensorinv(const Tensor& A, int64_t ind = 2) { return linalg_tensorinv(A, ind); }
inline Tensor matrix_power(const Tensor& A, int64_t n) { return linalg_matrix_power(A, n); }
inline Tensor det(const Tensor& A) { return linalg_det(A); }
inline std::tuple<Tensor, Tensor> slogdet(const Tensor& A) { return linalg_slogdet(A); }
inline std::tuple<Tensor, Tensor> lu_factor(const Tensor& A, bool pivot = true) {
  return linalg_lu_factor(A, pivot);
}
inline std::tuple<Tensor, Tensor, Tensor> lu_factor_ex(const Tensor& A, bool pivot = true,
                                                       bool check_errors = false) {
  return linalg_lu_factor_ex(A, pivot, check_errors);
}
inline std::tuple<Tensor, Tensor, Tensor> lu(const Tensor& A, bool pivot = true) {
  return linalg_lu(A, pivot);
}
inline Tensor lu_solve(const Tensor& LU, const Tensor& pivots, const Tensor& B, bool left = true,
                       bool adjoint = false) {
  return linalg_lu_solve(LU, pivots, B, left, adjoint);
}
inline Tensor cholesky(const Tensor& A, bool upper = false) { return linalg_cholesky(A, upper); }
inline std::tuple<Tensor, Tensor> cholesky_ex(const Tensor& A, bool upper = false,
                                              bool check_errors = false) {
  return linalg_cholesky_ex(A, upper, check_errors);
}
inline std::tuple<Tensor, Tensor> ldl_factor(const Tensor& A, bool hermitian = false) {
  return linalg_ldl_factor(A, hermitian);
}
inline std::tuple<Tensor, Tensor, Tensor> ldl_factor_ex(const Tensor& A, bool hermitian = false,
                                                        bool check_errors = false) {
  return linalg_ldl_factor_ex(A, hermitian, check_errors);
}
inline Tensor ldl_solve(const Tensor& LD, const Tensor& pivots, const Tensor& B,
                        bool hermitian = false) {
  return linalg_ldl_solve(LD, pivots, B, hermitian);
}
inline std::tuple<Tensor, Tensor> qr(const Tensor& A, std::string_view mode = "reduced") {
  return linalg_qr(A, mode);
}
inline Tensor householder_product(const Tensor& A, const Tensor& tau) {
  return linalg_householder_product(A, tau);
}
inline std::tuple<Tensor, Tensor> eigh(const Tensor& A, std::string_view uplo = "L") {
  return linalg_eigh(A, uplo);
}
inline Tensor eigvalsh(const Tensor& A, std::string_view uplo = "L") {
  return linalg_eigvalsh(A, uplo);
}
inline std::tuple<Tensor, Tensor, Tensor> svd(const Tensor& A, bool full_matrices = true,
                                              std::optional<std::string_view> driver = {}) {
  return linalg_svd(A, full_matrices, driver);
}
inline Tensor svdvals(const Tensor& A, std::optional<std::string_view> driver = {}) {
  return linalg_svdvals(A, driver);
}
inline Tensor vector_norm(const Tensor& A, const Scalar& ord = 2, OptionalIntArrayRef dim = {},
                          bool keepdim = false, std::optional<DType> dtype = {}) {
  return linalg_vector_norm(A, ord, dim, keepdim, dtype);
}
inline Tensor matrix_norm(const Tensor& A, const Scalar& ord, IntArrayRef dim = {-2, -1},
                          bool keepdim = false, std::optional<DType> dtype = {}) {
  return linalg_matrix_norm(A, ord, dim, keepdim, dtype);
}
inline Tensor matrix_norm(const Tensor& A, std::string_view ord = "fro", IntArrayRef dim = {-2, -1},
                          bool keepdim = false, std::optional<DType> dtype = {}) {
  return linalg_matrix_norm(A, ord, dim, keepdim, dtype);
}
inline Tensor norm(const Tensor& A, const std::optional<Scalar>& ord = {},
                   OptionalIntArrayRef dim = {}, bool keepdim = false,
                   std::optional<DType> dtype = {}) {
  return linalg_norm(A, ord, dim, keepdim, dtype);
}
inline Tensor norm(const Tensor& A, std::string_view ord, OptionalIntArrayRef dim = {},
                   bool keepdim = false, std::optional<DType> dtype = {}) {
  return linalg_norm(A, ord, dim, keepdim, dtype);
}
inline Tensor cond(const Tensor& A, const std::optional<Scalar>& p = {}) {
  return linalg_cond(A, p);
}
inline Tensor cond(const Tensor& A, std::string_view p) { return linalg_cond(A, p); }
inline Tensor matrix_rank(const Tensor& A, double tol, bool hermitian = false) {
  return linalg_matrix_rank(A, tol, hermitian);
}
inline Tensor matrix_rank(const Tensor& A, const Tensor& tol, bool hermitian = false) {
  return linalg_matrix_rank(A, tol, hermitian);
}
inline Tensor matrix_rank(const Tensor& A, std::optional<double> atol, std::optional<double> rtol,
                          bool hermitian = false) {
  return linalg_matrix_rank(A, atol, rtol, hermitian);
}
inline Tensor matrix_rank(const Tensor& A, const std::optional<Tensor>& atol = {},
                          const std::optional<Tensor>& rtol = {}, bool hermitian = false) {
  return linalg_matrix_rank(A, atol, rtol, hermitian);
}
inline Tensor vecdot(const Tensor& x, const Tensor& y, int64_t dim = -1) {
  return linalg_vecdot(x, y, dim);
}
}  // namespace linalg

/// linalg_eigh() under its old name, of the upper triangle unless told otherwise; without
/// eigenvectors linalg_eigvalsh() and an empty tensor.
AMBIT_API std::tuple<Tensor, Tensor> symeig(const Tensor& self, bool eigenvectors = false,
                                            bool upper = true);

}  // namespace ambit
