// AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "name", [&] { ... scalar_t ... }): call a lambda in
// which scalar_t is the C++ type of a dtype, and return its result. Errors: NotImplementedError for
// a dtype outside the set.
#pragma once

#include <ATen/core/DeprecatedTypeProperties.h>
#include <c10/core/ScalarType.h>
#include <c10/util/Exception.h>

namespace at::detail {
inline ScalarType scalar_type(ScalarType type) { return type; }
inline ScalarType scalar_type(const DeprecatedTypeProperties& type) { return type.scalarType(); }
}  // namespace at::detail

#define AT_PRIVATE_CASE_TYPE_USING_HINT(enum_type, hint, ...)                   \
  case enum_type: {                                                             \
    using hint [[maybe_unused]] = ::c10::impl::ScalarTypeToCPPTypeT<enum_type>; \
    return __VA_ARGS__();                                                       \
  }
/// One dtype and the lambda for it, in AT_DISPATCH_SWITCH.
#define AT_DISPATCH_CASE(enum_type, ...) \
  AT_PRIVATE_CASE_TYPE_USING_HINT(enum_type, scalar_t, __VA_ARGS__)
#define AT_DISPATCH_SWITCH(type, name, ...)                                                      \
  [&] {                                                                                          \
    const auto& the_type = type;                                                                 \
    const ::at::ScalarType the_scalar_type = ::at::detail::scalar_type(the_type);                \
    switch (the_scalar_type) {                                                                   \
      __VA_ARGS__                                                                                \
      default:                                                                                   \
        C10_THROW_ERROR(NotImplementedError, ::c10::str('"', name, "\" not implemented for '",   \
                                                        ::c10::toString(the_scalar_type), "'")); \
    }                                                                                            \
  }()

#define AMBIT_TORCH_CASES1(a, ...) AT_DISPATCH_CASE(a, __VA_ARGS__)
#define AMBIT_TORCH_CASES2(a, b, ...) \
  AT_DISPATCH_CASE(a, __VA_ARGS__) AMBIT_TORCH_CASES1(b, __VA_ARGS__)
#define AMBIT_TORCH_CASES3(a, b, c, ...) \
  AT_DISPATCH_CASE(a, __VA_ARGS__) AMBIT_TORCH_CASES2(b, c, __VA_ARGS__)
#define AMBIT_TORCH_CASES4(a, b, c, d, ...) \
  AT_DISPATCH_CASE(a, __VA_ARGS__) AMBIT_TORCH_CASES3(b, c, d, __VA_ARGS__)
#define AMBIT_TORCH_CASES5(a, b, c, d, e, ...) \
  AT_DISPATCH_CASE(a, __VA_ARGS__) AMBIT_TORCH_CASES4(b, c, d, e, __VA_ARGS__)
#define AMBIT_TORCH_CASES6(a, b, c, d, e, f, ...) \
  AT_DISPATCH_CASE(a, __VA_ARGS__) AMBIT_TORCH_CASES5(b, c, d, e, f, __VA_ARGS__)
#define AMBIT_TORCH_CASES7(a, b, c, d, e, f, g, ...) \
  AT_DISPATCH_CASE(a, __VA_ARGS__) AMBIT_TORCH_CASES6(b, c, d, e, f, g, __VA_ARGS__)
#define AMBIT_TORCH_CASES8(a, b, c, d, e, f, g, h, ...) \
  AT_DISPATCH_CASE(a, __VA_ARGS__) AMBIT_TORCH_CASES7(b, c, d, e, f, g, h, __VA_ARGS__)

#define AT_DISPATCH_CASE_FLOATING_TYPES(...) \
  AMBIT_TORCH_CASES2(::at::kDouble, ::at::kFloat, __VA_ARGS__)
#define AT_DISPATCH_CASE_FLOATING_TYPES_AND_HALF(...) \
  AMBIT_TORCH_CASES3(::at::kDouble, ::at::kFloat, ::at::kHalf, __VA_ARGS__)
#define AT_DISPATCH_CASE_REDUCED_FLOATING_TYPES(...) \
  AMBIT_TORCH_CASES2(::at::kHalf, ::at::kBFloat16, __VA_ARGS__)
#define AT_DISPATCH_CASE_INTEGRAL_TYPES(...) \
  AMBIT_TORCH_CASES5(::at::kByte, ::at::kChar, ::at::kInt, ::at::kLong, ::at::kShort, __VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES(...) \
  AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__)

#define AT_DISPATCH_FLOATING_TYPES(type, name, ...) \
  AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(type, name, ...) \
  AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_FLOATING_TYPES_AND_HALF(__VA_ARGS__))
#define AT_DISPATCH_REDUCED_FLOATING_TYPES(type, name, ...) \
  AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_REDUCED_FLOATING_TYPES(__VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES(type, name, ...) \
  AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES(type, name, ...) \
  AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__))
#define AT_DISPATCH_INDEX_TYPES(type, name, ...)                                       \
  AT_DISPATCH_SWITCH(type, name,                                                       \
                     AT_PRIVATE_CASE_TYPE_USING_HINT(::at::kInt, index_t, __VA_ARGS__) \
                         AT_PRIVATE_CASE_TYPE_USING_HINT(::at::kLong, index_t, __VA_ARGS__))

// The macros above with additional dtypes, such as at::kHalf and at::kBool.
#define AT_DISPATCH_CASE_FLOATING_TYPES_AND(a, ...) \
  AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AMBIT_TORCH_CASES1(a, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND(a, type, name, ...) \
  AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_FLOATING_TYPES_AND(a, __VA_ARGS__))
