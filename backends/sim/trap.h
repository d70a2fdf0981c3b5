// Names the mistake when the host follows an address of a simulated device: one line before the
// SIGSEGV that ends the process.
#pragma once

#include <cstddef>

namespace ambit::sim {

/// Watch [begin, begin + bytes), which belongs to the device `name` ("sim:0"). For ever; at most
/// kMaxDevices ranges. `name` must stay.
void trap_host_access(const char* name, const void* begin, size_t bytes);

}  // namespace ambit::sim
