// Error bounds of a kernel's results relative to the shadow's. Those of elementwise functions are
// in the table of <ambit/backend/bounds.h>, which `ambit conformance` uses, too. The other bounds
// of `ambit conformance` hold only for its random operands, of magnitudes up to 3 and both signs;
// the bounds here hold for any operands.
#pragma once

#include <ambit/backend/bounds.h>
#include <ambit/backend/kernels.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "call.h"

namespace ambit::shadow {

/// |got - expected| <= ulps * epsilon(dtype) * |expected| + absolute. Integers and bool must be
/// equal. Results of reduced floating-point types may differ by one more unit in the last place.
struct Bound {
  double ulps = 0, absolute = 0;
  std::vector<double> each = {};  ///< if not empty: added to `absolute`, by element
  bool is_compared = true;        ///< false: the contract does not determine the result
};

/// See computing_epsilon().
inline double epsilon(DType dtype) { return computing_epsilon(dtype); }

/// Return a bound of the rounding errors in a sum of n terms, in units of epsilon / 2 of the sum of
/// their magnitudes: n in the worst case; in long sums random errors partly cancel, and the largest
/// one measured was 4 sqrt(n). The result is doubled, because both devices round.
inline double roundings(double n) { return 2 * std::min(n + 2, 4 * std::sqrt(n) + 8); }

/// Return the absolute bound of a sum of n terms with this sum of magnitudes.
inline double sum_error(double n, double magnitudes, DType dtype) {
  return roundings(n) * magnitudes * epsilon(dtype) / 2;
}

/// Return the bound of `output`, which belongs to tensor argument `argument` of the kernel.
Bound bound_of(const Call& call, size_t argument, const Operand& output);

// The bounds of each family of kernels.
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
Bound fft_bound(const Call& call, const Operand& y);
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
