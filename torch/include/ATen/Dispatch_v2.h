// AT_DISPATCH_V2(x.scalar_type(), "name", AT_WRAP([&] { ... scalar_t ... }),
// AT_EXPAND(AT_ALL_TYPES), kHalf): AT_DISPATCH_SWITCH of the dtypes of a list, of any length.
// AT_WRAP keeps the commas of the lambda together. Errors: NotImplementedError for a dtype outside
// the list.
#pragma once

#include <ATen/Dispatch.h>

#define AT_WRAP(...) __VA_ARGS__
#define AT_EXPAND(X) X

#define AT_INTEGRAL_TYPES ::at::kByte, ::at::kChar, ::at::kInt, ::at::kLong, ::at::kShort
#define AT_FLOATING_TYPES ::at::kDouble, ::at::kFloat
#define AT_BAREBONES_UNSIGNED_TYPES ::at::kUInt16, ::at::kUInt32, ::at::kUInt64
#define AT_INTEGRAL_TYPES_V2 AT_EXPAND(AT_INTEGRAL_TYPES), AT_EXPAND(AT_BAREBONES_UNSIGNED_TYPES)
#define AT_ALL_TYPES AT_EXPAND(AT_INTEGRAL_TYPES), AT_EXPAND(AT_FLOATING_TYPES)

// The cases of a list: each expansion writes one case and the name of the macro for the rest, which
// the next scan expands. 64 scans are more than there are dtypes.
#define AMBIT_TORCH_SCAN(...) \
  AMBIT_TORCH_SCAN16(AMBIT_TORCH_SCAN16(AMBIT_TORCH_SCAN16(AMBIT_TORCH_SCAN16(__VA_ARGS__))))
#define AMBIT_TORCH_SCAN16(...) \
  AMBIT_TORCH_SCAN4(AMBIT_TORCH_SCAN4(AMBIT_TORCH_SCAN4(AMBIT_TORCH_SCAN4(__VA_ARGS__))))
#define AMBIT_TORCH_SCAN4(...) __VA_ARGS__
#define AMBIT_TORCH_NO_ARGUMENTS ()
#define AMBIT_TORCH_CASES_NAME() AMBIT_TORCH_CASES
#define AMBIT_TORCH_CASES(body, type, ...)      \
  AT_DISPATCH_CASE(type, AMBIT_TORCH_BARE body) \
  __VA_OPT__(AMBIT_TORCH_CASES_NAME AMBIT_TORCH_NO_ARGUMENTS(body, __VA_ARGS__))
#define AMBIT_TORCH_BARE(...) __VA_ARGS__

#define AT_DISPATCH_V2(TYPE, NAME, BODY, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AMBIT_TORCH_SCAN(AMBIT_TORCH_CASES((BODY), __VA_ARGS__)))
