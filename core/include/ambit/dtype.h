// Element types, and the dispatch from a run-time dtype to a C++ type.
#pragma once

#include <ambit/api.h>
#include <ambit/detail/complex_forward.h>
#include <ambit/half.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>

namespace ambit {

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"  // libtorch's names Half and BFloat16 are types, too
/// Type of a tensor's elements. Within a category, integers or floats, a later one is the result of
/// type promotion, except that float16 with bfloat16 promotes to float32. uint16, uint32 and uint64
/// do not promote with other integers; ops support them as PyTorch does (dtypes::kWideUnsigned).
/// complex64 and complex128 are pairs of a real and an imaginary part (ops/complex.h).
enum class DType : int8_t {
  bool8,                       ///< bool, one byte: 0 or 1
  uint8,                       ///< unsigned, one byte
  int8,                        ///< signed, one byte
  int16,                       ///< signed, two bytes
  int32,                       ///< signed, four bytes
  int64,                       ///< signed, eight bytes; the dtype of indices
  float16,                     ///< IEEE binary16, see Half
  bfloat16,                    ///< the upper half of a float32, see BFloat16
  float32,                     ///< IEEE binary32; the initial default dtype
  float64,                     ///< IEEE binary64
  uint16,                      ///< unsigned, two bytes
  uint32,                      ///< unsigned, four bytes
  uint64,                      ///< unsigned, eight bytes
  complex64,                   ///< two float32, std::complex<float>
  complex128,                  ///< two float64, std::complex<double>
  Bool = bool8,                ///< libtorch's name of bool8
  Byte = uint8,                ///< libtorch's name of uint8
  Char = int8,                 ///< libtorch's name of int8
  Short = int16,               ///< libtorch's name of int16
  Int = int32,                 ///< libtorch's name of int32
  Long = int64,                ///< libtorch's name of int64
  Half = float16,              ///< libtorch's name of float16
  BFloat16 = bfloat16,         ///< libtorch's name of bfloat16
  Float = float32,             ///< libtorch's name of float32
  Double = float64,            ///< libtorch's name of float64
  UInt16 = uint16,             ///< libtorch's name of uint16
  UInt32 = uint32,             ///< libtorch's name of uint32
  UInt64 = uint64,             ///< libtorch's name of uint64
  ComplexFloat = complex64,    ///< libtorch's name of complex64
  ComplexDouble = complex128,  ///< libtorch's name of complex128
};
#pragma GCC diagnostic pop

/// Number of dtypes; their values are 0 to 14.
inline constexpr int kDTypeCount = 15;

/// libtorch's name of DType.
using ScalarType = DType;
/// libtorch's names of the dtypes; several names of one dtype are equal.
/// @{
inline constexpr DType kBool = DType::bool8;
inline constexpr DType kUInt8 = DType::uint8, kByte = kUInt8;
inline constexpr DType kInt8 = DType::int8, kChar = kInt8;
inline constexpr DType kInt16 = DType::int16, kShort = kInt16;
inline constexpr DType kInt32 = DType::int32, kInt = kInt32;
inline constexpr DType kInt64 = DType::int64, kLong = kInt64;
inline constexpr DType kFloat16 = DType::float16, kHalf = kFloat16;
inline constexpr DType kBFloat16 = DType::bfloat16;
inline constexpr DType kFloat32 = DType::float32, kFloat = kFloat32;
inline constexpr DType kFloat64 = DType::float64, kDouble = kFloat64;
inline constexpr DType kUInt16 = DType::uint16, kUInt32 = DType::uint32, kUInt64 = DType::uint64;
inline constexpr DType kComplexFloat = DType::complex64, kComplexDouble = DType::complex128;
/// @}

/// Return the size of one element in bytes.
constexpr size_t element_size(DType d) {
  constexpr uint8_t kSize[kDTypeCount] = {1, 1, 1, 2, 4, 8, 2, 2, 4, 8, 2, 4, 8, 8, 16};
  return kSize[static_cast<int>(d)];
}
/// Return true for float16, bfloat16, float32 and float64.
constexpr bool is_floating_point(DType d) { return d >= DType::float16 && d <= DType::float64; }
/// Return true for the reduced floating-point types; arithmetic on them is done in float32.
constexpr bool is_reduced_floating(DType d) { return d == DType::float16 || d == DType::bfloat16; }
/// Return true for uint16, uint32 and uint64.
constexpr bool is_wide_unsigned(DType d) { return d >= DType::uint16 && d <= DType::uint64; }
/// Return true for complex64 and complex128.
constexpr bool is_complex(DType d) { return d >= DType::complex64; }
/// Return true for the dtypes that gradients have: the floating-point and the complex ones.
constexpr bool is_differentiable(DType d) { return is_floating_point(d) || is_complex(d); }
/// Return true for the integer types, excluding bool.
constexpr bool is_integral(DType d) {
  return (d >= DType::uint8 && d <= DType::int64) || is_wide_unsigned(d);
}
/// Return true for the signed integer, the floating-point and the complex types.
constexpr bool is_signed(DType d) {
  return (d >= DType::int8 && d <= DType::float64) || is_complex(d);
}
/// Return the dtype of the real and the imaginary parts: float64 for complex128, float32 for
/// complex64; other dtypes are returned unchanged.
constexpr DType real_dtype(DType d) {
  return d == DType::complex128 ? DType::float64 : d == DType::complex64 ? DType::float32 : d;
}
/// Return the dtype of complex numbers with these parts: complex128 for float64, else complex64.
/// Complex dtypes are returned unchanged.
constexpr DType complex_dtype(DType d) {
  return d == DType::float64 || d == DType::complex128 ? DType::complex128 : DType::complex64;
}

/// Return PyTorch's name without `torch.`: "float32", "bool", ...
AMBIT_API const char* name(DType d);
/// Print name(d).
AMBIT_API std::ostream& operator<<(std::ostream& os, DType d);

/// Return the dtype that both promote to: bool < integers < floats < complex numbers; uint8 with a
/// signed type gives the next wider signed type, float64 with complex64 gives complex128. Errors:
/// DTypeError for uint16, uint32 or uint64 with bool or another integer type. Source:
/// torch.promote_types.
AMBIT_API DType promote_types(DType a, DType b);

/// The default floating-point dtype, as used by `ones({2})`. Initially float32.
AMBIT_API DType get_default_dtype();
/// Set the default dtype to a floating-point dtype; anything else throws DTypeError.
AMBIT_API void set_default_dtype(DType d);

/// dtype_of<float> == kFloat32, for each of the element types (and their aliases such as long
/// long).
template <class T>
inline constexpr DType dtype_of = [] {
  static_assert(sizeof(T) == 0, "not an element type of ambit");
  return DType::bool8;
}();
/// @cond
template <>
inline constexpr DType dtype_of<bool> = kBool;
template <>
inline constexpr DType dtype_of<uint8_t> = kUInt8;
template <>
inline constexpr DType dtype_of<int8_t> = kInt8;
template <>
inline constexpr DType dtype_of<int16_t> = kInt16;
template <>
inline constexpr DType dtype_of<int32_t> = kInt32;
template <>
inline constexpr DType dtype_of<int64_t> = kInt64;
template <>
inline constexpr DType dtype_of<long long> = kInt64;
template <>
inline constexpr DType dtype_of<Half> = kFloat16;
template <>
inline constexpr DType dtype_of<BFloat16> = kBFloat16;
template <>
inline constexpr DType dtype_of<float> = kFloat32;
template <>
inline constexpr DType dtype_of<double> = kFloat64;
template <>
inline constexpr DType dtype_of<uint16_t> = kUInt16;
template <>
inline constexpr DType dtype_of<uint32_t> = kUInt32;
template <>
inline constexpr DType dtype_of<uint64_t> = kUInt64;
template <>
inline constexpr DType dtype_of<unsigned long long> = kUInt64;
template <>
inline constexpr DType dtype_of<std::complex<float>> = kComplexFloat;
template <>
inline constexpr DType dtype_of<std::complex<double>> = kComplexDouble;
/// @endcond

/// A DTypeSet as a template argument: nvcc generates wrong host code for class-type ones.
enum class DTypeBits : uint32_t {};

/// A set of dtypes that an op, or one function of a family, supports.
struct DTypeSet {
  uint32_t bits = 0;  ///< bit i is set for the dtype with value i

