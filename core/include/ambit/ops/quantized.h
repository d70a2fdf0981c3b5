// Products with int8 weights, for inference: they need a quarter of float32's memory bandwidth,
// which limits layers with few rows. nn::quantize_dynamic (nn/quantize.h) converts networks.
#pragma once

#include <ambit/tensor.h>

#include <tuple>

namespace ambit {

/// Quantise rows to int8 with a scale for each row: input [N,K] -> (q int8 [N,K], scale float32
/// [N]) with q * scale[:, None] close to input.
///   scale[n] = max(abs(input[n])) / 127, q = round(input * (127 / max(abs(input[n]))))
/// in float32, ties to even, with the same q on every device. The rounding error is at most
/// scale / 2. q = 0 for rows with a maximum below 1e-36, and for rows with NaN or Inf, whose scale
/// is not finite. input: float32, float16 or bfloat16; K <= 131072, so that sums of products fit
/// int32. Errors: DTypeError, ShapeError. Gradient: none.
AMBIT_API std::tuple<Tensor, Tensor> quantize_rows(const Tensor& input);

/// Apply a linear layer with int8 weight to rows that are quantised on the fly.
///   out[..., n] = bias[n] + scale[n] s * sum over k of q[..., k] weight[n, k], q, s =
///   quantize_rows(input)
/// The integer sum is exact. input [...,K] with at least one dim, float32, float16 or bfloat16,
/// weight int8 [N,K], scale [N], bias [N] or undefined, of input's dtype or float32 -> [...,N] of
/// input's dtype. A row with NaN or Inf gives NaN. K <= 131072. Errors: DTypeError, ShapeError,
/// DeviceMismatchError; Error for an undefined tensor. Gradient: none; backward through it throws
/// NotImplementedError.
AMBIT_API Tensor linear_int8(const Tensor& input, const Tensor& weight, const Tensor& scale,
                             const Tensor& bias = {});

}  // namespace ambit
