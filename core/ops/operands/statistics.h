// What is kept beside results of 16 bits.
#pragma once

#include <ambit/dtype.h>

namespace ambit {

/// Return the dtype of statistics that are kept beside results of `dtype`: of 16 bits they would
/// say too little.
constexpr DType statistics_dtype(DType dtype) { return is_reduced(dtype) ? kFloat32 : dtype; }

}  // namespace ambit
