#include "conv_padding.h"

#include <ambit/autograd.h>
#include <ambit/backend/kernels.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/shape.h>

#include <algorithm>
#include <atomic>

#include "backends/cpu/kernels.h"
#include "backends/cpu/runtime/parallel.h"

namespace ambit::cpu {
namespace {

/// `exponent`: mask of the exponent bits, which are all ones for infinities and NaN.
template <class Bits>
bool is_finite(const Tensor& t, Bits exponent) {
  std::atomic<bool> finite = true;
  const auto* bits = static_cast<const Bits*>(t.data_ptr());
  parallel_for(t.numel(), kGrain, [&](int64_t begin, int64_t end) {
    Bits largest = 0;  // g++ vectorizes the maximum of signed integers for any x86-64
    for (int64_t i = begin; i < end; ++i) {
      largest = std::max(largest, static_cast<Bits>(bits[i] & exponent));
    }
    if (largest == exponent) finite = false;
  });
  return finite;
}

/// Return true if t has no infinite or NaN element.
bool is_finite(const Tensor& t) {
  if (t.dtype() == kFloat64) return is_finite<int64_t>(t, 0x7ff0'0000'0000'0000);
  if (t.dtype() == kFloat32) return is_finite<int32_t>(t, 0x7f80'0000);
  return is_finite<int16_t>(t, 0x7f80);
}

bool has_padding(const ConvSizes& g) { return std::ranges::max(g.padding) > 0; }

/// The elements that a tap uses along one dim.
struct Range {
  int64_t x, y, count;  // first index in x and in y, number of outputs
};
Range range_of(const ConvParams& p, size_t i, int64_t tap, int64_t inputs, int64_t outputs) {
  const int64_t first = tap * p.dilation[i] - p.padding[i], room = inputs - first;
  const int64_t begin = first < 0 ? ceil_div(-first, p.stride[i]) : 0;
  const int64_t end = room > 0 ? std::min(ceil_div(room, p.stride[i]), outputs) : 0;
  if (end <= begin) return {0, 0, 0};
  return {first + begin * p.stride[i], begin, end - begin};
}

}  // namespace

bool spoils_padding(const ConvSizes& g, const Tensor& factor) {
  return has_padding(g) && !is_finite(factor);
}

bool has_spoiled_zeros(const Tensor& factor, const Tensor& result) {
  return !(result.numel() < factor.numel() && is_finite(result)) && !is_finite(factor);
}

bool has_spoiled_padding(const ConvSizes& g, const Tensor& factor, const Tensor& result) {
  return has_padding(g) && has_spoiled_zeros(factor, result);
}

void convolution_weight_grad_by_taps(Tensor& dw, const Tensor& dy, const Tensor& x,
                                     const ConvParams& p) {
  const NoGradGuard no_grad;
  ConvParams plain;
  plain.groups = p.groups;
  const int64_t taps = dw.numel() / dw.size(0) / dw.size(1);
  for (int64_t tap = 0; tap < taps; ++tap) {
    Tensor inputs = x, grad_output = dy, sums = dw;
    int64_t rest = tap;
    for (int64_t dim = x.dim() - 1; dim > 1; --dim) {
      const auto i = static_cast<size_t>(dim - 2);
      const int64_t at = rest % dw.size(dim);
      rest /= dw.size(dim);
      const Range range = range_of(p, i, at, x.size(dim), dy.size(dim));
      const int64_t length = std::max<int64_t>(0, (range.count - 1) * p.stride[i] + 1);
      inputs = slice(inputs, dim, range.x, range.x + length, p.stride[i]);
      grad_output = narrow(grad_output, dim, range.y, range.count);
      sums = narrow(sums, dim, at, 1);
    }
    if (grad_output.numel() == 0) {
      kernels::fill(sums, 0);
      continue;
    }
    Tensor products = empty(sums.sizes(), dw.options());
    convolution_weight_grad(products, grad_output.contiguous(), inputs.contiguous(), plain);
    kernels::copy(sums, products);
  }
}

}  // namespace ambit::cpu
