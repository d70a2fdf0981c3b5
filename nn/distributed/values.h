// What ranks tell each other beside tensors. Private to nn.
#pragma once

#include <ambit/distributed/process_group.h>
#include <ambit/value.h>

#include <vector>

namespace ambit::distributed {

/// Return the value of each rank on all ranks, which exchange them on `device`: one of their
/// tensors. Tensors of the others are on the cpu.
std::vector<Value> allgather_values(ProcessGroup& group, const Value& value, Device device);

}  // namespace ambit::distributed
