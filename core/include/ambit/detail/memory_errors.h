// How a lack of host memory leaves a public function: as an OutOfMemoryError, whatever in it asked.
#pragma once

#include <ambit/api.h>

#include <new>
#include <utility>

namespace ambit {

/// What a std::bad_alloc becomes before it leaves a public function. Errors: OutOfMemoryError,
/// always.
[[noreturn]] AMBIT_API void throw_out_of_host_memory(const char* op);

/// Call `work` and return what it does. Errors: those of work, but OutOfMemoryError, which names
/// `op`, in place of a std::bad_alloc.
template <class Work>
decltype(auto) typed_memory_errors(const char* op, Work&& work) {
  try {
    return std::forward<Work>(work)();
  } catch (const std::bad_alloc&) {
    throw_out_of_host_memory(op);
  }
}

}  // namespace ambit
