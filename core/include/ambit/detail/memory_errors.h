// Conversion of std::bad_alloc to OutOfMemoryError at the boundary of public functions.
#pragma once

#include <ambit/api.h>

#include <new>
#include <utility>

namespace ambit {

/// Always throw OutOfMemoryError, for a std::bad_alloc in the public function `op`.
[[noreturn]] AMBIT_API void throw_out_of_host_memory(const char* op);

/// Return work(). Errors: those of work, with std::bad_alloc replaced by an OutOfMemoryError that
/// names `op`.
template <class Work>
decltype(auto) typed_memory_errors(const char* op, Work&& work) {
  try {
    return std::forward<Work>(work)();
  } catch (const std::bad_alloc&) {
    throw_out_of_host_memory(op);
  }
}

}  // namespace ambit
