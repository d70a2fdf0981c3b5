#pragma once

#include <ambit/detail/planned_memory.h>

#include <string>

#include "nn/graph/call.h"

namespace ambit::graph {

/// Return a table of the memory of a program by module. Step i + 1 of the memory is call i.
/// `packed_bytes`: the size of packed weights.
std::string memory_text(const Program& program, const PlannedMemory& memory, Device device,
                        size_t packed_bytes);

}  // namespace ambit::graph
