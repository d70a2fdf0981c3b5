// The storages that PyTorch's files name, and what ambit makes of them. Private to core.
#pragma once

#include <ambit/dtype.h>

#include <array>
#include <cstddef>
#include <string_view>

namespace ambit {

enum class Half : uint8_t { none, float16, bfloat16 };

/// `torch.<name>` holds elements of `element_bytes`, which become `dtype`; half types are widened.
struct StorageType {
  std::string_view name;
  DType dtype;
  size_t element_bytes;
  Half half = Half::none;
};

inline constexpr std::array<StorageType, kDTypeCount + 2> kStorageTypes{{
    {"BoolStorage", kBool, 1},
    {"ByteStorage", kUInt8, 1},
    {"CharStorage", kInt8, 1},
    {"ShortStorage", kInt16, 2},
    {"IntStorage", kInt32, 4},
    {"LongStorage", kInt64, 8},
    {"FloatStorage", kFloat32, 4},
    {"DoubleStorage", kFloat64, 8},
    {"HalfStorage", kFloat32, 2, Half::float16},
    {"BFloat16Storage", kFloat32, 2, Half::bfloat16},
}};

}  // namespace ambit
