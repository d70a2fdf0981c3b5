// HeaderOnlyArrayRef is ArrayRef.
#pragma once

#include <c10/util/ArrayRef.h>

namespace c10 {
template <class T>
using HeaderOnlyArrayRef = ambit::ArrayRef<T>;
using IntHeaderOnlyArrayRef = HeaderOnlyArrayRef<int64_t>;
}  // namespace c10
