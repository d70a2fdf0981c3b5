// The return value of in-place methods.
#pragma once

#include <ambit/tensor.h>

namespace ambit {

/// Return an in-place method's result. A Tensor is a handle: const does not protect its elements,
/// and in-place methods return a non-const reference like libtorch's.
inline Tensor& written(const Tensor& self) { return const_cast<Tensor&>(self); }

}  // namespace ambit
