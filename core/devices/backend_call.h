// Calls of a backend, which may be others' code. Private to core.
#pragma once

#include <ambit/device.h>

#include <string>
#include <utility>

namespace ambit {

/// Throw the exception that is being handled, which is no ambit::Error, as BackendError
/// "<expected>, got an error: <its text>". The cancellation of a thread stays what it is.
[[noreturn]] void rethrow_as_backend_error(const std::string& expected);

/// Rethrow the exception that is being handled and came from the function of the device's backend:
/// an ambit::Error as it is, std::bad_alloc as OutOfMemoryError, any other type as BackendError.
[[noreturn]] void rethrow_from_backend(Device device, const char* function);

/// Return what `call` does, which calls the function of the device's backend. Errors: ambit::Error,
/// whatever type the backend throws.
template <class Call>
decltype(auto) call_backend(Device device, const char* function, Call&& call) {
  try {
    return std::forward<Call>(call)();
  } catch (...) {
    rethrow_from_backend(device, function);
  }
}

}  // namespace ambit
