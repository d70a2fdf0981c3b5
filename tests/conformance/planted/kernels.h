// Kernels of the planted backend: the minimal set and an op on lists. They are the reference's,
// except for planted bugs, and run on the device's thread, where its memory is accessible.
#pragma once

#include <ambit/backend/registry.h>
#include <ambit/params.h>

namespace planted {

void add_kernels(ambit::Registry& registry);

}  // namespace planted
