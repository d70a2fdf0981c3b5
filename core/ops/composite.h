// Composites: kernel ops written in other ops, for devices whose backend has no kernel. Semantics
// and signatures are those of kernels.h; kernels.cpp names those that exist. They run without
// recording, on the device of their tensors, and fill the given outputs. Each is defined next to
// the op that it serves.
#pragma once

#include <ambit/backend/kernels.h>

namespace ambit::composite {

#define AMBIT_DECLARE(name) Signature<kernels::name> name;
AMBIT_KERNELS(AMBIT_DECLARE)
#undef AMBIT_DECLARE

}  // namespace ambit::composite
