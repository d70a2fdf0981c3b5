// Which GPU may access the memory of which.
#pragma once

namespace ambit::cuda::host {

/// Whether kernels of `device` may access memory of `owner`. Requires: the runtime's lock.
bool may_access(int device, int owner);
/// Let them. Return whether they could not before.
bool give_access(int device, int owner);

}  // namespace ambit::cuda::host
