// Operators: linear quantization to uint8 and int8, computed on integers of the wider dtypes.
#include <ambit/error.h>
#include <ambit/ops/arrange.h>
#include <ambit/ops/conv.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>

#include "operators.h"
#include "windows.h"

namespace ambit::graph::onnx {
namespace {

// Return a scale or zero point in a shape that broadcasts to x; it may be for the whole tensor, for
// each index of an axis, or for blocks along an axis.
Tensor spread(const Tensor& s, const Tensor& x, int64_t dim, int64_t block) {
  if (!s.defined() || s.numel() == 1) return s.defined() ? s.reshape({}) : s;
  const int64_t at = axis(dim, x.dim());
  if (block > 0) return repeat_interleave(s, block, at).narrow(at, 0, x.size(at));
  Dims sizes(static_cast<size_t>(x.dim()), 1);
  sizes[static_cast<size_t>(at)] = -1;
  return s.reshape(sizes);
}

// Quantize: round to even and saturate; NaN gives 0.
Tensor quantized(const Tensor& x, const Tensor& scale, const Tensor& zero, DType to) {
  if (to != kUInt8 && to != kInt8 && to != kInt16) {
    throw DTypeError("expected uint8, int8 or int16 as the quantized dtype, got another");
  }
  const double low = to == kUInt8 ? 0 : to == kInt8 ? -128 : -32768;
  const double high = to == kUInt8 ? 255 : to == kInt8 ? 127 : 32767;
  Tensor y = round(x.to(scale.dtype()) / scale);
  if (zero.defined()) y = y + zero.to(y.dtype());
  return where(isnan(y), zeros_like(y), clamp(y, low, high)).to(to);
}

Tensor quantize(const Call& c) {
  const Tensor &x = c.tensor(0), &zero = c.optional_tensor(2);
  const DType to = zero.defined() ? zero.dtype() : c.dtype(5).value_or(kUInt8);
  const auto of = [&](const Tensor& t) { return spread(t, x, c.integer(3), c.integer(4)); };
  return quantized(x, of(c.tensor(1)), of(zero), to);
}

Tensor dequantize(const Call& c) {
  const Tensor &x = c.tensor(0), &scale = c.tensor(1), &zero = c.optional_tensor(2);
  const auto of = [&](const Tensor& t) { return spread(t, x, c.integer(3), c.integer(4)); };
  Tensor y = x.to(kInt32);
  if (zero.defined()) y = y - of(zero).to(kInt32);
  return (y.to(scale.dtype()) * of(scale)).to(c.dtype(5).value_or(scale.dtype()));
}

// Quantize to uint8; the range of the values is extended to contain 0.
void quantize_dynamically(Call& c) {
  const Tensor& x = c.tensor(0);
  const Tensor high = clamp_min(amax(x), 0), low = clamp_max(amin(x), 0);
  const Tensor scale = (high - low) / 255;
  const Tensor safe = where(scale.eq(0), ones_like(scale), scale);
  const Tensor zero = clamp(round(-low / safe), 0.0, 255.0).to(kUInt8);
  c.give(quantized(x, safe, zero, kUInt8));
  c.give(scale);
  c.give(zero);
}

// Sums of products below 2^53 are exact in float64.
Tensor centred(const Tensor& x, const Tensor& zero) {
  const Tensor wide = x.to(kFloat64);
  return zero.defined() ? wide - zero.to(kFloat64) : wide;
}

// Reshape a zero point per row, [M], to [M, 1], so that it broadcasts.
Tensor rows(const Tensor& t) {
  return t.defined() && t.dim() == 1 && t.numel() > 1 ? t.unsqueeze(1) : t;
}

Tensor integer_product(const Call& c) {
  return matmul(centred(c.tensor(0), rows(c.optional_tensor(2))),
                centred(c.tensor(1), c.optional_tensor(3)))
      .to(kInt64)
      .to(kInt32);
}

Tensor quantized_product(const Call& c) {
  const Tensor y =
      matmul(centred(c.tensor(0), rows(c.tensor(2))), centred(c.tensor(3), c.tensor(5)));
  const Tensor scale = rows(c.tensor(1)).to(kFloat64) * c.tensor(4).to(kFloat64);
  return quantized(y * scale, c.tensor(6).to(kFloat64), c.tensor(7), c.tensor(7).dtype());
}

Tensor convolved(const Call& c, const Tensor& x, const Tensor& weight, size_t first) {
  const Windows w = windows_of(x.sizes(), Dims(weight.sizes().slice(2)), c.integers(first + 5),
                               c.integers(first + 1), c.integers(first + 4), c.text(first), false);
  const Dims none(w.kernel.size(), 0);
  return convolution(padded(x, w.before, w.after, 0), weight, {}, w.stride, none, w.dilation, false,
                     none, c.integer(first + 2));
}

Tensor channels(const Tensor& t, int64_t rank, int64_t at) {
  Dims sizes(static_cast<size_t>(rank), 1);
  sizes[static_cast<size_t>(at)] = -1;
  return t.defined() ? t.reshape(sizes) : t;
}

Tensor integer_convolution(const Call& c) {
  const Tensor& weight = c.tensor(1);
  return convolved(c, centred(c.tensor(0), c.optional_tensor(2)),
                   centred(weight, channels(c.optional_tensor(3), weight.dim(), 0)), 4)
      .to(kInt64)
      .to(kInt32);
}

Tensor quantized_convolution(const Call& c) {
  const Tensor& weight = c.tensor(3);
  const int64_t rank = weight.dim();
  Tensor y = convolved(c, centred(c.tensor(0), c.tensor(2)),
                       centred(weight, channels(c.tensor(5), rank, 0)), 9);
  if (c.has(8)) y = y + channels(c.tensor(8), rank, 1).to(kFloat64);
  const Tensor scale = c.tensor(1).to(kFloat64) * channels(c.tensor(4), rank, 1).to(kFloat64);
  return quantized(y * scale, c.tensor(6).to(kFloat64), c.tensor(7), c.tensor(7).dtype());
}

#define ONNX_CONV "auto_pad=NOTSET dilations=[] group=1 kernel_shape=None pads=[] strides=[]"

constexpr Operator kRows[] = {
    // clang-format off
    {{"QuantizeLinear", "x y_scale y_zero_point=None axis=1 block_size=0 output_dtype=None "
      "precision=0 saturate=1", one([](Call& c) { return quantize(c); })}, 3},
    {{"DequantizeLinear", "x x_scale x_zero_point=None axis=1 block_size=0 output_dtype=None",
      one([](Call& c) { return dequantize(c); })}, 3},
    {{"DynamicQuantizeLinear", "x", many(quantize_dynamically)}, 1},
    {{"MatMulInteger", "A B a_zero_point=None b_zero_point=None", one([](Call& c) {
       return integer_product(c); })}, 4},
    {{"QLinearMatMul", "a a_scale a_zero_point b b_scale b_zero_point y_scale y_zero_point",
      one([](Call& c) { return quantized_product(c); })}, 8},
    {{"ConvInteger", "x w x_zero_point=None w_zero_point=None " ONNX_CONV, one([](Call& c) {
       return integer_convolution(c); })}, 4},
    {{"QLinearConv", "x x_scale x_zero_point w w_scale w_zero_point y_scale y_zero_point B=None "
      ONNX_CONV, one([](Call& c) { return quantized_convolution(c); })}, 9},
    // clang-format on
};

}  // namespace

constinit const std::span<const Operator> kQuantizedOperators = kRows;

}  // namespace ambit::graph::onnx
