// Accumulator of sums and products: float64 for floats, so that a result is rounded once; uint64
// for integers, which wraps consistently with narrower types.
#pragma once

#include <ambit/tensor.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace ambit::reference {

template <class T>
using Accumulator = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;

/// Write totals to a contiguous y of T, rounding each once.
template <class T, class Acc>
void store(Tensor& y, const std::vector<Acc>& total) {
  T* py = y.data_ptr<T>();
  for (size_t i = 0; i < total.size(); ++i) py[i] = static_cast<T>(total[i]);
}

}  // namespace ambit::reference
