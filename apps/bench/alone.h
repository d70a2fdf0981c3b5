// Runs one side of a row in a separate process, `ambit bench --alone <side> --filter <row>`, to
// measure its peak memory or the start of a process without the other sides.
#pragma once

#include <string>

#include "row.h"

namespace bench {

/// In the child: run the work of "ambit" or a peer on the cpu, and return the peak memory in bytes,
/// minus the memory with only the inputs.
double run_alone(const std::string& side, const Row& row);

/// In the parent: start such a child with `threads` threads (0: as in this process), and return the
/// bytes.
double peak_bytes(const std::string& side, const std::string& row, int threads = 0);

}  // namespace bench
