// Exchange of non-tensor values between ranks. Private to nn.
#pragma once

#include <ambit/distributed/process_group.h>
#include <ambit/value.h>

#include <vector>

namespace ambit::distributed {

/// Return the values of all ranks, on all ranks; they are transferred via `device`. Tensors of
/// other ranks are on cpu.
std::vector<Value> allgather_values(ProcessGroup& group, const Value& value, Device device);

}  // namespace ambit::distributed
