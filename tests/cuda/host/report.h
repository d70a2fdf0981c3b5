// Reports errors of device code with the kernel, block and thread, and ends the process by SIGABRT.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "shadow.h"

namespace ambit::cuda::host {

/// Print "ambit: CUDA on the host: <what>" and the location, and end the process.
[[noreturn]] void report(const std::string& what);

/// Report two unordered accesses: the current one, and the one with `stamp`.
[[noreturn]] void report_race(Access kind, uint64_t stamp, bool was_write, uintptr_t p,
                              size_t bytes);
/// Report that byte p of the access [begin, begin + bytes) is uninitialised.
[[noreturn]] void report_unwritten(uintptr_t p, uintptr_t begin, size_t bytes);

// Checks; they return if the access is valid.

/// The whole access is in one live allocation of a GPU.
void expect_allocated(Access kind, uintptr_t p, size_t bytes);
/// The memory is of another GPU, to which the current one has access.
void expect_reachable(Access kind, uintptr_t p, size_t bytes);
/// The address is neither of a GPU nor shared memory: pinned memory, kernel arguments or a
/// constant.
void expect_of_the_host(Access kind, uintptr_t p, size_t bytes);

}  // namespace ambit::cuda::host
