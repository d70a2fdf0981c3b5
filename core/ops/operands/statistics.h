// Dtype of statistics saved with a result.
#pragma once

#include <ambit/dtype.h>

namespace ambit {

/// Return the dtype of statistics saved with results of `dtype`; reduced floating-point types are
/// too imprecise.
constexpr DType statistics_dtype(DType dtype) {
  return is_reduced_floating(dtype) ? kFloat32 : dtype;
}

}  // namespace ambit
