// Products with int8 weights, for inference: a quarter of float32's memory, whose bandwidth is what
// a layer costs with few rows. nn::quantize_dynamic (nn/quantize.h) makes networks use them.
#pragma once

#include <ambit/tensor.h>

#include <tuple>

namespace ambit {

/// Write rows as int8 numbers and a factor for each row: input [N,K] -> (q int8 [N,K], scale
/// float32 [N]) with input = about q * scale[:, None].
///   scale[n] = max(abs(input[n])) / 127, q = round(input * (127 / max(abs(input[n])))), to even
/// computed in float32: the same q on every device. What is rounded is below scale / 2. Rows whose
/// largest is below 1e-36 have q = 0; so have those with NaN or Inf, whose scale is not finite.
/// input: float32, float16 or bfloat16; K <= 131072, so that sums of products fit int32.
/// Errors: DTypeError, ShapeError. Gradient: none.
AMBIT_API std::tuple<Tensor, Tensor> quantize_rows(const Tensor& input);

/// Apply a linear layer whose weight is int8, to rows that are written as int8 on the way.
///   out[..., n] = bias[n] + scale[n] s * sum over k of q[..., k] weight[n, k], q, s =
///   quantize_rows(input)
/// The sum is exact. input [...,K] of one dim at least, float32, float16 or bfloat16, weight int8
/// [N,K], scale [N], bias [N] or undefined, of input's dtype or float32 -> [...,N] of input's
/// dtype. A row with NaN or Inf gives NaN. K <= 131072. Errors: DTypeError, ShapeError,
/// DeviceMismatchError; Error for an undefined tensor. Gradient: none; backward through it throws
/// NotImplementedError.
AMBIT_API Tensor linear_int8(const Tensor& input, const Tensor& weight, const Tensor& scale,
                             const Tensor& bias = {});

}  // namespace ambit
