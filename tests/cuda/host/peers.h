// Peer access between GPUs.
#pragma once

namespace ambit::cuda::host {

/// Return true if kernels of `device` may access memory of `owner`. Requires the runtime's lock.
bool may_access(int device, int owner);
/// Enable access. Return false if it was enabled already.
bool give_access(int device, int owner);

}  // namespace ambit::cuda::host
