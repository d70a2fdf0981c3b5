// The bound of what is a sum of products.
#pragma once

#include <algorithm>
#include <cmath>

#include "bound.h"

namespace conformance {

/// Of n products of numbers uniform in [-3, 3]. The products deviate by 3, so that partial sums
/// stay below 5 * 3 sqrt(n); each of n roundings is epsilon / 2 of that at most.
inline Bound sum_bound(int64_t n, ambit::DType dtype) {
  const auto terms = static_cast<double>(n + 1);
  return {1, 15 * terms * std::sqrt(terms) * epsilon(dtype) / 2,
          "n roundings of partial sums below 15 sqrt(n), n products of numbers up to 3"};
}

}  // namespace conformance
