// Matrix products of a warp, as tensor cores compute them: PTX ISA, "Matrix Fragments for
// mma.m16n8k16 with floating point type". PTX does not define the rounding. This emulation is as
// coarse as the first tensor cores with bfloat16: eight products and the previous sum are each
// truncated to the 24 bits of the largest of them, and so is their sum. Source: Fasi, Higham,
// Mikaitis, Pranesh 2021, "Numerical behavior of NVIDIA tensor cores".
#include <ambit/half.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "at_work.h"
#include "block.h"
#include "device.h"

namespace ambit::cuda::host {
namespace {

constexpr unsigned kAtOnce = 8;

double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<uint64_t>(1023 + exponent) << 52);
}

/// Return x rounded toward 0 to 24 bits.
float cut_off(double x) {
  if (std::abs(x) >= 0x1p128)
    return static_cast<float>(x * std::numeric_limits<double>::infinity());
  const auto nearest = static_cast<float>(x);
  return std::abs(static_cast<double>(nearest)) > std::abs(x) ? std::nextafter(nearest, 0.f)
                                                              : nearest;
}

/// Return sum + the products of kAtOnce pairs; each product is exact in double.
float add_products(float sum, const float* a, const float* b) {
  double terms[kAtOnce + 1] = {sum}, largest = std::abs(terms[0]), all = terms[0];
  for (unsigned i = 0; i < kAtOnce; ++i) {
    const double product = static_cast<double>(a[i]) * static_cast<double>(b[i]);
    terms[i + 1] = product;
    largest = std::max(largest, std::abs(product));
    all += product;
  }
  if (!std::isfinite(all)) return static_cast<float>(all);  // max() ignores NaN
  if (largest == 0) return 0;
  // The unit of the last of the 24 bits, or float32's smallest denormal.
  const int exponent = static_cast<int>(std::bit_cast<uint64_t>(largest) >> 52) - 1023;
  const int last = std::max(exponent - 23, -149);
  const double to_whole = power_of_two(-last);
  int64_t whole = 0;
  for (const double term : terms) whole += static_cast<int64_t>(term * to_whole);
  return cut_off(static_cast<double>(whole) * power_of_two(last));
}

/// Element `part` of a word, converted to float.
float element(uint32_t word, unsigned part, bool is_bfloat16) {
  const auto bits = static_cast<uint16_t>(word >> 16 * part);
  return is_bfloat16 ? static_cast<float>(BFloat16(bits, BFloat16::from_bits()))
                     : static_cast<float>(Half(bits, Half::from_bits()));
}

}  // namespace

// Thread 4 g + t has, of the left factor [16,16], rows g and g + 8 in words 0 and 1 at columns 2 t
// and 2 t + 1, and in words 2 and 3 at the columns 8 further; of the right factor [16,8] column g,
// with these columns as rows; of the sums [16,8] rows g and g + 8, columns 2 t and 2 t + 1.
void multiply_add(float (&sums)[4], const uint32_t (&left)[4], const uint32_t (&right)[2],
                  bool is_bfloat16) {
  constexpr unsigned kDepth = 16;
  Factors mine;
  std::copy_n(left, 4, mine.left);
  std::copy_n(right, 2, mine.right);
  const Factors* all = exchange_factors(mine);
  const unsigned g = at_work.thread % kWarp / 4, t = at_work.thread % 4;
  float a[2][kDepth], b[2][kDepth];  // two rows of the left, two columns of the right factor
  for (unsigned k = 0; k < kDepth; ++k) {
    const unsigned lane = k % 8 / 2, beyond = k / 8;
    for (unsigned i = 0; i < 2; ++i) {
      a[i][k] = element(all[4 * g + lane].left[2 * beyond + i], k % 2, is_bfloat16);
      b[i][k] = element(all[4 * (2 * t + i) + lane].right[beyond], k % 2, is_bfloat16);
    }
  }
  for (unsigned i = 0; i < 4; ++i) {
    for (unsigned k = 0; k < kDepth; k += kAtOnce) {
      sums[i] = add_products(sums[i], a[i / 2] + k, b[i % 2] + k);
    }
  }
}

}  // namespace ambit::cuda::host
