// The storage types named in PyTorch's files, and their dtypes. Private to core.
#pragma once

#include <ambit/dtype.h>

#include <cstddef>
#include <iterator>
#include <optional>
#include <string_view>

namespace ambit {

/// The class `<module>.<name>`; `dtype` is empty if ambit lacks it. Types of one `python_dtype`
/// have the same elements: a file may name one storage by both.
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

/// Storage types that Python's PyTorch lacks. TorchScript and libtorch's C++ name one for each
/// dtype. Source: torch/headeronly/core/ScalarType.h of PyTorch 2.15.
inline constexpr StorageType kScriptStorageTypes[] = {
    {"UInt16Storage", kUInt16, 2, "torch.uint16"},
    {"UInt32Storage", kUInt32, 4, "torch.uint32"},
    {"UInt64Storage", kUInt64, 8, "torch.uint64"},
    {"ComplexHalfStorage", {}, 4, "torch.complex32"},
    {"BComplex32Storage", {}, 4, "torch.bcomplex32"},
    {"Float8_e5m2Storage", {}, 1, "torch.float8_e5m2"},
    {"Float8_e4m3fnStorage", {}, 1, "torch.float8_e4m3fn"},
    {"Float8_e5m2fnuzStorage", {}, 1, "torch.float8_e5m2fnuz"},
    {"Float8_e4m3fnuzStorage", {}, 1, "torch.float8_e4m3fnuz"},
    {"Float8_e8m0fnuStorage", {}, 1, "torch.float8_e8m0fnu"},
    {"Float4_e2m1fn_x2Storage", {}, 1, "torch.float4_e2m1fn_x2"},
    {"Bits1x8Storage", {}, 1, "torch.bits1x8"},
    {"Bits2x4Storage", {}, 1, "torch.bits2x4"},
    {"Bits4x2Storage", {}, 1, "torch.bits4x2"},
    {"Bits8Storage", {}, 1, "torch.bits8"},
    {"Bits16Storage", {}, 2, "torch.bits16"},
    {"UInt1Storage", {}, 1, "torch.uint1"},
    {"UInt2Storage", {}, 1, "torch.uint2"},
    {"UInt3Storage", {}, 1, "torch.uint3"},
    {"UInt4Storage", {}, 1, "torch.uint4"},
    {"UInt5Storage", {}, 1, "torch.uint5"},
    {"UInt6Storage", {}, 1, "torch.uint6"},
    {"UInt7Storage", {}, 1, "torch.uint7"},
    {"Int1Storage", {}, 1, "torch.int1"},
    {"Int2Storage", {}, 1, "torch.int2"},
    {"Int3Storage", {}, 1, "torch.int3"},
    {"Int4Storage", {}, 1, "torch.int4"},
    {"Int5Storage", {}, 1, "torch.int5"},
    {"Int6Storage", {}, 1, "torch.int6"},
    {"Int7Storage", {}, 1, "torch.int7"},
};

}  // namespace ambit
