// The elements of tensors whose values decide whether a call is right.
#pragma once

#include <ambit/tensor.h>

namespace ambit {

/// Return whether the host reads a device's memory without waiting for it: whether it is the cpu or
/// computes on the host, as an oracle or a simulator.
bool is_host_readable(Device device);

/// Return t's elements on the cpu where the device is such a one, else an undefined tensor.
Tensor host_values(const Tensor& t);

}  // namespace ambit
