// What device code did wrong, printed with the kernel, block and thread; then the process ends by
// SIGABRT.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "shadow.h"

namespace ambit::cuda::host {

/// Print "ambit: CUDA on the host: <what>" and where it happened, and end the process.
[[noreturn]] void report(const std::string& what);

/// Two accesses without an order: now, and the one with `stamp`.
[[noreturn]] void report_race(Access kind, uint64_t stamp, bool was_write, uintptr_t p,
                              size_t bytes);
/// Byte p of the access [begin, begin + bytes) was never written.
[[noreturn]] void report_unwritten(uintptr_t p, uintptr_t begin, size_t bytes);

// What returns where all is well.

/// All of it lies in one allocation of a GPU that is alive.
void expect_allocated(Access kind, uintptr_t p, size_t bytes);
/// The memory of another GPU, which the one at work may access.
void expect_reachable(Access kind, uintptr_t p, size_t bytes);
/// Not of any GPU, nor shared: pinned memory, the kernel's arguments or a constant.
void expect_of_the_host(Access kind, uintptr_t p, size_t bytes);

}  // namespace ambit::cuda::host
