// Linear algebra: factorisations, linear systems, determinants, matrix norms. Operands are matrices
// or batches of them: leading dims before the last two, which broadcast between two operands.
// float32, float64, complex64 and complex128; results have the same dtype unless noted, but norms,
// singular values and eigenvalues of symmetric matrices are real. For complex matrices, "symmetric"
// means Hermitian, "orthonormal" unitary, and Q^T, V^T the conjugate transpose. Errors of all:
// ShapeError, DTypeError, DeviceMismatchError; Error for an undefined tensor; LinAlgError with the
// index of the matrix for numerical failures: a singular matrix, one that is not positive definite.
// These functions wait for the device to detect them; variants ending in _ex do not, and return
// `info`, int32 [...], instead: 0 on success. Gradients are PyTorch's. The namespace linalg, at the
// end, has the same functions under libtorch's short names: linalg::inv.
#pragma once

#include <ambit/tensor.h>

#include <optional>
#include <string_view>
#include <tuple>

namespace ambit {

// --- linear systems
/// Compute inverses of square matrices: A [...,N,N] -> [...,N,N]. Gradient: A.
AMBIT_API Tensor linalg_inv(const Tensor& A);
/// As above; return also info: i > 0 if element (i, i) of the LU factor U is 0. Errors: also
/// LinAlgError with check_errors.
AMBIT_API std::tuple<Tensor, Tensor> linalg_inv_ex(const Tensor& A, bool check_errors = false);
/// Alias of linalg_inv.
AMBIT_API Tensor inverse(const Tensor& self);
/// Solve A x out = B (left = false: out x A = B) by LU factorisation. A [...,N,N]; B [...,N,K]
/// (left = false: [...,K,N]), or vectors [...,N]: B with one dim, or with A's batch dims and one
/// more. Gradient: A, B.
AMBIT_API Tensor linalg_solve(const Tensor& A, const Tensor& B, bool left = true);
/// As above; return also info: i > 0 if element (i, i) of the LU factor U of A is 0. Errors: also
/// LinAlgError with check_errors.
AMBIT_API std::tuple<Tensor, Tensor> linalg_solve_ex(const Tensor& A, const Tensor& B,
                                                     bool left = true, bool check_errors = false);
/// Solve self x out = B (left = false: out x self = B) for triangular self [...,N,N]; the other
/// triangle is not read, nor, if unitriangular, the diagonal. B [...,N,K]. A zero on the diagonal
/// gives inf or NaN, not an error. Gradient: self (its triangle), B.
AMBIT_API Tensor linalg_solve_triangular(const Tensor& self, const Tensor& B, bool upper,
                                         bool left = true, bool unitriangular = false);
/// Solve A x out = self for triangular A, or A^T x out = self: (solution, a copy of A), like
/// libtorch.
AMBIT_API std::tuple<Tensor, Tensor> triangular_solve(const Tensor& self, const Tensor& A,
                                                      bool upper = true, bool transpose = false,
                                                      bool unitriangular = false);
/// Find the least-squares solution X [...,N,K] that minimises ||self X - B||; self [...,M,N], B
/// [...,M,K] or [...,M]. driver "gelsy" (the default), "gelsd", "gelss": by singular values, where
/// those up to rcond (default: the dtype's epsilon times max(M, N)) times the largest count as 0,
/// and X has minimum norm; "gels": by QR, for matrices of full rank. Return (X, residuals [...,K]:
/// sums of squares of self X - B if M > N and all have full rank, else [0]; rank int64 [...], [0]
/// for gels; singular values [...,min(M,N)], [0] for gels and gelsy). Gradient: self, B, for full
/// rank.
AMBIT_API std::tuple<Tensor, Tensor, Tensor, Tensor> linalg_lstsq(
    const Tensor& self, const Tensor& b, std::optional<double> rcond = {},
    std::optional<std::string_view> driver = {});
/// Compute the Moore-Penrose inverse [...,N,M] of self [...,M,N] by singular values (hermitian: by
/// eigenvalues), without those at most max(atol, rtol * the largest). Default atol: 0; default
/// rtol: the dtype's epsilon times max(M, N) if atol is not given, else 0. Tensors broadcast to the
/// batch. Gradient: self.
/// @{
AMBIT_API Tensor linalg_pinv(const Tensor& self, std::optional<double> atol,
                             std::optional<double> rtol, bool hermitian = false);
AMBIT_API Tensor linalg_pinv(const Tensor& self, double rcond, bool hermitian = false);
AMBIT_API Tensor linalg_pinv(const Tensor& self, const std::optional<Tensor>& atol = {},
                             const std::optional<Tensor>& rtol = {}, bool hermitian = false);
AMBIT_API Tensor linalg_pinv(const Tensor& self, const Tensor& rcond, bool hermitian = false);
/// @}
/// Same as linalg_pinv with rtol = rcond.
AMBIT_API Tensor pinverse(const Tensor& self, double rcond = 1e-15);
/// Solve tensordot(self, out, out.dim()) = B for out, where self has sizes [*B.sizes, *out.sizes]
/// after its `dims` are moved to the end. Gradient: self, B.
AMBIT_API Tensor linalg_tensorsolve(const Tensor& self, const Tensor& other,
                                    OptionalIntArrayRef dims = {});
/// Invert self as a matrix [product of its first `ind` sizes, product of the others].
AMBIT_API Tensor linalg_tensorinv(const Tensor& self, int64_t ind = 2);
/// Raise square matrices to the power n; n < 0: powers of their inverses; 0: the identity.
AMBIT_API Tensor linalg_matrix_power(const Tensor& self, int64_t n);

// --- determinants
/// Compute determinants: A [...,N,N] -> [...]; 1 for a 0x0 matrix. Gradient: A; for a singular
/// matrix correct if its rank is N - 1 and without NaN if it is lower, as in PyTorch.
AMBIT_API Tensor linalg_det(const Tensor& A);
/// Alias of linalg_det.
AMBIT_API Tensor det(const Tensor& self);
/// Compute (sign, log |det|), [...] each; singular: (0, -inf). Gradient: A, through the logarithm.
AMBIT_API std::tuple<Tensor, Tensor> linalg_slogdet(const Tensor& A);
/// Alias of linalg_slogdet.
AMBIT_API std::tuple<Tensor, Tensor> slogdet(const Tensor& self);
/// Compute the logarithm of determinants; NaN for negative ones, -inf for 0. Gradient: self.
AMBIT_API Tensor logdet(const Tensor& self);

// --- factorisations
/// Factor A [...,M,N] = P L U with partial pivoting: (LU [...,M,N], containing U and, below its
/// diagonal, L without its unit diagonal; pivots int32 [...,min(M,N)], from 1: rows i and pivots[i]
/// were exchanged, in order of i). Gradient: A. Errors: also NotImplementedError for pivot = false.
AMBIT_API std::tuple<Tensor, Tensor> linalg_lu_factor(const Tensor& A, bool pivot = true);
/// As above; return also info: i > 0 if element (i, i) of U is 0.
AMBIT_API std::tuple<Tensor, Tensor, Tensor> linalg_lu_factor_ex(const Tensor& A, bool pivot = true,
                                                                 bool check_errors = false);
/// Factor A = P L U: (P [...,M,M], L [...,M,K], U [...,K,N]), K = min(M, N). Gradient: A.
AMBIT_API std::tuple<Tensor, Tensor, Tensor> linalg_lu(const Tensor& A, bool pivot = true);
/// Return (P, L, U) from the result of linalg_lu_factor; parts not requested are empty. Errors:
/// also IndexError for invalid pivots. Gradient: LU_data.
AMBIT_API std::tuple<Tensor, Tensor, Tensor> lu_unpack(const Tensor& LU_data,
                                                       const Tensor& LU_pivots,
                                                       bool unpack_data = true,
                                                       bool unpack_pivots = true);
/// Solve A x out = B (left = false: out x A = B; adjoint: with A^T) from A's linalg_lu_factor. B
/// [...,N,K]. Errors: also IndexError for invalid pivots. Gradient: LU, B.
AMBIT_API Tensor linalg_lu_solve(const Tensor& LU, const Tensor& pivots, const Tensor& B,
                                 bool left = true, bool adjoint = false);
/// Same as linalg_lu_solve(LU_data, LU_pivots, self).
AMBIT_API Tensor lu_solve(const Tensor& self, const Tensor& LU_data, const Tensor& LU_pivots);
/// Factor symmetric positive definite A = L L^T, L lower triangular; upper: A = U^T U. Only one
/// triangle of A is read. Gradient: A, symmetric.
AMBIT_API Tensor linalg_cholesky(const Tensor& self, bool upper = false);
/// As above; return also info: i > 0 if the leading minor of order i is not positive.
AMBIT_API std::tuple<Tensor, Tensor> linalg_cholesky_ex(const Tensor& self, bool upper = false,
                                                        bool check_errors = false);
/// Alias of linalg_cholesky.
AMBIT_API Tensor cholesky(const Tensor& self, bool upper = false);
/// Compute the inverse of A from its Cholesky factor self.
AMBIT_API Tensor cholesky_inverse(const Tensor& self, bool upper = false);
/// Solve A x out = self [...,N,K] from A's Cholesky factor input2 [...,N,N].
AMBIT_API Tensor cholesky_solve(const Tensor& self, const Tensor& input2, bool upper = false);
/// Factor symmetric A [...,N,N] = P L D L^T P^T, reading its lower triangle: (LD [...,N,N], the
/// lower triangle of L without its unit diagonal, and D, whose blocks have one or two rows; pivots
/// int32 [...,N], from 1, as in LAPACK's sytrf: negative and repeated for a block of two rows).
/// Real matrices only; `hermitian` has no effect. Runs on the host for any device. Gradient: none;
/// backward throws NotImplementedError. Source: Bunch & Kaufman 1977, Math. Comp. 31:163-179.
AMBIT_API std::tuple<Tensor, Tensor> linalg_ldl_factor(const Tensor& self, bool hermitian = false);
/// As above; return also info: i > 0 if block i of D is 0.
AMBIT_API std::tuple<Tensor, Tensor, Tensor> linalg_ldl_factor_ex(const Tensor& self,
                                                                  bool hermitian = false,
                                                                  bool check_errors = false);
/// Solve A x out = B from A's linalg_ldl_factor: B [...,N,K], whose batch broadcasts with theirs.
/// Errors: also IndexError for invalid pivots. Gradient: B only.
AMBIT_API Tensor linalg_ldl_solve(const Tensor& LD, const Tensor& pivots, const Tensor& B,
                                  bool hermitian = false);
/// Factor A [...,M,N] = Q R with orthonormal columns of Q and upper triangular R. mode "reduced": Q
/// [...,M,K], R [...,K,N], K = min(M, N); "complete": [...,M,M], [...,M,N]; "r": R of "reduced" and
/// an empty Q, without gradient. By Householder reflections, so R's diagonal may be negative.
/// Gradient: A, for M >= N in "reduced", M <= N in both. Errors: also AutogradError in backward
/// otherwise.
AMBIT_API std::tuple<Tensor, Tensor> linalg_qr(const Tensor& A, std::string_view mode = "reduced");
/// Same as linalg_qr in the mode "reduced", or "complete" if not `some`.
AMBIT_API std::tuple<Tensor, Tensor> qr(const Tensor& self, bool some = true);
/// Factor A [...,M,N] = Q R by Householder reflections, in LAPACK's format: a [...,M,N] has R in
/// its upper triangle and below the diagonal the vectors v of the reflections, without their first
/// elements, which are 1; tau [...,min(M,N)] has their factors. orgqr() and ormqr() accept both
/// instead of Q. Gradient: none; backward throws NotImplementedError.
AMBIT_API std::tuple<Tensor, Tensor> geqrf(const Tensor& self);
/// Compute the first N columns [...,M,N] of the product of the reflections I - tau v v^T in
/// geqrf()'s format: input [...,M,N], M >= N, and tau [...,K], K <= N. Gradient: input, tau.
AMBIT_API Tensor linalg_householder_product(const Tensor& input, const Tensor& tau);
/// Alias of linalg_householder_product(self, input2).
AMBIT_API Tensor orgqr(const Tensor& self, const Tensor& input2);
/// Multiply input3 by the product Q [...,M,M] of the reflections of self [...,M,N] and input2
/// [...,K]: Q input3 [...,M,P]; transposed: Q^T input3; left = false: input3 [...,P,M] Q. Gradient:
/// all.
AMBIT_API Tensor ormqr(const Tensor& self, const Tensor& input2, const Tensor& input3,
                       bool left = true, bool transpose = false);
/// Factor symmetric A = V diag(L) V^T: (eigenvalues L [...,N], ascending; eigenvectors V [...,N,N]
/// in columns). UPLO "L" or "U": the triangle that is read. Gradient: A, symmetric; through V only
/// if no two eigenvalues are equal. NaN for matrices that are not finite. Errors: also LinAlgError
/// if it does not converge.
AMBIT_API std::tuple<Tensor, Tensor> linalg_eigh(const Tensor& self, std::string_view UPLO = "L");
/// Compute only the eigenvalues.
AMBIT_API Tensor linalg_eigvalsh(const Tensor& self, std::string_view UPLO = "L");
/// Factor square A [...,N,N], real or complex, = V diag(L) V^-1: (eigenvalues L [...,N], in any
/// order; eigenvectors V [...,N,N] in columns of norm 1), complex. Gradient: A; through V only if
/// no two eigenvalues are equal and the result does not depend on the phases of eigenvectors.
/// Errors: also LinAlgError for numbers that are not finite, or without convergence. Source:
/// torch.linalg.eig.
AMBIT_API std::tuple<Tensor, Tensor> linalg_eig(const Tensor& self);
/// Compute only the eigenvalues.
AMBIT_API Tensor linalg_eigvals(const Tensor& self);
/// Factor A [...,M,N] = U diag(S) Vh: (U [...,M,M], S [...,K], descending, Vh [...,N,N]), K =
/// min(M, N); full_matrices = false: U [...,M,K], Vh [...,K,N]. `driver` is ignored: always
/// LAPACK's gesdd. Gradient: A; through U and Vh only for reduced ones without equal singular
/// values. Errors: also LinAlgError if it does not converge.
AMBIT_API std::tuple<Tensor, Tensor, Tensor> linalg_svd(
    const Tensor& A, bool full_matrices = true, std::optional<std::string_view> driver = {});
/// Compute only the singular values. Gradient: A.
AMBIT_API Tensor linalg_svdvals(const Tensor& A, std::optional<std::string_view> driver = {});
/// Return (U, S, V), with V [...,N,K], not Vh; some = false: full; compute_uv = false: U and V are
/// 0.
AMBIT_API std::tuple<Tensor, Tensor, Tensor> svd(const Tensor& self, bool some = true,
                                                 bool compute_uv = true);

/// Factor A [...,M,N], M >= N, into U H: (U [...,M,N] with orthonormal columns, H [...,N,N],
/// symmetric without negative eigenvalues). Gradient: A, if its rank is N.
AMBIT_API std::tuple<Tensor, Tensor> linalg_polar(const Tensor& A);
/// Compute the symmetric square root of symmetric matrices, whose lower triangles are read;
/// negative eigenvalues count as 0. Gradient: self, symmetric, if all eigenvalues are positive.
AMBIT_API Tensor linalg_matrix_sqrth(const Tensor& self);

// --- norms and functions of singular values
/// Compute the vector norm over `dim`, default all elements, like norm() of reduce.h; computed in
/// dtype if given. Errors: also ShapeError for +-inf over no elements. Gradient: self.
AMBIT_API Tensor linalg_vector_norm(const Tensor& self, const Scalar& ord = 2,
                                    OptionalIntArrayRef dim = {}, bool keepdim = false,
                                    std::optional<DType> dtype = {});
/// Compute the norm of the matrices in two dims. ord "fro": square root of the sum of squares;
/// "nuc": sum of the singular values; inf, -inf: largest, smallest row sum of |x|; 1, -1: column
/// sum; 2, -2: largest, smallest singular value. Gradient: self.
/// @{
AMBIT_API Tensor linalg_matrix_norm(const Tensor& self, const Scalar& ord,
                                    IntArrayRef dim = {-2, -1}, bool keepdim = false,
                                    std::optional<DType> dtype = {});
AMBIT_API Tensor linalg_matrix_norm(const Tensor& self, std::string_view ord = "fro",
                                    IntArrayRef dim = {-2, -1}, bool keepdim = false,
                                    std::optional<DType> dtype = {});
/// @}
/// Compute linalg_vector_norm if ord is not given or dim has one entry (or self one dim), else
/// linalg_matrix_norm.
/// @{
AMBIT_API Tensor linalg_norm(const Tensor& self, const std::optional<Scalar>& ord = {},
                             OptionalIntArrayRef dim = {}, bool keepdim = false,
                             std::optional<DType> dtype = {});
AMBIT_API Tensor linalg_norm(const Tensor& self, std::string_view ord, OptionalIntArrayRef dim = {},
                             bool keepdim = false, std::optional<DType> dtype = {});
/// @}
/// Compute the condition number ||A|| ||A^-1|| in the norm p of linalg_matrix_norm, default 2; inf
/// for singular square matrices. Gradient: self.
/// @{
AMBIT_API Tensor linalg_cond(const Tensor& self, const std::optional<Scalar>& p = {});
AMBIT_API Tensor linalg_cond(const Tensor& self, std::string_view p);
/// @}
/// Count the singular values (hermitian: |eigenvalues|) above max(atol, rtol * the largest), with
/// linalg_pinv's defaults: int64 [...]. No gradient.
/// @{
AMBIT_API Tensor linalg_matrix_rank(const Tensor& self, std::optional<double> atol,
                                    std::optional<double> rtol, bool hermitian = false);
AMBIT_API Tensor linalg_matrix_rank(const Tensor& self, double tol, bool hermitian = false);
AMBIT_API Tensor linalg_matrix_rank(const Tensor& self, const std::optional<Tensor>& atol = {},
                                    const std::optional<Tensor>& rtol = {}, bool hermitian = false);
AMBIT_API Tensor linalg_matrix_rank(const Tensor& self, const Tensor& tol, bool hermitian = false);
/// @}
/// Compute the sum of conj(x) * y over dim; they broadcast. Gradient: x, y.
AMBIT_API Tensor linalg_vecdot(const Tensor& x, const Tensor& y, int64_t dim = -1);

namespace linalg {
/// Same as the function of this name with the prefix linalg_: arguments, defaults and errors.
/// @{
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
/// As in libtorch, rcond is 1e-15 here, not the default of linalg_pinv.
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
inline std::tuple<Tensor, Tensor> eig(const Tensor& A) { return linalg_eig(A); }
inline Tensor eigvals(const Tensor& A) { return linalg_eigvals(A); }
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
/// @}
}  // namespace linalg

/// Old name of linalg_eigh(), by default of the upper triangle; without eigenvectors,
/// linalg_eigvalsh() and an empty tensor.
AMBIT_API std::tuple<Tensor, Tensor> symeig(const Tensor& self, bool eigenvectors = false,
                                            bool upper = true);

}  // namespace ambit
