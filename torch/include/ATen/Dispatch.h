// AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "name", [&] { ... scalar_t ... }): call a lambda in
// which scalar_t is the C++ type of a dtype. Errors: DTypeError for a dtype outside the set.
#pragma once

#include <ATen/ATen.h>

#define AMBIT_TORCH_DISPATCH(set, type, ...) \
  ::ambit::visit<set>(type, [&]<class scalar_t>() -> decltype(auto) { return __VA_ARGS__(); })
#define AT_DISPATCH_FLOATING_TYPES(type, name, ...) \
  AMBIT_TORCH_DISPATCH(::ambit::dtypes::kFloating, type, __VA_ARGS__)
#define AT_DISPATCH_INTEGRAL_TYPES(type, name, ...) \
  AMBIT_TORCH_DISPATCH(::ambit::dtypes::kIntegral, type, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES(type, name, ...) \
  AMBIT_TORCH_DISPATCH(::ambit::dtypes::kNumbers, type, __VA_ARGS__)
/// With additional dtypes, such as at::kHalf and at::kBool.
#define AT_DISPATCH_FLOATING_TYPES_AND(also, type, name, ...) \
  AMBIT_TORCH_DISPATCH((::ambit::dtypes::kFloating | ::ambit::DTypeSet{also}), type, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND2(also, also2, type, name, ...)                       \
  AMBIT_TORCH_DISPATCH((::ambit::dtypes::kFloating | ::ambit::DTypeSet{also, also2}), type, \
                       __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(type, name, ...) \
  AT_DISPATCH_FLOATING_TYPES_AND(::ambit::kHalf, type, name, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND(also, type, name, ...) \
  AMBIT_TORCH_DISPATCH((::ambit::dtypes::kNumbers | ::ambit::DTypeSet{also}), type, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND2(also, also2, type, name, ...)                           \
  AMBIT_TORCH_DISPATCH((::ambit::dtypes::kNumbers | ::ambit::DTypeSet{also, also2}), type, \
                       __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND3(also, also2, also3, type, name, ...)                           \
  AMBIT_TORCH_DISPATCH((::ambit::dtypes::kNumbers | ::ambit::DTypeSet{also, also2, also3}), type, \
                       __VA_ARGS__)
#define AT_DISPATCH_INDEX_TYPES(type, name, ...)                       \
  ::ambit::visit<::ambit::DTypeSet{::ambit::kInt32, ::ambit::kInt64}>( \
      type, [&]<class index_t>() -> decltype(auto) { return __VA_ARGS__(); })

// With complex dtypes, which ambit does not have: the same sets.
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES AT_DISPATCH_FLOATING_TYPES
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND1 AT_DISPATCH_FLOATING_TYPES_AND
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND2 AT_DISPATCH_FLOATING_TYPES_AND2
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX AT_DISPATCH_ALL_TYPES
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND AT_DISPATCH_ALL_TYPES_AND
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND2 AT_DISPATCH_ALL_TYPES_AND2
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND3 AT_DISPATCH_ALL_TYPES_AND3
