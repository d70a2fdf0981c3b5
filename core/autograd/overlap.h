// Detection of overlapping memory.
#pragma once

#include <ambit/detail/tensor_impl.h>

namespace ambit {

/// Return true if two elements of t may share an address: sorted by stride, each dim must step over
/// all inner dims.
bool overlaps_itself(const TensorImpl& t);

/// Return true if a and b, non-empty and of one storage, may share a byte.
bool overlap(const TensorImpl& a, const TensorImpl& b);

}  // namespace ambit
