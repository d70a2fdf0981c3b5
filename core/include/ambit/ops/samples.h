// Functions of samples: differences, integrals, covariances, powers. Negative dims count from the
// end. Errors of all: IndexError (a dim out of range), ShapeError, DTypeError; DeviceMismatchError;
// Error for an undefined tensor. Gradients: all inputs except fweights and aweights.
#pragma once

#include <ambit/tensor.h>

#include <vector>

namespace ambit {

/// Compute the n-th differences along dim: out[i] = self[i + 1] - self[i], applied n times; "xor"
/// for bool. prepend and append are first joined to self. [N] -> [max(N - n, 0)]. Errors: also
/// Error for n < 0. Source: torch.diff.
AMBIT_API Tensor diff(const Tensor& self, int64_t n = 1, int64_t dim = -1,
                      const Tensor& prepend = {}, const Tensor& append = {});
/// Integrate samples y along dim by the trapezoidal rule: sum of (y[i] + y[i + 1]) / 2 times x[i +
/// 1] - x[i], or the distance dx. x is [N], N the size of dim, or broadcasts with y. 0 for less
/// than two samples. Not for bool. Source: torch.trapezoid.
/// @{
AMBIT_API Tensor trapezoid(const Tensor& y, const Tensor& x, int64_t dim = -1);
AMBIT_API Tensor trapezoid(const Tensor& y, const Scalar& dx = 1, int64_t dim = -1);
/// @}
/// Old name of trapezoid.
/// @{
AMBIT_API Tensor trapz(const Tensor& y, const Tensor& x, int64_t dim = -1);
AMBIT_API Tensor trapz(const Tensor& y, double dx = 1, int64_t dim = -1);
/// @}
/// Same as trapezoid, with all partial sums: size N - 1 along dim.
/// @{
AMBIT_API Tensor cumulative_trapezoid(const Tensor& y, const Tensor& x, int64_t dim = -1);
AMBIT_API Tensor cumulative_trapezoid(const Tensor& y, const Scalar& dx = 1, int64_t dim = -1);
/// @}
/// Estimate the derivatives of samples along each of `dim` (default: all dims): central
/// differences, one-sided ones of order edge_order (1 or 2) at the edges. spacing: the distance
/// between samples, one for all dims or one for each; or sample positions, a tensor [N] for each
/// dim. Return one tensor of self's sizes for each dim. Errors: also Error for any other
/// edge_order; ShapeError for a dim of edge_order samples or fewer, and for a wrong number of
/// spacings. Source: torch.gradient, numpy.gradient.
/// @{
AMBIT_API std::vector<Tensor> gradient(const Tensor& self,
                                       const std::optional<Scalar>& spacing = {},
                                       std::optional<int64_t> dim = {}, int64_t edge_order = 1);
AMBIT_API std::vector<Tensor> gradient(const Tensor& self, const Scalar& spacing, IntArrayRef dim,
                                       int64_t edge_order = 1);
AMBIT_API std::vector<Tensor> gradient(const Tensor& self, IntArrayRef dim, int64_t edge_order = 1);
AMBIT_API std::vector<Tensor> gradient(const Tensor& self, ArrayRef<Scalar> spacing,
                                       std::optional<int64_t> dim = {}, int64_t edge_order = 1);
AMBIT_API std::vector<Tensor> gradient(const Tensor& self, ArrayRef<Scalar> spacing,
                                       IntArrayRef dim, int64_t edge_order = 1);
AMBIT_API std::vector<Tensor> gradient(const Tensor& self, TensorList spacing,
                                       std::optional<int64_t> dim = {}, int64_t edge_order = 1);
AMBIT_API std::vector<Tensor> gradient(const Tensor& self, TensorList spacing, IntArrayRef dim,
                                       int64_t edge_order = 1);
/// @}
/// Estimate the covariances of D variables, the rows of self [D,N] (or [N], or []), from N
/// observations: [D,D], or [] for one variable.
///   out[i, j] = sum over n of w[n] (x[i, n] - mean_i) (x[j, n] - mean_j) / (sum of w - correction)
/// w: fweights (integers [N], repeat counts) times aweights (floating point [N]), default 1; with
/// aweights the correction is weighted, as in numpy. A negative divisor becomes 0. Errors: also
/// Error for negative weights or a sum of 0. Source: torch.cov, numpy.cov.
AMBIT_API Tensor cov(const Tensor& self, int64_t correction = 1, const Tensor& fweights = {},
                     const Tensor& aweights = {});
/// Estimate the correlations of the rows of self [D,N] (or [N], or []): cov divided by the standard
/// deviations, limited to [-1, 1]. Source: torch.corrcoef.
AMBIT_API Tensor corrcoef(const Tensor& self);
/// Return the Vandermonde matrix of x [M] with N columns, default M: out[i, j] = x[i] to the power
/// N - 1 - j, or j if increasing. bool and integers give int64. Errors: also Error for N < 0.
AMBIT_API Tensor vander(const Tensor& x, std::optional<int64_t> N = {}, bool increasing = false);

/// As vander() with increasing = true, for the last dim of x: [..,M] -> [..,M,N], [] -> [1,N]. Not
/// for bool. Errors: also Error for N < 2. Source: torch.linalg.vander.
AMBIT_API Tensor linalg_vander(const Tensor& x, std::optional<int64_t> N = {});

}  // namespace ambit
