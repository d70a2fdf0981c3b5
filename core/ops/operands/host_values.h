// Access to tensors whose values determine whether a call is valid.
#pragma once

#include <ambit/tensor.h>

namespace ambit {

/// Return true if the host can read the device's memory without waiting: the cpu, and backends that
/// compute on the host, such as a reference or a simulator.
bool is_host_readable(Device device);

/// Return t's elements on the cpu if the host can read them without waiting, else undefined.
Tensor host_values(const Tensor& t);

}  // namespace ambit
