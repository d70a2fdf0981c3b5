// The kernels of the planted backend: the least that a backend brings and an op of lists, each the
// reference's but for its planted bugs. They run on the device's thread, where its memory can be
// followed.
#pragma once

#include <ambit/backend/registry.h>
#include <ambit/params.h>

namespace planted {

void add_kernels(ambit::Registry& registry);

}  // namespace planted
