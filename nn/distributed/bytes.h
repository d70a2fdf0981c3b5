// What ranks tell each other beside tensors. Private to nn.
#pragma once

#include <ambit/distributed/process_group.h>

#include <string>

namespace ambit::distributed {

/// Return root's bytes on all ranks, which exchange them on `device`: one of their tensors.
std::string broadcast_bytes(ProcessGroup& group, const std::string& bytes, Device device, int root);

}  // namespace ambit::distributed
