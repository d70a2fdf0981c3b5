// Error bounds of a kernel's results relative to the shadow's: those of `ambit conformance`, whose
// operands are numbers up to 3, for operands of any size.
#pragma once

#include <ambit/backend/kernels.h>
#include <ambit/finfo.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "call.h"

namespace ambit::shadow {

/// |got - expected| <= ulps * epsilon(dtype) * |expected| + absolute. Integers and bool must be
/// equal. Results of reduced floating-point types may differ by one more last place.
struct Bound {
  double ulps = 0, absolute = 0;
  std::vector<double> each = {};  ///< if not empty: added to `absolute`, by element
  bool is_compared = true;        ///< false: the contract does not determine the result
};

/// Return twice the relative error of a rounding in the dtype of the computation, float32 for
/// reduced floating-point types; 0 for integers and bool.
inline double epsilon(DType dtype) {
  if (!is_floating_point(dtype)) return 0;
  return finfo(is_reduced_floating(dtype) ? kFloat32 : dtype).eps;
}

/// Return a bound of the rounding errors in a sum of n terms, in units of epsilon / 2 of the sum of
/// their magnitudes: n in the worst case; in long sums random errors partly cancel, and none above
/// 4 sqrt(n) was seen. Twice that, because both devices round.
inline double roundings(double n) { return 2 * std::min(n + 2, 4 * std::sqrt(n) + 8); }

/// Return the absolute bound of a sum of n terms with this sum of magnitudes.
inline double sum_error(double n, double magnitudes, DType dtype) {
  return roundings(n) * magnitudes * epsilon(dtype) / 2;
}

/// Return the bound of output `output`, of the kernel's tensor argument `argument`.
Bound bound_of(const Call& call, size_t argument, const Operand& output);

// By family of kernels.
Bound unary_bound(const Call& call, const Operand& y);
Bound binary_bound(const Call& call, const Operand& y);
Bound binary_scalar_bound(const Call& call, const Operand& y);
Bound ternary_bound(const Call& call, const Operand& y);
Bound activation_bound(UnaryOp op, const Bound& sums, double largest, DType dtype);
Bound reduce_bound(const Call& call, const Operand& y);
Bound scan_bound(const Call& call, const Operand& y);
Bound scatter_add_bound(const Call& call, const Operand& y);
Bound index_add_bound(const Call& call, const Operand& y);
Bound scatter_reduce_bound(const Call& call, const Operand& y);
Bound embedding_bag_bound(const Call& call, const Operand& y);
Bound embedding_bag_grad_bound(const Call& call, const Operand& y);
Bound product_bound(const Call& call, const Operand& y);
Bound linear_int8_bound(const Call& call, const Operand& y);
Bound fft_pairs_bound(const Call& call, const Operand& y);
Bound convolution_bound(const Call& call, const Operand& y);
Bound convolution_input_grad_bound(const Call& call, const Operand& dx);
Bound convolution_weight_grad_bound(const Call& call, const Operand& dw);
Bound pool_bound(const Call& call, const Operand& y);
Bound interpolate_bound(const Call& call, const Operand& y);
Bound softmax_bound(const Call& call, const Operand& y);
Bound softmax_grad_bound(const Call& call, const Operand& dx);
Bound norm_bound(const Call& call, size_t argument, const Operand& y);
Bound norm_grad_bound(const Call& call, size_t argument, const Operand& y);
Bound attention_bound(const Call& call, size_t argument, const Operand& y);
Bound attention_grad_bound(const Call& call, size_t argument, const Operand& y);
Bound cell_bound(const Call& call, const Operand& y);
Bound loss_bound(const Call& call, size_t argument, const Operand& y);
Bound ctc_bound(const Call& call, size_t argument, const Operand& y);
Bound sgd_bound(const Call& call, size_t argument, const Operand& y);
Bound adam_bound(const Call& call, size_t argument, const Operand& y);
Bound factor_bound(const Call& call, size_t argument, const Operand& y);

}  // namespace ambit::shadow
