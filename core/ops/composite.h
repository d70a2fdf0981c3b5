// Composite defaults: kernel ops written in other ops, for devices whose backend has no kernel of
// its own. Meaning and signatures are those of kernels.h; those that exist are named in
// kernels.cpp. They run without recording, on the device of their tensors, and fill the given
// outputs. Each is defined beside the op it serves.
#pragma once

#include <ambit/backend/kernels.h>

namespace ambit::composite {

#define AMBIT_DECLARE(name) Signature<kernels::name> name;
AMBIT_KERNELS(AMBIT_DECLARE)
#undef AMBIT_DECLARE

}  // namespace ambit::composite
