// Sorting as other ops use it, unrecorded.
#pragma once

#include <ambit/tensor.h>

namespace ambit {

/// What kernels::sort gives: both contiguous, of x's sizes.
struct Sorted {
  Tensor values, indices;
};

/// Sort x along dim, counted from 0, for `op`; a 0-dim x counts as one of one element.
Sorted sorted_along(const char* op, const Tensor& x, int64_t dim, bool descending = false);

}  // namespace ambit
