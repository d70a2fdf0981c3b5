// Error bounds of results relative to the reference, and the comparison.
#pragma once

#include <ambit/dtype.h>

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace conformance {

/// |got - expected| <= ulps * epsilon(dtype) * |expected| + absolute. Integers and bool must be
/// equal. Results of reduced floating-point types, which are computed in float32 and rounded, may
/// differ by one more last place unless they must be exact: nearby numbers can round to neighbours.
struct Bound {
  double ulps = 0, absolute = 0;
  const char* why = "exact: nothing is rounded, or both round the same once";
};

/// True for floating-point types, including float16 and bfloat16.
template <class T>
inline constexpr bool kIsFloat = !std::numeric_limits<T>::is_integer;

/// Return twice the relative error of one rounding in the dtype of the computation, which is
/// float32 for reduced floating-point types; 0 for integers and bool.
double epsilon(ambit::DType dtype);
/// Return the relative distance of neighbouring numbers of a reduced floating-point dtype; 0 for
/// other dtypes.
double last_place(ambit::DType dtype);

/// Result of a comparison of n elements.
struct Difference {
  int64_t count = 0;          // number of elements beyond the bound
  int64_t first = 0;          // index of the first one, in row-major order
  std::string expected, got;  // values of the first one
  double error = 0;           // largest error of all elements, in units of the bound
};

/// Compare the elements at `positions` of two buffers.
Difference compare(ambit::DType dtype, const std::byte* got, const std::byte* expected,
                   const std::vector<int64_t>& positions, const Bound& bound);

}  // namespace conformance