  /// The empty set.
  constexpr DTypeSet() = default;
  /// {kFloat32, kFloat64}
  constexpr DTypeSet(std::initializer_list<DType> list) {
    for (const DType d : list) bits |= 1u << static_cast<int>(d);
  }
  /// Conversions from and to a template argument.
  /// @{
  constexpr explicit DTypeSet(DTypeBits b) : bits(static_cast<uint32_t>(b)) {}
  constexpr operator DTypeBits() const { return static_cast<DTypeBits>(bits); }
  /// @}
  /// Return true if d is in the set.
  constexpr bool contains(DType d) const { return (bits >> static_cast<int>(d) & 1) != 0; }
  /// Return the union.
  friend constexpr DTypeSet operator|(DTypeSet a, DTypeSet b) {
    a.bits |= b.bits;
    return a;
  }
  friend constexpr bool operator==(DTypeSet, DTypeSet) = default;

  /// Iterate over the members, in the order of DType.
  struct Iterator {
    uint32_t rest;  ///< bits of the members not visited yet
    /// Return the first of the rest, which must not be empty.
    constexpr DType operator*() const { return static_cast<DType>(std::countr_zero(rest)); }
    /// Remove the first of the rest.
    constexpr Iterator& operator++() {
      rest &= rest - 1;
      return *this;
    }
    friend constexpr bool operator==(Iterator, Iterator) = default;
  };
  /// The range of a for loop: `for (DType d : set)`.
  /// @{
  constexpr Iterator begin() const { return {bits}; }
  constexpr Iterator end() const { return {0}; }
  /// @}
};

namespace dtypes {
/// Dtypes that kernels compute with; kBits adds bool to the integers, kAll to all numbers. Reduced
/// floating-point operands are upcast to float32 first (backend/op.h), unless a kernel declares
/// that it accepts them.
/// @{
inline constexpr DTypeSet kFloating{kFloat32, kFloat64};
inline constexpr DTypeSet kIntegral{kUInt8, kInt8, kInt16, kInt32, kInt64};
inline constexpr DTypeSet kNumbers = kIntegral | kFloating;
inline constexpr DTypeSet kBits = kIntegral | DTypeSet{kBool};
inline constexpr DTypeSet kAll = kNumbers | DTypeSet{kBool};
/// @}
/// Dtypes of tensors, including float16 and bfloat16. kWideUnsigned is in no other set: kernels
/// never receive these dtypes. Their operands are passed as signed integers instead
/// (detail/upcast_call.h), by ops that PyTorch supports for them, and by some more; other ops throw
/// DTypeError. Nor is kComplex: for these operands an op's function in core/ops/complex calls
/// kernels with the real and the imaginary parts, or with integers of the same bits, unless a
/// backend registered a kernel for them. kStored is all dtypes.
/// @{
inline constexpr DTypeSet kReducedFloating{kFloat16, kBFloat16};
inline constexpr DTypeSet kAnyFloating = kReducedFloating | kFloating;
inline constexpr DTypeSet kEvery = kReducedFloating | kAll;
inline constexpr DTypeSet kWideUnsigned{kUInt16, kUInt32, kUInt64};
inline constexpr DTypeSet kComplex{kComplexFloat, kComplexDouble};
inline constexpr DTypeSet kStored = kEvery | kWideUnsigned | kComplex;
/// @}
/// Return the dtypes of operands that kernels of a set can compute with: with float32, also the
/// reduced floating-point types.
constexpr DTypeSet with_reduced_floating(DTypeSet set) {
  return set.contains(kFloat32) ? set | kReducedFloating : set;
}
}  // namespace dtypes

/// Always throw DTypeError "expected one of float32, float64, got int64".
[[noreturn]] AMBIT_API void throw_dtype_outside(DTypeSet set, DType got);

/// Call `f.template operator()<T>()` with the C++ type of `d`, which must be in the set. f is
/// instantiated for the members of the set only:
/// `visit<dtypes::kFloating>(x.dtype(), [&]<class T>() {...})`. Errors: DTypeError for any other
/// dtype.
template <DTypeBits bits = dtypes::kAll, class F>
constexpr decltype(auto) visit(DType d, F&& f) {
  constexpr DTypeSet set(bits);
/// @cond
#define AMBIT_VISIT(dtype, T)            \
  case dtype:                            \
    if constexpr (set.contains(dtype)) { \
      return f.template operator()<T>(); \
    } else {                             \
      break;                             \
    }
  switch (d) {
    AMBIT_VISIT(kBool, bool)
    AMBIT_VISIT(kUInt8, uint8_t)
    AMBIT_VISIT(kInt8, int8_t)
    AMBIT_VISIT(kInt16, int16_t)
    AMBIT_VISIT(kInt32, int32_t)
    AMBIT_VISIT(kInt64, int64_t)
    AMBIT_VISIT(kFloat16, Half)
    AMBIT_VISIT(kBFloat16, BFloat16)
    AMBIT_VISIT(kFloat32, float)
    AMBIT_VISIT(kFloat64, double)
    AMBIT_VISIT(kUInt16, uint16_t)
    AMBIT_VISIT(kUInt32, uint32_t)
    AMBIT_VISIT(kUInt64, uint64_t)
    AMBIT_VISIT(kComplexFloat, std::complex<float>)
    AMBIT_VISIT(kComplexDouble, std::complex<double>)
  }
#undef AMBIT_VISIT
  /// @endcond
  if constexpr (set == dtypes::kStored) __builtin_unreachable();
  throw_dtype_outside(set, d);
}

}  // namespace ambit
