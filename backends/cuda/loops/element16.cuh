// float16 and bfloat16 elements in memory, and their conversion to float32 for computing. The dtype
// is a run-time value, so that one kernel serves both: such kernels are memory-bound. Kernels of
// small families use the types Half and BFloat16.
#pragma once

#include <ambit/dtype.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace ambit::cuda {

/// The type in which an element is computed.
template <class T>
using Computed = std::conditional_t<ReducedFloat<T>, float, T>;

// Same bits as the conversions of Half and BFloat16, except for NaN; uses device instructions.
template <class T>
AMBIT_HOST_DEVICE Computed<T> upcast(T x) {
#ifdef __CUDA_ARCH__
  if constexpr (std::same_as<T, Half>) return __half2float(__ushort_as_half(x.x));
  if constexpr (std::same_as<T, BFloat16>) return __uint_as_float(uint32_t{x.x} << 16);
#endif
  return x;
}
/// Return the nearest element; V is float or double.
template <class T, class V>
AMBIT_HOST_DEVICE T downcast(V x) {
#ifdef __CUDA_ARCH__
  if constexpr (std::same_as<T, Half>) {
    return {__half_as_ushort(__float2half_rn(static_cast<float>(x))), Half::from_bits()};
  }
  if constexpr (std::same_as<T, BFloat16>) {
    return {__bfloat16_as_ushort(__float2bfloat16_rn(static_cast<float>(x))),
            BFloat16::from_bits()};
  }
#endif
  return static_cast<T>(static_cast<Computed<T>>(x));
}

/// A float16 or bfloat16 element in memory, as its bits.
struct Element16 {
  uint16_t bits;
};

/// The dtype of a call's elements.
class Dtype16 {
 public:
  /// float16 or bfloat16.
  explicit Dtype16(DType dtype) : is_half_(dtype == kFloat16) {}

  AMBIT_HOST_DEVICE float wide(Element16 e) const {
    return is_half_ ? upcast(Half(e.bits, Half::from_bits()))
                    : upcast(BFloat16(e.bits, BFloat16::from_bits()));
  }
  AMBIT_HOST_DEVICE Element16 narrow(float x) const {
    return {is_half_ ? downcast<Half>(x).x : downcast<BFloat16>(x).x};
  }

 private:
  bool is_half_;
};

/// A float32 functor on reduced floating-point elements: operands are upcast, float results are
/// rounded. Other operands and results are unchanged.
template <class F>
struct On16 {
  template <class... X>
  AMBIT_HOST_DEVICE auto operator()(X... x) const {
    const auto y = f(wide(x)...);
    if constexpr (std::same_as<decltype(y), const float>) {
      return dtype.narrow(y);
    } else {
      return y;
    }
  }
  template <class X>
  AMBIT_HOST_DEVICE auto wide(X x) const {
    if constexpr (std::same_as<X, Element16>) {
      return dtype.wide(x);
    } else {
      return x;
    }
  }

  F f;
  Dtype16 dtype;
};

}  // namespace ambit::cuda
