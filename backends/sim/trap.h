// Reports host accesses to an address of a simulated device: prints one line before the SIGSEGV
// that ends the process.
#pragma once

#include <cstddef>

namespace ambit::sim {

/// Watch [begin, begin + bytes), which belongs to the device `name` ("sim:0"), permanently; at most
/// kMaxDevices ranges. `name` must have static lifetime.
void trap_host_access(const char* name, const void* begin, size_t bytes);

}  // namespace ambit::sim
