// Which dtype an elementwise op computes in, and whether the result may go back into self.
#pragma once

#include <ambit/tensor.h>

namespace ambit {

/// The dtypes an op takes.
enum class Domain : uint8_t {
  any,
  numbers,      ///< not bool
  floats,       ///< bool and integers become the default float
  floats_only,  ///< nothing else
  bits,         ///< bool and integers
  integers,     ///< not bool, not floats
};

/// Return the dtype to compute in where the operands promote to `promoted`. Errors: DTypeError.
DType compute_dtype(const char* op, Domain domain, DType promoted);

/// Check that a result may be stored in place: floats not into integers, only bool into bool.
/// Errors: DTypeError.
void check_casts_to(const char* op, DType result, DType self);

}  // namespace ambit
