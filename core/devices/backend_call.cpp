#include "backend_call.h"

#include <ambit/backend/registry.h>
#include <ambit/detail/memory_errors.h>
#include <ambit/detail/printable.h>
#include <ambit/error.h>
#include <cxxabi.h>
#include <fmt/format.h>

#include <exception>
#include <new>
#include <string_view>

namespace ambit {

void rethrow_as_backend_error(const std::string& expected) {
  try {
    throw;
  } catch (const abi::__forced_unwind&) {  // the thread is cancelled
    throw;
  } catch (const std::exception& e) {
    throw BackendError(
        fmt::format("{}, got an error: {}", expected, one_line(e.what() ? e.what() : "none")));
  } catch (...) {
    throw BackendError(expected + ", got an exception of an unknown type");
  }
}

void rethrow_from_backend(Device device, const char* function) {
  try {
    throw;
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    // The three copy functions are reported as one op.
    throw_out_of_host_memory(std::string_view(function).starts_with("copy") ? "copy" : function);
  } catch (...) {
    rethrow_as_backend_error(fmt::format("{}: expected {} of {} to succeed", device.str(), function,
                                         printable(backend_library(device.kind()))));
  }
}

}  // namespace ambit
