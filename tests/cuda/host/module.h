// The shared object that a kernel is part of: where its static memory lies.
#pragma once

#include <cstddef>
#include <cstdint>

#include "shadow.h"

namespace ambit::cuda::host {

struct Module {
  uintptr_t begin;  // of all of it
  size_t bytes;
  Region shared;  // what begins as zeros: the kernels' shared memory is there
};

/// Return the module of a kernel, kept. Requires: the runtime's lock.
Module& module_of(const void* kernel);

}  // namespace ambit::cuda::host
