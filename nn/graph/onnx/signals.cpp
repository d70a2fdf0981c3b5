// Operators: Fourier transforms and windows.
#include <ambit/detail/fft.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/shape.h>

#include <fmt/format.h>

#include <algorithm>
#include <numbers>
#include <vector>

#include "operators.h"

namespace ambit::graph::onnx {
namespace {

Tensor fitted(const Tensor& x, int64_t n) {  // along the last dim
  if (x.size(-1) >= n) return x.narrow(-1, 0, n);
  Dims rest(x.sizes());
  rest[rest.size() - 1] = n - x.size(-1);
  return cat({x, zeros(rest, x.options())}, -1);
}

// x [..., N] real and imaginary, which may be undefined, to [..., bins, 2], computed in float64:
// the sums cancel.
Tensor transformed(const Tensor& real, const Tensor& imaginary, int64_t bins, bool is_inverse) {
  const Tensor re = real.to(kFloat64);
  const Tensor im = imaginary.defined() ? imaginary.to(kFloat64) : zeros_like(re);
  const double scale = is_inverse ? 1 / static_cast<double>(re.size(-1)) : 1;
  const Tensor out = fft_pairs(stack({re, im}, -1), -2, is_inverse, scale);
  return out.narrow(-2, 0, bins).to(real.dtype());
}

void expect_positive(int64_t n) {
  if (n < 1) throw Error(fmt::format("expected a length from 1 on, got {}", n));
}

// x [..., N, ..., 1 or 2]; the axis is an input from opset 20 on, and an attribute in older opsets.
Tensor dft(const Call& c) {
  const Tensor& x = c.tensor(0);
  const bool is_inverse = c.flag(3), is_onesided = c.flag(4);
  const Dims given = host_integers(c, 2), length = host_integers(c, 1);
  const int64_t dim = axis(given.empty() ? c.integer(5) : given[0], x.dim());
  const bool is_half = is_inverse && is_onesided;
  const int64_t n = !length.empty() ? length[0] : is_half ? 2 * (x.size(dim) - 1) : x.size(dim);
  expect_positive(n);
  const auto part = [&](int64_t i) { return fitted(x.select(-1, i).transpose(dim, -1), n); };
  const Tensor imaginary = x.size(-1) == 2 ? part(1) : Tensor();
  if (is_half) {  // the spectrum of a real signal
    const int64_t half = n / 2 + 1;
    const Tensor re = fitted(x.select(-1, 0).transpose(dim, -1), half);
    const Tensor im = fitted(x.select(-1, 1).transpose(dim, -1), half);
    const int64_t mirrored = n - half;
    const Tensor re_all = cat({re, re.narrow(-1, 1, mirrored).flip({-1})}, -1);
    const Tensor im_all = cat({im, -im.narrow(-1, 1, mirrored).flip({-1})}, -1);
    return transformed(re_all, im_all, n, true).select(-1, 0).transpose(dim, -1).unsqueeze(-1);
  }
  const int64_t bins = is_onesided ? n / 2 + 1 : n;
  return transformed(part(0), imaginary, bins, is_inverse).transpose(dim, -2);
}

// Return the transforms of frames, without centring: [B, frames, bins, 2].
Tensor stft(const Call& c) {
  const Tensor& x = c.tensor(0);
  const int64_t step = host_integer(c, 1);
  const Dims given = host_integers(c, 3);
  const int64_t n = !given.empty() ? given[0] : c.has(2) ? c.tensor(2).size(0) : x.size(1);
  expect_positive(n);
  expect_positive(step);
  const auto part = [&](int64_t i) {
    const Tensor frames = unfold(x.dim() == 3 ? x.select(-1, i) : x, 1, n, step);
    return c.has(2) ? frames * c.tensor(2) : frames;
  };
  const bool is_complex = x.dim() == 3 && x.size(2) == 2;
  const int64_t bins = c.flag(4) && !is_complex ? n / 2 + 1 : n;
  return transformed(part(0), is_complex ? part(1) : Tensor(), bins, false);
}

// Return a window that is a sum of cosines.
Tensor window(const Call& c, const std::vector<double>& weights) {
  const int64_t n = host_integer(c, 0);
  const std::optional<DType> dtype = c.dtype(1);
  const double period = static_cast<double>(c.flag(2) ? n : std::max<int64_t>(n - 1, 1));
  const Tensor angle =
      arange(n, TensorOptions(kFloat64).device(c.device())) * (2 * std::numbers::pi / period);
  Tensor out = zeros_like(angle);
  for (size_t i = 0; i < weights.size(); ++i) {
    out = out + cos(angle * static_cast<double>(i)) * weights[i];
  }
  return out.to(dtype.value_or(kFloat32));
}

#define ONNX_WINDOW "size output_datatype=None periodic=1"

constexpr Operator kRows[] = {
    // clang-format off
    {{"DFT", "input dft_length=None axis=None inverse=0 onesided=0 default_axis=-2",
      one([](Call& c) { return dft(c); })}, 3, 0b110, 20},
    {{"DFT", "input dft_length=None axis=None inverse=0 onesided=0 default_axis=1",
      one([](Call& c) { return dft(c); })}, 3, 0b110, 17},
    {{"STFT", "signal frame_step window=None frame_length=None onesided=1", one([](Call& c) {
       return stft(c); })}, 4, 0b1010},
    {{"HannWindow", ONNX_WINDOW, one([](Call& c) { return window(c, {0.5, -0.5}); })}, 1, 0b1},
    {{"HammingWindow", ONNX_WINDOW, one([](Call& c) {
       return window(c, {25.0 / 46, -21.0 / 46}); })}, 1, 0b1},
    {{"BlackmanWindow", ONNX_WINDOW, one([](Call& c) {
       return window(c, {0.42, -0.5, 0.08}); })}, 1, 0b1},
    // clang-format on
};

}  // namespace

constinit const std::span<const Operator> kSignalOperators = kRows;

}  // namespace ambit::graph::onnx
