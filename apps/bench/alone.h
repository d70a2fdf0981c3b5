// One side of a row in a process of its own: `ambit bench --alone <side> --filter <row>`, for what
// cannot be seen where other sides run too, its peak memory and how long a process takes to start.
#pragma once

#include <string>

#include "row.h"

namespace bench {

/// In the child: make the work of "ambit" or a peer on the cpu, run it, and return the bytes that
/// the process held at the peak, above what it held with nothing but the inputs.
double run_alone(const std::string& side, const Row& row);

/// In the parent: start such a child, with so many threads (0: as many as this process), and return
/// the bytes.
double peak_bytes(const std::string& side, const std::string& row, int threads = 0);

}  // namespace bench
