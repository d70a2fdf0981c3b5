// The shared object of a kernel, and its static memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "shadow.h"

namespace ambit::cuda::host {

struct Module {
  uintptr_t begin;  // start of the whole object
  size_t bytes;
  Region shared;  // zero-initialised data, which contains the kernels' shared memory
};

/// Return the module of a kernel; cached. Requires the runtime's lock.
Module& module_of(const void* kernel);

}  // namespace ambit::cuda::host
