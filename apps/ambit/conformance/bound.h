// How far a result may be from the reference's, and whether it is.
#pragma once

#include <ambit/dtype.h>

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace conformance {

/// |got - expected| <= ulps * epsilon(dtype) * |expected| + absolute. Integers and bool are exact.
/// What is computed in float32 and rounded to 16 bits may, unless it is exact, be a last place off
/// beyond that: two numbers as near as that round to neighbours.
struct Bound {
  double ulps = 0, absolute = 0;
  const char* why = "exact: nothing is rounded, or both round the same once";
};

/// Whether T is a floating-point type, of 16 bits too.
template <class T>
inline constexpr bool kIsFloat = !std::numeric_limits<T>::is_integer;

/// Return epsilon of the floating dtype that is computed in, float32 for those of 16 bits, 0 for
/// the others: what one rounding may add to 1, twice.
double epsilon(ambit::DType dtype);
/// Return how far neighbours of a dtype of 16 bits are from each other, relatively; 0 of the
/// others.
double last_place(ambit::DType dtype);

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
