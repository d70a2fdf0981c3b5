// The kernels of the reference backend, for use by other backends: plain loops over host-accessible
// memory, one function for each op of <ambit/backend/kernels.h>, with its name and signature:
// reference::convolution(y, x, w, b, params). A backend with host-accessible memory may register
// them directly; another calls them on host aliases of its tensors.
#pragma once

#include <ambit/backend/kernels.h>

namespace ambit::reference {

/// Return how many of the loops below have run in this process, for any device. A kernel that
/// increases this count is borrowed.
AMBIT_API uint64_t runs();

#define AMBIT_LOOP(name)                                                   \
  /** The loop of kernels::name, for tensors in host-accessible memory. */ \
  AMBIT_API Signature<kernels::name> name;
AMBIT_KERNELS(AMBIT_LOOP)
#undef AMBIT_LOOP

}  // namespace ambit::reference
