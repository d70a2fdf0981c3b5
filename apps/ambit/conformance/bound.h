// Error bounds of results relative to the reference, and the comparison.
#pragma once

#include <ambit/backend/bounds.h>
#include <ambit/dtype.h>

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace conformance {

/// |got - expected| <= ulps * epsilon(dtype) * |expected| + absolute + each[i]. Integers and bool
/// must be equal. Results of reduced floating-point types, which are computed in float32 and
/// rounded, may differ by one more unit in the last place unless they must be exact: see
/// error_in_bounds().
struct Bound {
  double ulps = 0, absolute = 0;
  const char* why = ambit::ErrorBound().why;
  std::vector<double> each = {};  // added to the bound of each element, if not empty

  double absolute_of(size_t i) const { return each.empty() ? absolute : absolute + each[i]; }
};

/// True for floating-point types, including float16 and bfloat16.
template <class T>
inline constexpr bool kIsFloat = !std::numeric_limits<T>::is_integer;

/// See ambit::computing_epsilon().
inline double epsilon(ambit::DType dtype) { return ambit::computing_epsilon(dtype); }
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
