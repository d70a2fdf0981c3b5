// libtorch's names of the dtypes.
#pragma once

#include <ambit/dtype.h>

namespace ambit {

/// "Float", "Long", ... in the order of DType.
inline constexpr const char* kTypeNames[kDTypeCount] = {
    "Bool",  "Byte",   "Char",   "Short",  "Int",    "Long",         "Half",         "BFloat16",
    "Float", "Double", "UInt16", "UInt32", "UInt64", "ComplexFloat", "ComplexDouble"};

}  // namespace ambit
