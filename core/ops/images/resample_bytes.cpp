// Resampling of uint8 images with integer weights and one rounding per dim, as PyTorch and Pillow
// do.
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>

#include <algorithm>

#include "resample.h"

namespace ambit {
namespace {

// Return the number of fractional bits of the weights: as many as fit int16.
int fractional_bits(const Taps& taps) {
  double most = 0;
  for (int64_t i = 0; i < taps.out(); ++i) {
    for (size_t k = 0; k < taps.count(); ++k) most = std::max(most, taps.tap(i, k).weight);
  }
  int bits = 0;
  while (bits < 22 && 0.5 + most * static_cast<double>(2 << bits) < 32768) ++bits;
  return bits;
}

}  // namespace

Tensor resample_bytes(const Tensor& x, int64_t dim, const Taps& taps) {
  const int bits = fractional_bits(taps);
  const double unit = 1 << bits;
  Dims column(static_cast<size_t>(x.dim() - dim), 1);
  column[0] = taps.out();
  const Tensor wide = x.to(kInt32);
  Tensor sums;
  for (size_t k = 0; k < taps.count(); ++k) {
    std::vector<int64_t> places;
    std::vector<int64_t> weights;
    for (int64_t i = 0; i < taps.out(); ++i) {
      const Taps::Tap& tap = taps.tap(i, k);
      places.push_back(tap.index);
      weights.push_back(static_cast<int64_t>(tap.weight * unit + (tap.weight < 0 ? -0.5 : 0.5)));
    }
    const Tensor weight = tensor(weights).to(kInt32).to(x.device()).view(column);
    const Tensor part = index_select(wide, dim, tensor(places).to(x.device())) * weight;
    sums = sums.defined() ? sums.add_(part) : part;
  }
  const Tensor rounded = bitwise_right_shift(sums + (1 << (bits - 1)), bits);
  return clamp(rounded, 0, 255).to(kUInt8);
}

}  // namespace ambit
