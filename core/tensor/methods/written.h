// What methods that write return.
#pragma once

#include <ambit/tensor.h>

namespace ambit {

/// In-place functions return what they are given. A Tensor is a handle: const leaves its elements
/// writable, and methods that write return it as libtorch's do.
inline Tensor& written(const Tensor& self) { return const_cast<Tensor&>(self); }

}  // namespace ambit
