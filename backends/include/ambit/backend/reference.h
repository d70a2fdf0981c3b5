// The kernels of the reference backend, for use by other backends: scalar loops over
// host-accessible memory, one function for each op of <ambit/backend/kernels.h>, with its name and
// signature: reference::convolution(y, x, w, b, params). A backend whose memory the host can access
// may register them directly; others call them on tensors in host memory that hold copies of the
// data.
#pragma once

#include <ambit/backend/kernels.h>

namespace ambit::reference {

/// Return the number of calls of the functions below in this process, for any device. A backend's
/// kernel that increases it uses a reference kernel instead of its own.
AMBIT_API uint64_t runs();

#define AMBIT_LOOP(name)                                                    \
  /** The reference kernel of kernels::name, for host-accessible memory. */ \
  AMBIT_API Signature<kernels::name> name;
AMBIT_KERNELS(AMBIT_LOOP)
#undef AMBIT_LOOP

}  // namespace ambit::reference
