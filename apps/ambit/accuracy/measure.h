// Comparison of a device's results of one map with exact values.
#pragma once

#include <ambit/dtype.h>

#include <cstdint>
#include <functional>

#include "maps.h"

namespace accuracy {

/// Return the results of `inputs`, the first of which has the index `first` among all inputs.
using Results = std::function<ambit::Tensor(const ambit::Tensor& inputs, int64_t first)>;

struct Figures {
  double error = 0;  ///< the largest, in units in the last place of the exact result
  double input = 0, got = 0, exact = 0;  ///< the input with this error, and its results
  int64_t inputs = 0;
  // The numbers of results that are infinite or NaN although the exact value is not, or the
  // reverse; that have another sign; that are out of the function's range; that are in another
  // order than their exact values; and for which f(-x) != -f(x).
  int64_t infinities = 0, nans = 0, signs = 0, out_of_range = 0, disorders = 0, not_odd = 0;
  int64_t faults() const { return infinities + nans + signs + out_of_range + disorders + not_odd; }
};

/// Measure over non-negative inputs and their negatives: each `every`-th number of float32, all
/// numbers of float16 or bfloat16, 2^24 / every random numbers of float64.
Figures measure(const Map& map, bool derivative, ambit::DType dtype, int64_t every,
                const Results& results);

}  // namespace accuracy
