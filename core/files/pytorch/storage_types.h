// The storage types named in PyTorch's files, and their dtypes. Private to core.
#pragma once

#include <ambit/dtype.h>

#include <cstddef>
#include <iterator>
#include <optional>
#include <string_view>

namespace ambit {

/// The class `<module>.<name>`; `dtype` is empty if ambit lacks it.
struct StorageType {
  std::string_view name;
  std::optional<DType> dtype;
  size_t element_bytes;
  std::string_view python_dtype;
  std::string_view module = "torch";
};

inline constexpr StorageType kStorageTypes[] = {
    {"BoolStorage", kBool, 1, "torch.bool"},
    {"ByteStorage", kUInt8, 1, "torch.uint8"},
    {"CharStorage", kInt8, 1, "torch.int8"},
    {"ShortStorage", kInt16, 2, "torch.int16"},
    {"IntStorage", kInt32, 4, "torch.int32"},
    {"LongStorage", kInt64, 8, "torch.int64"},
    {"HalfStorage", kFloat16, 2, "torch.float16"},
    {"BFloat16Storage", kBFloat16, 2, "torch.bfloat16"},
    {"FloatStorage", kFloat32, 4, "torch.float32"},
    {"DoubleStorage", kFloat64, 8, "torch.float64"},
    {"ComplexFloatStorage", kComplexFloat, 8, "torch.complex64"},
    {"ComplexDoubleStorage", kComplexDouble, 16, "torch.complex128"},
    {"QUInt8Storage", {}, 1, "torch.quint8"},
    {"QInt8Storage", {}, 1, "torch.qint8"},
    {"QInt32Storage", {}, 4, "torch.qint32"},
    {"QUInt4x2Storage", {}, 1, "torch.quint4x2"},
    {"QUInt2x4Storage", {}, 1, "torch.quint2x4"},
    // Bytes; tensors of dtypes without a storage type of their own name their dtype themselves.
    {"UntypedStorage", kUInt8, 1, "torch.uint8", "torch.storage"},
};
inline constexpr const StorageType& kUntypedStorage = kStorageTypes[std::size(kStorageTypes) - 1];

}  // namespace ambit
