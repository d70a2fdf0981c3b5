// The communicator that is built in: ranks are threads of one process. Private to nn.
#pragma once

#include <ambit/backend/communicator.h>

#include <memory>
#include <vector>

namespace ambit::distributed {

/// Make the communicators of `size` ranks. Errors: Error for a size below 1.
std::vector<std::unique_ptr<Communicator>> local_communicators(int size);

}  // namespace ambit::distributed
