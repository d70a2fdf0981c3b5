// What must hold of the elements of a tensor.
#pragma once

#include <ambit/tensor.h>

namespace ambit {

/// Throw Error with these words, a literal, unless all of `facts` (bool) are true: at once, or
/// where the host would have to wait for a device, as a GPU, when it next waits. Of facts on meta
/// nothing is known.
AMBIT_API void expect_all(const Tensor& facts, const char* otherwise);

}  // namespace ambit
