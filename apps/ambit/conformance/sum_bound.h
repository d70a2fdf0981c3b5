// Error bounds of sums of products.
#pragma once

#include <algorithm>
#include <cmath>

#include "bound.h"

namespace conformance {

/// Bound for n products of numbers uniform in [-3, 3]. The products have standard deviation 3, so
/// partial sums stay below 5 * 3 sqrt(n); each of n roundings is at most epsilon / 2 times a
/// partial sum.
inline Bound sum_bound(int64_t n, ambit::DType dtype) {
  const auto terms = static_cast<double>(n + 1);
  return {1, 15 * terms * std::sqrt(terms) * epsilon(dtype) / 2,
          "n roundings of partial sums below 15 sqrt(n), n products of numbers up to 3"};
}

/// Bound for activations of such sums, which may be rounded to their dtype before the activation.
inline Bound map_bound(int64_t n, ambit::DType dtype) {
  const double largest = 15 * std::sqrt(static_cast<double>(n + 1));
  const double sums = sum_bound(n, dtype).absolute + largest * last_place(dtype) / 2;
  return {6, 1.13 * sums + largest * epsilon(dtype),
          "slopes of at most 1.13; libm is accurate to 4 ulp, except for gelu's Phi, to half an "
          "ulp of 1"};
}

}  // namespace conformance
