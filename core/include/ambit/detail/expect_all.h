// Runtime check of a condition on all elements of a tensor.
#pragma once

#include <ambit/tensor.h>

namespace ambit {

/// Throw Error with the text `otherwise`, a literal, unless all of `facts` (bool) are true: at
/// once, or on asynchronous devices when the host next synchronizes. Not checked on meta.
AMBIT_API void expect_all(const Tensor& facts, const char* otherwise);

}  // namespace ambit
