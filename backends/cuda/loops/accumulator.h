// Accumulators: for sums and matrix products float64 for floats, so that a result is rounded once
// (these kernels are memory-bound), and uint64, which wraps, for integers; for maxima and minima
// the element with its position.
#pragma once

#include <ambit/backend/arithmetic.h>
#include <ambit/half.h>

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace ambit::cuda {

template <class T>
using Accumulator = std::conditional_t<std::floating_point<T> || ReducedFloat<T>, double, uint64_t>;

/// A position and its element; index -1: none yet.
template <class T>
struct Extreme {
  T value;
  int64_t index;
};

/// Return the extreme of two; the first one of equals.
template <class T>
AMBIT_HOST_DEVICE Extreme<T> better(const Extreme<T>& a, const Extreme<T>& b, bool largest) {
  if (a.index < 0 || b.index < 0) return a.index < 0 ? b : a;
  const bool tie = !arithmetic::beats(a.value, b.value, largest) &&
                   !arithmetic::beats(b.value, a.value, largest);
  const bool takes_b = tie ? b.index < a.index : arithmetic::beats(b.value, a.value, largest);
  return takes_b ? b : a;
}

}  // namespace ambit::cuda
