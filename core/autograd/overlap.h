// Which elements are the same memory.
#pragma once

#include <ambit/detail/tensor_impl.h>

namespace ambit {

/// Return whether two elements of t may share an address: sorted by stride, each dim must step over
/// those inside.
bool overlaps_itself(const TensorImpl& t);

/// Return whether a byte of a may be one of b; both have elements and are of one storage.
bool overlap(const TensorImpl& a, const TensorImpl& b);

}  // namespace ambit
