// What the CPU is, and which of its instructions the libraries use.
#pragma once

#include <ambit/backend/backend.h>

namespace ambit::cpu {

DeviceProperties device_properties();

}  // namespace ambit::cpu
