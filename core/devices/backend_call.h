// Calls of a backend, which may be third-party code. Private to core.
#pragma once

#include <ambit/device.h>

#include <string>
#include <utility>

namespace ambit {

/// Rethrow the current exception, which is not an ambit::Error, as BackendError "<expected>, got an
/// error: <its text>". A thread's cancellation is rethrown unchanged.
[[noreturn]] void rethrow_as_backend_error(const std::string& expected);

/// Rethrow the current exception from a function of the device's backend: an ambit::Error
/// unchanged, std::bad_alloc as OutOfMemoryError, any other type as BackendError.
[[noreturn]] void rethrow_from_backend(Device device, const char* function);

/// Return call(), which calls `function` of the device's backend. Errors: ambit::Error for any type
/// that the backend throws.
template <class Call>
[[gnu::always_inline]] inline decltype(auto) call_backend(Device device, const char* function,
                                                          Call&& call) {
  try {
    return std::forward<Call>(call)();
  } catch (...) {
    rethrow_from_backend(device, function);
  }
}

}  // namespace ambit
