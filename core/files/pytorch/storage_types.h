// The storages that PyTorch's files name, and what ambit makes of them. Private to core.
#pragma once

#include <ambit/dtype.h>

#include <array>
#include <cstddef>
#include <string_view>

namespace ambit {

/// `torch.<name>` holds elements of `dtype`.
struct StorageType {
  std::string_view name;
  DType dtype;
};

inline constexpr std::array<StorageType, kDTypeCount> kStorageTypes{{
    {"BoolStorage", kBool},
    {"ByteStorage", kUInt8},
    {"CharStorage", kInt8},
    {"ShortStorage", kInt16},
    {"IntStorage", kInt32},
    {"LongStorage", kInt64},
    {"HalfStorage", kFloat16},
    {"BFloat16Storage", kBFloat16},
    {"FloatStorage", kFloat32},
    {"DoubleStorage", kFloat64},
}};

}  // namespace ambit
