// The kernels of the reference backend, for other backends to lean on: plain loops over memory that
// the host can follow, one function for each op of <ambit/backend/kernels.h>, with its name and
// signature: reference::convolution(y, x, w, b, params). A backend whose memory the host reaches
// may register them as they are; another calls them on aliases of its tensors.
#pragma once

#include <ambit/backend/kernels.h>

namespace ambit::reference {

/// Return how many of the loops below have run in this process, for whatever device: a kernel that
/// moves it is no kernel of its backend's own.
AMBIT_API uint64_t runs();

#define AMBIT_LOOP(name) AMBIT_API Signature<kernels::name> name;
AMBIT_KERNELS(AMBIT_LOOP)
#undef AMBIT_LOOP

}  // namespace ambit::reference
