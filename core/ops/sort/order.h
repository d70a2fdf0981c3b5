// Unrecorded sorting for other ops.
#pragma once

#include <ambit/tensor.h>

namespace ambit {

/// The results of kernels::sort: both contiguous, of x's sizes.
struct Sorted {
  Tensor values, indices;
};

/// Sort x along dim, counted from 0, for `op`; a 0-dim x counts as having one element.
Sorted sorted_along(const char* op, const Tensor& x, int64_t dim, bool descending = false);

}  // namespace ambit
