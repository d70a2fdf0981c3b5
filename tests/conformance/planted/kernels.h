// The kernels of the planted backend: the least that a backend brings and an op of lists, each the
// reference's but for its planted bugs. They run on the device's thread, where its memory can be
// followed.
#pragma once

#include <ambit/params.h>
#include <ambit/registry.h>

namespace planted {

void add_kernels(ambit::Registry& registry);

}  // namespace planted