#define AT_DISPATCH_CASE_FLOATING_TYPES_AND2(a, b, ...) \
  AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AMBIT_TORCH_CASES2(a, b, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND2(a, b, type, name, ...) \
  AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_FLOATING_TYPES_AND2(a, b, __VA_ARGS__))
#define AT_DISPATCH_CASE_FLOATING_TYPES_AND3(a, b, c, ...) \
  AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AMBIT_TORCH_CASES3(a, b, c, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND3(a, b, c, type, name, ...) \
  AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_FLOATING_TYPES_AND3(a, b, c, __VA_ARGS__))
#define AT_DISPATCH_CASE_FLOATING_TYPES_AND4(a, b, c, d, ...) \
  AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AMBIT_TORCH_CASES4(a, b, c, d, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND4(a, b, c, d, type, name, ...) \
  AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_FLOATING_TYPES_AND4(a, b, c, d, __VA_ARGS__))
#define AT_DISPATCH_CASE_FLOATING_TYPES_AND5(a, b, c, d, e, ...) \
  AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AMBIT_TORCH_CASES5(a, b, c, d, e, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND5(a, b, c, d, e, type, name, ...) \
  AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_FLOATING_TYPES_AND5(a, b, c, d, e, __VA_ARGS__))
#define AT_DISPATCH_CASE_INTEGRAL_TYPES_AND(a, ...) \
  AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__) AMBIT_TORCH_CASES1(a, __VA_ARGS__)
#define AT_DISPATCH_INTEGRAL_TYPES_AND(a, type, name, ...) \
  AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_INTEGRAL_TYPES_AND(a, __VA_ARGS__))
#define AT_DISPATCH_CASE_ALL_TYPES_AND(a, ...) \
  AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AMBIT_TORCH_CASES1(a, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND(a, type, name, ...) \
  AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_ALL_TYPES_AND(a, __VA_ARGS__))
#define AT_DISPATCH_CASE_ALL_TYPES_AND2(a, b, ...) \
  AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AMBIT_TORCH_CASES2(a, b, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND2(a, b, type, name, ...) \
  AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_ALL_TYPES_AND2(a, b, __VA_ARGS__))
#define AT_DISPATCH_CASE_ALL_TYPES_AND3(a, b, c, ...) \
  AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AMBIT_TORCH_CASES3(a, b, c, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND3(a, b, c, type, name, ...) \
  AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_ALL_TYPES_AND3(a, b, c, __VA_ARGS__))
#define AT_DISPATCH_CASE_ALL_TYPES_AND4(a, b, c, d, ...) \
  AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AMBIT_TORCH_CASES4(a, b, c, d, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND4(a, b, c, d, type, name, ...) \
  AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_ALL_TYPES_AND4(a, b, c, d, __VA_ARGS__))
#define AT_DISPATCH_CASE_ALL_TYPES_AND5(a, b, c, d, e, ...) \
  AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AMBIT_TORCH_CASES5(a, b, c, d, e, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND5(a, b, c, d, e, type, name, ...) \
  AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_ALL_TYPES_AND5(a, b, c, d, e, __VA_ARGS__))
#define AT_DISPATCH_CASE_ALL_TYPES_AND6(a, b, c, d, e, f, ...) \
  AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AMBIT_TORCH_CASES6(a, b, c, d, e, f, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND6(a, b, c, d, e, f, type, name, ...) \
  AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_ALL_TYPES_AND6(a, b, c, d, e, f, __VA_ARGS__))
#define AT_DISPATCH_CASE_ALL_TYPES_AND7(a, b, c, d, e, f, g, ...) \
  AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AMBIT_TORCH_CASES7(a, b, c, d, e, f, g, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND7(a, b, c, d, e, f, g, type, name, ...) \
  AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_ALL_TYPES_AND7(a, b, c, d, e, f, g, __VA_ARGS__))
#define AT_DISPATCH_CASE_ALL_TYPES_AND8(a, b, c, d, e, f, g, h, ...) \
  AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AMBIT_TORCH_CASES8(a, b, c, d, e, f, g, h, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND8(a, b, c, d, e, f, g, h, type, name, ...) \
  AT_DISPATCH_SWITCH(type, name,                                            \
                     AT_DISPATCH_CASE_ALL_TYPES_AND8(a, b, c, d, e, f, g, h, __VA_ARGS__))

// With complex dtypes: the same sets, since lambdas for libtorch's class of complex numbers may not
// compile with std::complex.
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES AT_DISPATCH_FLOATING_TYPES
#define AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES AT_DISPATCH_CASE_FLOATING_TYPES
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND1 AT_DISPATCH_FLOATING_TYPES_AND
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND2 AT_DISPATCH_FLOATING_TYPES_AND2
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND3 AT_DISPATCH_FLOATING_TYPES_AND3
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND4 AT_DISPATCH_FLOATING_TYPES_AND4
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND5 AT_DISPATCH_FLOATING_TYPES_AND5
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX AT_DISPATCH_ALL_TYPES
#define AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX AT_DISPATCH_CASE_ALL_TYPES
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND AT_DISPATCH_ALL_TYPES_AND
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND2 AT_DISPATCH_ALL_TYPES_AND2
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND3 AT_DISPATCH_ALL_TYPES_AND3
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND4 AT_DISPATCH_ALL_TYPES_AND4
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND5 AT_DISPATCH_ALL_TYPES_AND5
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND6 AT_DISPATCH_ALL_TYPES_AND6
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND7 AT_DISPATCH_ALL_TYPES_AND7
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND8 AT_DISPATCH_ALL_TYPES_AND8
