// What ranks tell each other beside tensors. Private to nn.
#pragma once

#include <ambit/distributed/process_group.h>

#include <string>
#include <vector>

namespace ambit::distributed {

/// Return the bytes of each rank on all ranks, which exchange them on `device`: one of their
/// tensors.
std::vector<std::string> allgather_bytes(ProcessGroup& group, const std::string& bytes,
                                         Device device);

}  // namespace ambit::distributed
