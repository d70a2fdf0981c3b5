// How far a result may be from the reference's, and whether it is.
#pragma once

#include <ambit/dtype.h>

#include <cstddef>
#include <string>
#include <vector>

namespace conformance {

/// |got - expected| <= ulps * epsilon(dtype) * |expected| + absolute. Integers and bool are exact.
struct Bound {
  double ulps = 0, absolute = 0;
  const char* why = "exact: nothing is rounded, or both round the same once";
};

/// Return epsilon of a floating dtype, 0 of the others: what one rounding may add to 1, twice.
double epsilon(ambit::DType dtype);

/// What is wrong among n elements.
struct Difference {
  int64_t count = 0;          // of elements beyond the bound
  int64_t first = 0;          // of them, in row-major order
  std::string expected, got;  // the first
  double error = 0;           // the largest of all, in units of the bound
};

/// Compare elements that lie at `positions` of two buffers.
Difference compare(ambit::DType dtype, const std::byte* got, const std::byte* expected,
                   const std::vector<int64_t>& positions, const Bound& bound);

}  // namespace conformance
