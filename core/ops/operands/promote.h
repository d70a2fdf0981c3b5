// The compute dtype of elementwise ops, and checks of in-place results.
#pragma once

#include <ambit/tensor.h>

namespace ambit {

/// The dtypes that an op accepts.
enum class Domain : uint8_t {
  any,
  numbers,      ///< not bool
  floats,       ///< bool and integers are converted to the default float; complex numbers remain
  floats_only,  ///< floats without conversion
  bits,         ///< bool and integers
  integers,     ///< not bool, not floats
};

/// Return the compute dtype for operands that promote to `promoted`. Errors: DTypeError.
DType compute_dtype(const char* op, Domain domain, DType promoted);

/// Check that a result may be stored in place: not complex numbers in floats, floats in integers,
/// nor numbers in bool. Errors: DTypeError.
void check_casts_to(const char* op, DType result, DType self);

}  // namespace ambit
