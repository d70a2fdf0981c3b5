// dtypes under libtorch's names; using one that ambit does not have is an error.
#pragma once

#include <ambit/detail/type_names.h>
#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>
#include <torch/lacks.h>

#include <complex>
#include <cstddef>
#include <cstdint>

namespace ambit {

AMBIT_TORCH_LACKS("ambit has no complex tensors of float16")
inline constexpr DType kComplexHalf = kFloat;
AMBIT_TORCH_LACKS("ambit has no quantised tensors")
inline constexpr DType kQInt8 = kInt8, kQUInt8 = kUInt8, kQInt32 = kInt32;

}  // namespace ambit

namespace c10 {

/// libtorch's class is the standard library's.
template <class T>
using complex = std::complex<T>;

/// Return "Float", "Long", ...
inline const char* toString(ScalarType type) { return ambit::kTypeNames[static_cast<int>(type)]; }
inline size_t elementSize(ScalarType type) { return ambit::element_size(type); }
inline bool isIntegralType(ScalarType type, bool include_bool) {
  return ambit::is_integral(type) || (include_bool && type == kBool);
}
inline bool isFloatingType(ScalarType type) { return ambit::is_floating_point(type); }
inline bool isComplexType(ScalarType type) { return ambit::is_complex(type); }
inline ScalarType toComplexType(ScalarType type) { return ambit::complex_dtype(type); }
inline ScalarType toRealValueType(ScalarType type) { return ambit::real_dtype(type); }
inline bool isSignedType(ScalarType type) { return ambit::is_signed(type); }
inline ScalarType promoteTypes(ScalarType a, ScalarType b) { return ambit::promote_types(a, b); }
/// dtype() returns the ScalarType itself.
inline ScalarType typeMetaToScalarType(ScalarType type) { return type; }
template <class T>
struct CppTypeToScalarType {
  static constexpr ScalarType value = ambit::dtype_of<T>;
};
/// The type of the real part of a complex number; of other numbers their own.
template <class T>
struct scalar_value_type {
  using type = T;
};
template <class T>
struct scalar_value_type<std::complex<T>> {
  using type = T;
};

/// macro(C++ type, name of its dtype) for each type of numbers.
#define AT_FORALL_INT_TYPES(_) \
  _(uint8_t, Byte) _(int8_t, Char) _(int16_t, Short) _(int32_t, Int) _(int64_t, Long)
#define AT_FORALL_SCALAR_TYPES(_) AT_FORALL_INT_TYPES(_) _(float, Float) _(double, Double)

namespace impl {
template <ScalarType type>
struct ScalarTypeToCPPType;
#define AMBIT_TORCH_TYPE(T, name)                \
  template <>                                    \
  struct ScalarTypeToCPPType<ScalarType::name> { \
    using type = T;                              \
  };
AT_FORALL_SCALAR_TYPES(AMBIT_TORCH_TYPE)
AMBIT_TORCH_TYPE(bool, Bool)
AMBIT_TORCH_TYPE(ambit::Half, Half)
AMBIT_TORCH_TYPE(ambit::BFloat16, BFloat16)
AMBIT_TORCH_TYPE(uint16_t, UInt16)
AMBIT_TORCH_TYPE(uint32_t, UInt32)
AMBIT_TORCH_TYPE(uint64_t, UInt64)
AMBIT_TORCH_TYPE(std::complex<float>, ComplexFloat)
AMBIT_TORCH_TYPE(std::complex<double>, ComplexDouble)
#undef AMBIT_TORCH_TYPE
template <ScalarType type>
using ScalarTypeToCPPTypeT = typename ScalarTypeToCPPType<type>::type;
}  // namespace impl

}  // namespace c10

namespace caffe2 {

/// For compatibility: dtype() returns a ScalarType.
struct TypeMeta {
  template <class T>
  static constexpr ambit::ScalarType Make() {
    return ambit::dtype_of<T>;
  }
};

}  // namespace caffe2

namespace torch {

using Dtype = ambit::ScalarType;
inline constexpr Dtype kU8 = ambit::kUInt8, kI8 = ambit::kInt8, kI16 = ambit::kInt16,
                       kI32 = ambit::kInt32, kI64 = ambit::kInt64, kF16 = ambit::kFloat16,
                       kF32 = ambit::kFloat32, kF64 = ambit::kFloat64, kU16 = ambit::kUInt16,
                       kU32 = ambit::kUInt32, kU64 = ambit::kUInt64;

}  // namespace torch
