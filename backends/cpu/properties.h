// Describes the CPU, and the instruction sets that the libraries use.
#pragma once

#include <ambit/backend/backend.h>

namespace ambit::cpu {

DeviceProperties device_properties();

}  // namespace ambit::cpu
