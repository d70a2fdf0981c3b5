// Argument checks of composite functions, so that errors name the function and not an inner op. The
// ops' own checks, core/ops/operands/expect.h, are not accessible to nn.
#pragma once

#include <ambit/backend/op.h>
#include <ambit/error.h>
#include <fmt/format.h>

namespace ambit::nn::functional {

/// Errors: Error for an undefined tensor, DTypeError for integers and bool.
inline void check_floating(const char* function, const Tensor& input) {
  if (!input.defined())
    throw Error(fmt::format("{}: expected a tensor, got an undefined one", function));
  if (!input.is_floating_point()) {
    throw DTypeError(
        fmt::format("{}: expected floating point, got {}", function, ambit::name(input.dtype())));
  }
}

/// The same for functions that are also defined for complex numbers.
inline void check_floating_or_complex(const char* function, const Tensor& input) {
  if (!input.defined() || !input.is_complex()) check_floating(function, input);
}

/// Errors: Error for an undefined tensor, DTypeError for bool.
inline void check_number(const char* function, const Tensor& input) {
  if (!input.defined() || input.dtype() == kBool) check_floating(function, input);
}

/// Errors: DeviceMismatchError that names `function` and its arguments.
inline void check_same_device(const char* function, std::initializer_list<DeviceArg> args) {
  check_devices(function, args);
}

}  // namespace ambit::nn::functional
